import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, flag, target, unless } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface LinkWindow {
  readonly source: Target;
  readonly target: Target;
  readonly place?: 'before' | 'after';
  readonly kill?: boolean;
  readonly select?: boolean;
}

export const linkWindow: Builder<LinkWindow, Ack> = defineOperation<LinkWindow, Ack>({
  kind: 'link_window',
  scope: 'window',
  effect: 'write',
  summary: 'Shows a window in one more place, in this or another session.',
  params: {
    source: target('the window', '-s'),
    target: target(
      'the session, with a free index if a certain one is wanted, or the window it goes next to',
    ),
    place: choice({ before: ['-b'], after: ['-a'] }, 'on which side of the target window it goes'),
    kill: flag('-k', 'kill the window that has the target index'),
    select: unless('-d', 'make it the current window'),
  },
  result: ack,
  example: { source: { session: 'demo', window: 1 }, target: { session: 'other', window: 7 } },
});
