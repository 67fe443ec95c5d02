import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { anyTarget, flag } from '../param.ts';
import type { AnyTarget } from '../target.ts';

export interface LastPane {
  readonly target: AnyTarget;
  readonly keepZoom?: boolean;
}

export const lastPane: Builder<LastPane, Ack> = defineOperation<LastPane, Ack>({
  kind: 'last_pane',
  scope: 'window',
  effect: 'write',
  summary: 'Makes the pane active that was so before.',
  params: { target: anyTarget('the window'), keepZoom: flag('-Z', 'keep the window zoomed if it is') },
  result: ack,
  example: { target: { session: 'demo', window: 0 } },
});
