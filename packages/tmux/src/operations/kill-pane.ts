import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface KillPane {
  readonly target: Target;
  readonly others?: boolean;
}

export const killPane: Builder<KillPane, Ack> = defineOperation<KillPane, Ack>({
  kind: 'kill_pane',
  scope: 'pane',
  effect: 'destructive',
  summary: 'Kills a pane, or every other pane of its window.',
  params: { target: target(), others: flag('-a', 'keep this pane and kill the others') },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 1 } },
});
