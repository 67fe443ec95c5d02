import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, flag, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface RotateWindow {
  readonly target: Target;
  readonly direction?: 'up' | 'down';
  readonly keepZoom?: boolean;
}

export const rotateWindow: Builder<RotateWindow, Ack> = defineOperation<RotateWindow, Ack>({
  kind: 'rotate_window',
  scope: 'window',
  effect: 'write',
  summary: 'Lets every pane of a window move to the place of the next.',
  params: {
    target: target('the window'),
    direction: choice({ up: ['-U'], down: ['-D'] }, 'which way; up unless told'),
    keepZoom: flag('-Z', 'keep the window zoomed if it is'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0 } },
});
