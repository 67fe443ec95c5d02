import { type Chooser, chooserParams, sortedBy } from '../operation/chooser.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

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
