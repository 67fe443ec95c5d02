import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { custom, type Param } from '../operation/param.ts';
import { linesOf } from '../operation/reply.ts';

export interface ListKeys {
  readonly table?: string;
  readonly key?: string;
}

export interface KeyRow {
  readonly table: string;
  readonly key: string;
  /** The key may be pressed again without the prefix. */
  readonly repeat: boolean;
  /** What it runs, in tmux's own language. */
  readonly command: string;
}

const keyRow: z.ZodType<KeyRow> = z.strictObject({
  table: z.string(),
  key: z.string(),
  repeat: z.boolean(),
  command: z.string(),
});

function readKey(line: string): KeyRow {
  const [, repeat, table, key, command] = /^bind-key +(-r +)?-T +(\S+) +(\S+) +(.*)$/.exec(line) ?? [];
  if (table === undefined || key === undefined || command === undefined) {
    throw new TmuxError('protocol', `list_keys: this is no key binding: ${JSON.stringify(line)}.`, { line });
  }
  return { table, key: key.replace(/^\\(?=.)/, ''), repeat: repeat !== undefined, command };
}

const keyRows: Outcome<readonly KeyRow[]> = {
  name: 'KeyRows',
  schema: z.array(keyRow).readonly(),
  read: (reply, { params: { table, key } }) =>
    linesOf(reply.stdout)
      .map(readKey)
      .filter((row) => (table ?? row.table) === row.table && (key ?? row.key) === row.key),
};

/** Picked from the full list, as tmux 3.7 shows a list of one line to a person and not to us. */
const picked = (doc: string): Param<string, false> =>
  custom(z.string().regex(/^[^\p{Cc}]+$/u), 'none', doc, () => []);

export const listKeys: Builder<ListKeys, readonly KeyRow[]> = defineOperation<ListKeys, readonly KeyRow[]>({
  kind: 'list_keys',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the key bindings.',
  params: {
    table: picked('only this key table: root, prefix, copy-mode'),
    key: picked('only this key, named as tmux names it: C-b, Enter'),
  },
  result: keyRows,
  example: { table: 'prefix', key: 'd' },
});
