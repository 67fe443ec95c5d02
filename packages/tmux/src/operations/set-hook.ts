import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, optional, optionName, required, target } from '../operation/param.ts';
import { atMostOne, exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SetHook {
  readonly name: string;
  readonly command?: string;
  readonly target?: Target;
  readonly global?: boolean;
  readonly window?: boolean;
  readonly pane?: boolean;
  readonly append?: boolean;
  readonly unset?: boolean;
  readonly run?: boolean;
}

export const setHook: Builder<SetHook, Ack> = defineOperation<SetHook, Ack>({
  kind: 'set_hook',
  scope: 'session',
  effect: 'write',
  summary: 'Has tmux run commands of its own when something happens.',
  params: {
    target: optional(target('whose hook')),
    global: flag('-g', 'the hook of all sessions or, with `window`, of all windows'),
    window: flag('-w', 'a hook of the window instead of the session'),
    pane: flag('-p', 'a hook of the pane instead of the session'),
    append: flag('-a', 'add to the commands there are'),
    unset: flag('-u', 'remove it'),
    run: flag('-R', 'run it now'),
    name: required(
      optionName('which hook, with an index to set one of several commands: after-new-window[1]'),
    ),
    command: argument('tmux commands, in tmux’s own language'),
  },
  refuse: (params) =>
    exactlyOne(params, 'target', 'global') ??
    atMostOne(params, 'window', 'pane') ??
    exactlyOne(params, 'command', 'unset', 'run'),
  result: ack,
  example: { global: true, name: 'alert-bell', command: 'display-message "a bell rang"' },
});
