import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, optional, optionName, required, target } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SetWindowOption {
  readonly option: string;
  readonly value?: string;
  readonly target?: Target;
  readonly global?: boolean;
  readonly append?: boolean;
  readonly unset?: boolean;
  readonly onlyIfUnset?: boolean;
  readonly expandFormats?: boolean;
  readonly quiet?: boolean;
}

export const setWindowOption: Builder<SetWindowOption, Ack> = defineOperation<SetWindowOption, Ack>({
  kind: 'set_window_option',
  scope: 'window',
  effect: 'write',
  summary: 'Sets or unsets an option of a window, or of all windows.',
  params: {
    target: optional(target('the window')),
    global: flag('-g', 'the option of all windows that have none of their own'),
    append: flag('-a', 'add to a text or to an array'),
    unset: flag('-u', 'take the value away, so that the global one holds'),
    onlyIfUnset: flag('-o', 'fail when it is set already'),
    expandFormats: flag('-F', 'expand formats in the value'),
    quiet: flag('-q', 'no failure when there is no such option'),
    option: required(optionName('its name')),
    value: argument('what it is set to'),
  },
  refuse: (params) => exactlyOne(params, 'target', 'global') ?? exactlyOne(params, 'value', 'unset'),
  result: ack,
  example: { target: { session: 'demo', window: 0 }, option: 'synchronize-panes', value: 'on' },
});
