import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argumentList, custom, flag, integer, target } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SendKeys {
  readonly target: Target;
  readonly keys?: readonly string[];
  readonly literal?: boolean;
  readonly enter?: boolean;
  readonly suppressHistory?: boolean;
  readonly hex?: readonly number[];
  readonly copyModeCommand?: readonly string[];
  readonly repeat?: number;
  readonly reset?: boolean;
}

const bytes = z.array(z.int().min(0).max(255)).min(1).readonly();
const words = z
  .array(z.string().regex(/^[^\0]*$/, 'a tmux argument cannot hold a NUL byte'))
  .min(1)
  .readonly();

function refuse({
  keys,
  literal,
  enter,
  suppressHistory,
  hex,
  copyModeCommand,
  reset,
}: SendKeys): string | undefined {
  if (literal && enter) {
    return 'tmux would type the word Enter: send the literal text, then a second send_keys with keys ["Enter"]';
  }
  if (!keys && (literal || suppressHistory)) return 'literal and suppressHistory are about keys: give some';
  if (!keys && !hex && !copyModeCommand && !enter && !reset)
    return 'give keys, hex, copyModeCommand, enter or reset';
  return (
    atMostOne({ keys, hex, copyModeCommand }, 'keys', 'hex', 'copyModeCommand') ??
    atMostOne({ enter, hex, copyModeCommand }, 'enter', 'hex', 'copyModeCommand')
  );
}

export const sendKeys: Builder<SendKeys, Ack> = defineOperation<SendKeys, Ack>({
  kind: 'send_keys',
  scope: 'pane',
  effect: 'write',
  summary: 'Types into a pane, or commands the mode it is in.',
  params: {
    target: target('the pane'),
    literal: flag('-l', 'type the keys as text, also those that name a key'),
    // tmux does nothing else meanwhile.
    repeat: integer('-N', 'how many times', { min: 1, max: 10_000 }),
    reset: flag('-R', 'reset the terminal first'),
    hex: custom(bytes, '-H', 'bytes to type', (values) => [
      '-H',
      '--',
      ...values.map((value) => value.toString(16)),
    ]),
    copyModeCommand: custom(
      words,
      '-X',
      'a command of copy mode and its arguments: ["search-forward", "error"]',
      (command) => ['-X', '--', ...command],
    ),
    suppressHistory: custom(
      z.boolean(),
      '',
      'a space first, which keeps most shells from remembering the line',
      (on) => (on ? [' '] : []),
    ),
    keys: argumentList('names of keys (Enter, C-c, Up), or text where no key has that name'),
    enter: custom(z.boolean(), '', 'press Enter at the end', (on) => (on ? ['Enter'] : [])),
  },
  refuse,
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 1 }, keys: ['echo hello'], enter: true },
});
