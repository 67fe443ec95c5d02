import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget, flag } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface SelectWindow {
  readonly target: AnyTarget;
  readonly toggle?: boolean;
}

export const selectWindow: Builder<SelectWindow, Ack> = defineOperation<SelectWindow, Ack>({
  kind: 'select_window',
  scope: 'window',
  effect: 'write',
  summary: 'Makes a window the current one of its session.',
  params: {
    target: anyTarget('the window'),
    toggle: flag('-T', 'when it is the current one already, the one before instead'),
  },
  result: ack,
  example: { target: { session: 'demo', window: 1 } },
});
