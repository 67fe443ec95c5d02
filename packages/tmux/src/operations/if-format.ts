import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, optional, required, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface IfFormat {
  readonly condition: string;
  readonly command: string;
  readonly otherwise?: string;
  readonly target?: Target;
}

export const ifFormat: Builder<IfFormat, Ack> = defineOperation<IfFormat, Ack>({
  kind: 'if_format',
  command: 'if-shell',
  scope: 'server',
  effect: 'destructive',
  summary: 'Runs tmux commands when a format is true, and others when it is empty or 0.',
  params: {
    target: optional(target('the pane the format is about')),
    condition: required(argument('the format: #{pane_in_mode}')),
    command: required(argument('tmux commands when it is true, in tmux’s own language')),
    otherwise: argument('tmux commands when it is not'),
  },
  fixed: ['-F'],
  result: ack,
  // The commands answer for themselves on the same line, where a chain would take their answers for its own.
  chainable: false,
  example: {
    target: { session: 'demo', window: 0, pane: 0 },
    condition: '#{pane_in_mode}',
    command: 'set-buffer -b answer yes',
    otherwise: 'set-buffer -b answer no',
  },
});
