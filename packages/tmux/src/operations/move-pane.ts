import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Ack } from '../operation/outcome.ts';
import { type JoinPane, joinPane } from './join-pane.ts';

export interface MovePane extends JoinPane {}

/** As join_pane, for a place in the same window too. */
export const movePane: Builder<MovePane, Ack> = defineOperation<MovePane, Ack>({
  ...joinPane.spec,
  kind: 'move_pane',
  summary: 'Moves a pane to another place, also within its window, splitting the pane there.',
});
