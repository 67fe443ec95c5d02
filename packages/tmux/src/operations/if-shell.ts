import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, optional, required, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface IfShell {
  readonly condition: string;
  readonly command: string;
  readonly otherwise?: string;
  readonly target?: Target;
  readonly background?: boolean;
}

export const ifShell: Builder<IfShell, Ack> = defineOperation<IfShell, Ack>({
  kind: 'if_shell',
  scope: 'server',
  effect: 'destructive',
  summary: 'Runs tmux commands when a shell command succeeds, and others when it fails.',
  params: {
    target: optional(target('the pane the formats in the condition are about')),
    background: flag('-b', 'do not wait for the shell command'),
    condition: required(argument('the shell command; formats in it are expanded first')),
    command: required(argument('tmux commands for success, in tmux’s own language')),
    otherwise: argument('tmux commands for failure'),
  },
  result: ack,
  ownProcess: true,
  example: { condition: 'test -d /', command: 'set-buffer -b answer yes' },
});
