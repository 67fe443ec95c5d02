import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { anyTarget } from '../param.ts';
import type { AnyTarget } from '../target.ts';

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
