import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface SendPrefix {
  readonly target: Target;
  readonly secondary?: boolean;
}

export const sendPrefix: Builder<SendPrefix, Ack> = defineOperation<SendPrefix, Ack>({
  kind: 'send_prefix',
  scope: 'pane',
  effect: 'write',
  summary: 'Types the prefix key into a pane, as for a tmux that runs in it.',
  params: { target: target('the pane'), secondary: flag('-2', 'the second prefix key') },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 1 } },
});
