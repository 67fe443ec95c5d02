import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ClearHistory {
  readonly target: Target;
  readonly hyperlinks?: boolean;
}

export const clearHistory: Builder<ClearHistory, Ack> = defineOperation<ClearHistory, Ack>({
  kind: 'clear_history',
  scope: 'pane',
  effect: 'write',
  summary: 'Forgets the lines that have left the screen of a pane.',
  params: { target: target('the pane'), hyperlinks: flag('-H', 'also its hyperlinks', { since: '3.4' }) },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
