import { type Chooser, chooserParams, sortedBy } from '../operation/chooser.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ChooseClient extends Chooser {
  readonly target: Target;
  readonly sort?: 'name' | 'size' | 'creation' | 'activity';
  readonly template?: string;
}

export const chooseClient: Builder<ChooseClient, Ack> = defineOperation<ChooseClient, Ack>({
  kind: 'choose_client',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows the attached clients in a pane, for a person to choose from; nothing when there is none.',
  params: {
    target: target('the pane the list is shown in'),
    sort: sortedBy(['name', 'size', 'creation', 'activity']),
    ...chooserParams,
    template: argument('tmux command run for the choice, %% standing for it; detach-client unless told'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
