import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { type BorderLines, borderLines, type Position, position } from '../operation/overlay.ts';
import { client, custom, flag, integer, optional, required, target, text } from '../operation/param.ts';
import type { ClientTarget, Target } from '../operation/target.ts';

/** A line of a menu; `null` draws a line between others. */
export type MenuItem = {
  readonly name: string;
  readonly key?: string | undefined;
  readonly command?: string | undefined;
  readonly disabled?: boolean | undefined;
} | null;

export interface DisplayMenu {
  readonly client: ClientTarget;
  readonly items: readonly MenuItem[];
  readonly target?: Target;
  readonly title?: string;
  readonly x?: Position;
  readonly y?: Position;
  readonly selected?: number;
  readonly keepOpen?: boolean;
  readonly mouse?: boolean;
  readonly borderLines?: BorderLines;
  readonly style?: string;
  readonly borderStyle?: string;
  readonly selectedStyle?: string;
}

const word = z.string().regex(/^[^\0]*$/, 'a tmux argument cannot hold a NUL byte');
const itemSchema: z.ZodType<MenuItem> = z
  .strictObject({
    name: word.regex(
      /^[^-]/,
      'a name that is empty or starts with "-" means something else to tmux: see disabled and null',
    ),
    key: word.optional(),
    command: word.optional(),
    disabled: z.boolean().optional(),
  })
  .nullable();

function renderItem(item: MenuItem): readonly string[] {
  if (item === null) return [''];
  return [item.disabled ? `-${item.name}` : item.name, item.key ?? '', item.command ?? ''];
}

export const displayMenu: Builder<DisplayMenu, Ack> = defineOperation<DisplayMenu, Ack>({
  kind: 'display_menu',
  scope: 'client',
  effect: 'write',
  summary: 'Shows a menu to the person at a client; waits until it is closed, before tmux 3.8.',
  params: {
    client: client('the client', '-c'),
    target: optional(target('the pane that formats and commands of the menu are about')),
    title: text('-T', 'the title; a format'),
    x: position('-x', 'column of the left side, or a place'),
    y: position('-y', 'row of the bottom, or a place'),
    selected: integer('-C', 'which item is selected at first, from 0', { since: '3.4' }),
    keepOpen: flag('-O', 'stay open when the mouse button is let go'),
    mouse: flag('-M', 'take the mouse also when no mouse key opened it', { since: '3.5' }),
    borderLines: borderLines('3.4'),
    style: text('-s', 'style of the menu', { since: '3.4' }),
    borderStyle: text('-S', 'style of its border', { since: '3.4' }),
    selectedStyle: text('-H', 'style of the selected item', { since: '3.4' }),
    items: required(
      custom(
        z.array(itemSchema).min(1).readonly(),
        '',
        'names, keys and tmux commands; name and command are formats',
        (items) => items.flatMap(renderItem),
      ),
    ),
  },
  result: ack,
  ownProcess: true,
  example: {
    client: { client: '/dev/pts/0' },
    title: 'Windows',
    items: [
      { name: 'Logs', key: 'l', command: 'select-window -t =demo:=logs' },
      null,
      { name: 'Nothing', key: 'n' },
    ],
  },
});
