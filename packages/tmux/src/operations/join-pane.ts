import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, side, size, target, unless } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface JoinPane {
  readonly source: Target;
  readonly target: Target;
  readonly direction?: 'right' | 'left' | 'below' | 'above';
  readonly size?: number | `${number}%`;
  readonly fullSize?: boolean;
  readonly select?: boolean;
}

export const joinPane: Builder<JoinPane, Ack> = defineOperation<JoinPane, Ack>({
  kind: 'join_pane',
  scope: 'pane',
  effect: 'write',
  summary: 'Moves a pane into another window, splitting a pane there.',
  params: {
    source: target('the pane that moves', '-s'),
    target: target('the pane that is split for it'),
    direction: side('on which side of the target it goes; below unless told'),
    size: size('-l', 'lines or columns it gets, or a share'),
    fullSize: flag('-f', 'span the whole window'),
    select: unless('-d', 'make it the active pane'),
  },
  result: ack,
  example: {
    source: { session: 'demo', window: 1, pane: 0 },
    target: { session: 'demo', window: 0, pane: 0 },
    direction: 'right',
  },
});
