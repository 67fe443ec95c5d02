import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target, text } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface CustomizeMode {
  readonly target: Target;
  readonly format?: string;
  readonly filter?: string;
  readonly withoutPreview?: boolean;
  readonly zoom?: boolean;
  readonly withoutConfirm?: boolean;
}

export const customizeMode: Builder<CustomizeMode, Ack> = defineOperation<CustomizeMode, Ack>({
  kind: 'customize_mode',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows options and key bindings in a pane, for a person to change.',
  params: {
    target: target('the pane'),
    format: text('-F', 'the format of each line'),
    filter: text('-f', 'a format: only items for which it is true are shown'),
    withoutPreview: flag('-N', 'start without the details of the selected item'),
    zoom: flag('-Z', 'zoom the pane meanwhile'),
    withoutConfirm: flag('-y', 'ask nothing back before a change', { since: '3.6' }),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 } },
});
