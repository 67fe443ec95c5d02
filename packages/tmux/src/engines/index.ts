import type { ConnectionOptions, Engine } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { ControlEngine } from './control/engine.ts';
import { ImsgEngine } from './imsg/engine.ts';
import { MemoryEngine } from './memory/engine.ts';
import { SubprocessEngine } from './subprocess.ts';

/** Every way to reach a tmux server, by name. */
const engines = {
  control: (connection: ConnectionOptions): Engine => new ControlEngine(connection),
  subprocess: (connection: ConnectionOptions): Engine => new SubprocessEngine(connection),
  imsg: (connection: ConnectionOptions): Engine => new ImsgEngine(connection),
  memory: (): Engine => new MemoryEngine(),
};

export type EngineName = keyof typeof engines;
export const engineNames: readonly EngineName[] = Object.keys(engines) as EngineName[];

/**
 * An engine by name; `control` unless told.
 *
 * @example const engine = createEngine('control', { socketName: 'work' });
 */
export function createEngine(name: EngineName = 'control', connection: ConnectionOptions = {}): Engine {
  if (!Object.hasOwn(engines, name)) {
    throw new TmuxError(
      'unknown_engine',
      `There is no engine ${JSON.stringify(name)}; there are ${engineNames.join(', ')}.`,
      { name },
    );
  }
  return engines[name](connection);
}
