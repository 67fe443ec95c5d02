import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, client, flag, integer } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface DisplayPanes {
  readonly target: ClientTarget;
  readonly milliseconds?: number;
  readonly ignoreKeys?: boolean;
  readonly template?: string;
}

export const displayPanes: Builder<DisplayPanes, Ack> = defineOperation<DisplayPanes, Ack>({
  kind: 'display_panes',
  scope: 'client',
  effect: 'write',
  summary:
    'Shows the number of each pane to the person at a client, to choose one; waits until they are gone, before tmux 3.8.',
  params: {
    target: client(),
    milliseconds: integer('-d', 'how long; 0 until a key is pressed'),
    ignoreKeys: flag('-N', 'keys choose nothing'),
    template: argument('tmux command run for the choice, %% standing for the pane; select-pane unless told'),
  },
  result: ack,
  ownProcess: true,
  example: { target: { client: '/dev/pts/0' }, milliseconds: 1 },
});
