import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { anyTarget, flag, optional, optionName } from '../operation/param.ts';
import { atMostOne, exactlyOne } from '../operation/refusal.ts';
import { linesOf } from '../operation/reply.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface ShowHooks {
  readonly target?: AnyTarget;
  readonly global?: boolean;
  readonly window?: boolean;
  readonly pane?: boolean;
  readonly name?: string;
}

export interface HookRow {
  readonly name: string;
  readonly index: number;
  /** What it runs, in tmux's own language. */
  readonly command: string;
}

const hookRow: z.ZodType<HookRow> = z.strictObject({ name: z.string(), index: z.int(), command: z.string() });

/** A hook nothing is bound to is listed by its bare name. */
function readHook(line: string): readonly HookRow[] {
  const [, name, index, command] = /^([^\s[]+)(?:\[(\d+)\])? (.+)$/s.exec(line) ?? [];
  return name === undefined || command === undefined ? [] : [{ name, index: Number(index ?? 0), command }];
}

const hookRows: Outcome<readonly HookRow[]> = {
  name: 'HookRows',
  schema: z.array(hookRow).readonly(),
  read: (reply) => linesOf(reply.stdout).flatMap(readHook),
};

export const showHooks: Builder<ShowHooks, readonly HookRow[]> = defineOperation<
  ShowHooks,
  readonly HookRow[]
>({
  kind: 'show_hooks',
  scope: 'session',
  effect: 'read',
  summary: 'Reads which commands tmux runs when something happens.',
  params: {
    target: optional(anyTarget('whose hooks')),
    global: flag('-g', 'the hooks of all sessions or, with `window`, of all windows'),
    window: flag('-w', 'hooks of the window instead of the session'),
    pane: flag('-p', 'hooks of the pane instead of the session'),
    name: optionName('only this hook'),
  },
  refuse: (params) => exactlyOne(params, 'target', 'global') ?? atMostOne(params, 'window', 'pane'),
  result: hookRows,
  example: { global: true },
});
