import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { linesOf } from '../operation/reply.ts';

export type ListServerAccess = Readonly<Record<string, never>>;

export interface AccessRow {
  readonly name: string;
  readonly group: boolean;
  readonly readOnly: boolean;
}

const accessRow: z.ZodType<AccessRow> = z.strictObject({
  name: z.string(),
  group: z.boolean(),
  readOnly: z.boolean(),
});

/** `daemon (R)`, and since tmux 3.8, which admits groups too, `daemon (U,R)` or `staff (G,W)`. */
function readAccess(line: string): AccessRow {
  const [, name, kind, may] = /^(.+) \((?:([UG]),)?([RW])\)$/.exec(line) ?? [];
  if (name === undefined) {
    throw new TmuxError('protocol', `list_server_access: this names no user: ${JSON.stringify(line)}.`, {
      line,
    });
  }
  return { name, group: kind === 'G', readOnly: may === 'R' };
}

const accessRows: Outcome<readonly AccessRow[]> = {
  name: 'AccessRows',
  schema: z.array(accessRow).readonly(),
  read: (reply) => linesOf(reply.stdout).map(readAccess),
};

export const listServerAccess: Builder<ListServerAccess, readonly AccessRow[]> = defineOperation<
  ListServerAccess,
  readonly AccessRow[]
>({
  kind: 'list_server_access',
  command: 'server-access',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the other users who may use this server.',
  since: '3.3',
  params: {},
  fixed: ['-l'],
  result: accessRows,
  example: {},
});
