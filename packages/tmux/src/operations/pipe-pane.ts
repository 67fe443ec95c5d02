import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface PipePane {
  readonly target: Target;
  readonly commandLine?: string;
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly toggle?: boolean;
}

export const pipePane: Builder<PipePane, Ack> = defineOperation<PipePane, Ack>({
  kind: 'pipe_pane',
  scope: 'pane',
  effect: 'write',
  summary:
    'Connects a pane to a shell command, in place of the one it is connected to; ends that without a command.',
  params: {
    target: target('the pane'),
    stdin: flag('-I', 'what the command prints is typed into the pane'),
    stdout: flag('-O', 'what the pane prints goes to the command; so also without either'),
    toggle: flag('-o', 'only when the pane is not connected; else just end that'),
    commandLine: argument('run by a shell; tmux expands formats and the %-sequences of strftime in it first'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 1, pane: 0 }, stdout: true, commandLine: 'cat >/dev/null' },
});
