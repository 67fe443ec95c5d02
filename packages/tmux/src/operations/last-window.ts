import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface LastWindow {
  readonly target: AnyTarget;
}

export const lastWindow: Builder<LastWindow, Ack> = defineOperation<LastWindow, Ack>({
  kind: 'last_window',
  scope: 'window',
  effect: 'write',
  summary: 'Makes the window current that was so before.',
  params: { target: anyTarget('the session') },
  result: ack,
  example: { target: { session: 'demo' } },
});
