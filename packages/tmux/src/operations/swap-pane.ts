import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, flag, optional, target, unless } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SwapPane {
  readonly target: Target;
  readonly source?: Target;
  readonly direction?: 'up' | 'down';
  readonly select?: boolean;
  readonly keepZoom?: boolean;
}

export const swapPane: Builder<SwapPane, Ack> = defineOperation<SwapPane, Ack>({
  kind: 'swap_pane',
  scope: 'pane',
  effect: 'write',
  summary: 'Lets two panes change places.',
  params: {
    source: optional(target('the other pane', '-s')),
    target: target('the pane'),
    direction: choice({ up: ['-U'], down: ['-D'] }, 'with the pane before or after it instead of `source`'),
    select: unless('-d', 'make the target pane the active one'),
    keepZoom: flag('-Z', 'keep the window zoomed if it is'),
  },
  refuse: (params) => exactlyOne(params, 'source', 'direction'),
  result: ack,
  example: {
    source: { session: 'demo', window: 0, pane: 0 },
    target: { session: 'demo', window: 0, pane: 1 },
  },
});
