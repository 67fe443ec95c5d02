import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface SwapWindow {
  readonly source: Target;
  readonly target: Target;
  readonly select?: boolean;
}

export const swapWindow: Builder<SwapWindow, Ack> = defineOperation<SwapWindow, Ack>({
  kind: 'swap_window',
  scope: 'window',
  effect: 'write',
  summary: 'Lets two windows change places; the current place of a session stays current.',
  params: {
    source: target('the one window', '-s'),
    target: target('the other window'),
    // Measured from 3.3a to 3.8: -d selects, though it stands for "do not select" elsewhere.
    select: flag('-d', 'make the place of the target current, which then holds the source'),
  },
  result: ack,
  example: { source: { session: 'demo', window: 0 }, target: { session: 'demo', window: 1 } },
});
