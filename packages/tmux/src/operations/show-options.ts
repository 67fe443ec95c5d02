import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { readOptions, type ShownOptions } from '../operation/options.ts';
import type { Outcome } from '../operation/outcome.ts';
import { anyTarget, flag, optional, optionName } from '../operation/param.ts';
import { atMostOne, exactlyOne } from '../operation/refusal.ts';
import { linesOf, type Reply } from '../operation/reply.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface ShowOptions {
  readonly target?: AnyTarget;
  readonly global?: boolean;
  readonly server?: boolean;
  readonly window?: boolean;
  readonly pane?: boolean;
  readonly inherited?: boolean;
  readonly quiet?: boolean;
  readonly name?: string;
}

const shownOptions: Outcome<ShownOptions> = Object.freeze({
  name: 'ShownOptions',
  schema: z.strictObject({
    options: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    inherited: z.array(z.string()).readonly(),
  }),
  read: (reply: Reply) => readOptions(linesOf(reply.stdout)),
});

export const showOptions: Builder<ShowOptions, ShownOptions> = defineOperation<ShowOptions, ShownOptions>({
  kind: 'show_options',
  scope: 'session',
  effect: 'read',
  summary: 'Reads options: all that are set in one place, or one by its name.',
  params: {
    target: optional(anyTarget('whose options')),
    global: flag('-g', 'the global options, of sessions or, with `window`, of windows'),
    server: flag('-s', 'the options of the server'),
    window: flag('-w', 'options of the window instead of the session'),
    pane: flag('-p', 'options of the pane instead of the session'),
    inherited: flag('-A', 'also those set further out'),
    quiet: flag('-q', 'no failure when there is no such option'),
    name: optionName('the one option wanted; not answered when it is not set here'),
  },
  refuse: (params) =>
    exactlyOne(params, 'target', 'global', 'server') ?? atMostOne(params, 'window', 'pane', 'server'),
  result: shownOptions,
  example: { global: true, name: 'status-left' },
});
