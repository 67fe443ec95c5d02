import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget, flag, optional, target } from '../operation/param.ts';
import type { AnyTarget, Target } from '../operation/target.ts';

export interface CopyMode {
  readonly target: Target;
  readonly source?: AnyTarget;
  readonly pageUp?: boolean;
  readonly pageDown?: boolean;
  readonly exitAtBottom?: boolean;
  readonly hidePosition?: boolean;
  readonly cancel?: boolean;
}

export const copyMode: Builder<CopyMode, Ack> = defineOperation<CopyMode, Ack>({
  kind: 'copy_mode',
  scope: 'pane',
  effect: 'write',
  summary: 'Puts a pane into copy mode, or ends any mode it is in.',
  params: {
    target: target('the pane'),
    source: optional(anyTarget('the pane whose text is shown; its own unless told', '-s')),
    pageUp: flag('-u', 'scroll a page up'),
    pageDown: flag('-d', 'scroll a page down', { since: '3.5' }),
    exitAtBottom: flag('-e', 'end when scrolled to the bottom'),
    hidePosition: flag('-H', 'without the position in the corner'),
    cancel: flag('-q', 'end copy mode and any other mode'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
