import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { flag, target } from '../param.ts';
import type { Target } from '../target.ts';

export interface PreviousWindow {
  readonly target: Target;
  readonly alert?: boolean;
}

export const previousWindow: Builder<PreviousWindow, Ack> = defineOperation<PreviousWindow, Ack>({
  kind: 'previous_window',
  scope: 'window',
  effect: 'write',
  summary: 'Makes the previous window of a session its current one.',
  params: { target: target('the session'), alert: flag('-a', 'the previous one with an alert') },
  result: ack,
  example: { target: { session: 'demo' } },
});
