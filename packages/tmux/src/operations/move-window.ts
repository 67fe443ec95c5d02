import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, flag, optional, target, unless } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface MoveWindow {
  readonly target: Target;
  readonly source?: Target;
  readonly renumber?: boolean;
  readonly place?: 'before' | 'after';
  readonly kill?: boolean;
  readonly select?: boolean;
}

export const moveWindow: Builder<MoveWindow, Ack> = defineOperation<MoveWindow, Ack>({
  kind: 'move_window',
  scope: 'window',
  effect: 'write',
  summary: 'Moves a window to another index or session, or closes the gaps between the indexes of a session.',
  params: {
    source: optional(target('the window', '-s')),
    target: target(
      'the session, with a free index if a certain one is wanted, or the window it goes next to',
    ),
    renumber: flag('-r', 'renumber the windows of the target session, and move none'),
    place: choice({ before: ['-b'], after: ['-a'] }, 'on which side of the target window it goes'),
    kill: flag('-k', 'kill the window that has the target index'),
    select: unless('-d', 'make it the current window'),
  },
  refuse: (params) => exactlyOne(params, 'source', 'renumber'),
  result: ack,
  example: { source: { session: 'demo', window: 1 }, target: { session: 'other', window: 7 } },
});
