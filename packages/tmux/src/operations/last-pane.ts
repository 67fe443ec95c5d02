import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget, flag } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';

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
