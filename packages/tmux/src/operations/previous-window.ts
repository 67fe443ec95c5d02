import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

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
