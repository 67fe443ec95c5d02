import * as z from 'zod';
import type { ConnectionOptions, Engine } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
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
  readGiven(connectionSchema, connection, 'These are no connection options');
  return engines[name](connection);
}

/** A misspelt option must not mean the user's own server. */
const connectionSchema: z.ZodType<ConnectionOptions> = z.strictObject({
  socketPath: z.string().min(1).optional(),
  socketName: z
    .string()
    .regex(/^[^/]+$/, 'a socket name is a name, not a path')
    .optional(),
  configFile: z.string().min(1).optional(),
  colors256: z.boolean().optional(),
  tmux: z.string().min(1).optional(),
  env: z.record(z.string(), z.string().optional()).optional(),
});
