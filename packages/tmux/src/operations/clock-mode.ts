import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { target } from '../param.ts';
import type { Target } from '../target.ts';

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
