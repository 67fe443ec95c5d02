import { type Chooser, chooserParams, sortedBy } from '../chooser.ts';
import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { argument, target } from '../param.ts';
import type { Target } from '../target.ts';

export interface ChooseBuffer extends Chooser {
  readonly target: Target;
  readonly sort?: 'time' | 'name' | 'size';
  readonly template?: string;
}

export const chooseBuffer: Builder<ChooseBuffer, Ack> = defineOperation<ChooseBuffer, Ack>({
  kind: 'choose_buffer',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows the paste buffers in a pane, for a person to choose from; nothing when there is none.',
  params: {
    target: target('the pane the list is shown in'),
    sort: sortedBy(['time', 'name', 'size']),
    ...chooserParams,
    template: argument('tmux command run for the choice, %% standing for it; paste-buffer unless told'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
