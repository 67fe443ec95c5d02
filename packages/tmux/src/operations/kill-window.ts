import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface KillWindow {
  readonly target: Target;
  readonly others?: boolean;
}

export const killWindow: Builder<KillWindow, Ack> = defineOperation<KillWindow, Ack>({
  kind: 'kill_window',
  scope: 'window',
  effect: 'destructive',
  summary: 'Kills a window in every session it is in, or every other window of its session.',
  params: { target: target('the window'), others: flag('-a', 'keep this window and kill the others') },
  result: ack,
  example: { target: { session: 'demo', window: 1 } },
});
