import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface UnlinkWindow {
  readonly target: Target;
  readonly kill?: boolean;
}

export const unlinkWindow: Builder<UnlinkWindow, Ack> = defineOperation<UnlinkWindow, Ack>({
  kind: 'unlink_window',
  scope: 'window',
  effect: 'write',
  summary: 'Takes a window out of one of its places.',
  params: {
    target: target('the window in that place'),
    kill: flag('-k', 'also from its last place, which kills it'),
  },
  result: ack,
  example: { target: { session: 'other', window: 1 }, kill: true },
});
