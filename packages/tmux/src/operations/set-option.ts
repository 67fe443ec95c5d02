import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, optional, optionName, required, target } from '../operation/param.ts';
import { atMostOne, exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SetOption {
  readonly option: string;
  readonly value?: string;
  readonly target?: Target;
  readonly global?: boolean;
  readonly server?: boolean;
  readonly window?: boolean;
  readonly pane?: boolean;
  readonly append?: boolean;
  readonly unset?: boolean;
  readonly onlyIfUnset?: boolean;
  readonly expandFormats?: boolean;
  readonly quiet?: boolean;
}

export const setOption: Builder<SetOption, Ack> = defineOperation<SetOption, Ack>({
  kind: 'set_option',
  scope: 'session',
  effect: 'write',
  summary: 'Sets or unsets an option of the server, a session, a window or a pane.',
  params: {
    target: optional(target('whose option')),
    global: flag('-g', 'the global option, of sessions or, with `window`, of windows'),
    server: flag('-s', 'an option of the server'),
    window: flag('-w', 'an option of the window instead of the session'),
    pane: flag('-p', 'an option of the pane instead of the session'),
    append: flag('-a', 'add to a text or to an array'),
    unset: flag('-u', 'take the value away, so that the one further out holds'),
    onlyIfUnset: flag('-o', 'fail when it is set already'),
    expandFormats: flag('-F', 'expand formats in the value'),
    quiet: flag('-q', 'no failure when there is no such option'),
    option: required(optionName('its name')),
    value: argument('what it is set to'),
  },
  // Without a value tmux would switch an option that is on or off to the other.
  refuse: (params) =>
    exactlyOne(params, 'target', 'global', 'server') ??
    atMostOne(params, 'window', 'pane', 'server') ??
    exactlyOne(params, 'value', 'unset'),
  result: ack,
  example: { target: { session: 'demo' }, option: 'status-left', value: '[#S] ' },
});
