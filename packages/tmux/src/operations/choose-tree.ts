import { type Chooser, chooserParams, sortedBy } from '../operation/chooser.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, choice, flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ChooseTree extends Chooser {
  readonly target: Target;
  readonly collapsed?: 'sessions' | 'windows';
  readonly groups?: boolean;
  readonly sort?: 'index' | 'name' | 'time';
  readonly template?: string;
}

export const chooseTree: Builder<ChooseTree, Ack> = defineOperation<ChooseTree, Ack>({
  kind: 'choose_tree',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows sessions, windows and panes in a pane, for a person to choose from.',
  params: {
    target: target('the pane the list is shown in'),
    collapsed: choice({ sessions: ['-s'], windows: ['-w'] }, 'start with sessions or windows collapsed'),
    groups: flag('-G', 'every session of a group, not only the first'),
    sort: sortedBy(['index', 'name', 'time']),
    ...chooserParams,
    template: argument('tmux command run for the choice, %% standing for it; switch-client unless told'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 }, collapsed: 'windows' },
});
