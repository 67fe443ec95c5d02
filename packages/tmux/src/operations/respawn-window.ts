import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, environment, flag, path, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface RespawnWindow {
  readonly target: Target;
  readonly kill?: boolean;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly shell?: string;
}

export const respawnWindow: Builder<RespawnWindow, Ack> = defineOperation<RespawnWindow, Ack>({
  kind: 'respawn_window',
  scope: 'window',
  effect: 'write',
  summary: 'Starts a process anew in a window, which then has one pane.',
  params: {
    target: target('the window'),
    kill: flag('-k', 'end the processes that run in it; fails without it while one does'),
    startDirectory: path('-c', 'working directory of the process; as before unless told', { expanded: true }),
    environment: environment(),
    shell: argument('command the shell runs; as before unless told'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 1 }, kill: true },
});
