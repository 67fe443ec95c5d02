import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget, choice, flag, named } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface SelectPane {
  readonly target: AnyTarget;
  readonly direction?: 'left' | 'right' | 'up' | 'down';
  readonly last?: boolean;
  readonly mark?: boolean;
  readonly unmark?: boolean;
  readonly keepZoom?: boolean;
  readonly input?: 'on' | 'off';
  readonly title?: string;
}

export const selectPane: Builder<SelectPane, Ack> = defineOperation<SelectPane, Ack>({
  kind: 'select_pane',
  scope: 'pane',
  effect: 'write',
  summary:
    'Makes a pane the active one of its window; or marks it, names it, or opens and closes it to input.',
  params: {
    target: anyTarget('the pane'),
    direction: choice(
      { left: ['-L'], right: ['-R'], up: ['-U'], down: ['-D'] },
      'the neighbour on this side instead',
    ),
    last: flag('-l', 'the pane that was active before instead'),
    mark: flag('-m', 'only set the server’s one mark on it; takes it off when it is there'),
    unmark: flag('-M', 'only take the mark off, wherever it is'),
    keepZoom: flag('-Z', 'keep the window zoomed if it is'),
    input: choice({ on: ['-e'], off: ['-d'] }, 'only let it take input, or not'),
    title: named('-T', 'only set its title', { expanded: true }),
  },
  refuse: (params) => atMostOne(params, 'direction', 'last', 'mark', 'unmark', 'input', 'title'),
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 1 } },
});
