import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ClockMode {
  readonly target: Target;
}

export const clockMode: Builder<ClockMode, Ack> = defineOperation<ClockMode, Ack>({
  kind: 'clock_mode',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows a clock in a pane until a key is pressed or copy_mode cancels it.',
  params: { target: target('the pane') },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
