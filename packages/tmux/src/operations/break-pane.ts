import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedWindow, createdWindow } from '../operation/outcome.ts';
import { choice, named, target, unless } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface BreakPane {
  readonly source: Target;
  readonly target: Target;
  readonly place?: 'before' | 'after';
  readonly name?: string;
  readonly select?: boolean;
}

export const breakPane: Builder<BreakPane, CreatedWindow> = defineOperation<BreakPane, CreatedWindow>({
  kind: 'break_pane',
  scope: 'window',
  effect: 'write',
  summary: 'Moves a pane into a window of its own.',
  params: {
    source: target('the pane', '-s'),
    target: target('the session it goes to, with a free index if a certain one is wanted'),
    place: choice({ before: ['-b'], after: ['-a'] }, 'on which side of the target window it goes'),
    name: named('-n', 'name of the new window'),
    select: unless('-d', 'make it the current window'),
  },
  // Only the first 3.7 has this; rename the window afterwards if the name was not wanted.
  refuse: ({ name }, version) =>
    version?.text === '3.7' && name === undefined
      ? 'tmux 3.7 cannot do this without a name; give one'
      : undefined,
  result: createdWindow,
  creates: 'window',
  example: {
    source: { session: 'demo', window: 0, pane: 1 },
    target: { session: 'demo' },
    name: 'broken-out',
  },
});
