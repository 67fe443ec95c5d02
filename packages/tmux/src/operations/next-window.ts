import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface NextWindow {
  readonly target: Target;
  readonly alert?: boolean;
}

export const nextWindow: Builder<NextWindow, Ack> = defineOperation<NextWindow, Ack>({
  kind: 'next_window',
  scope: 'window',
  effect: 'write',
  summary: 'Makes the next window of a session its current one.',
  params: { target: target('the session'), alert: flag('-a', 'the next one with an alert') },
  result: ack,
  example: { target: { session: 'demo' } },
});
