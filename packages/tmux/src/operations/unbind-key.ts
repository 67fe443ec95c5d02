import { keyTable } from '../operation/key-table.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, nameArgument } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';

export interface UnbindKey {
  readonly key?: string;
  readonly all?: boolean;
  readonly table?: string;
  readonly quiet?: boolean;
}

export const unbindKey: Builder<UnbindKey, Ack> = defineOperation<UnbindKey, Ack>({
  kind: 'unbind_key',
  scope: 'server',
  effect: 'write',
  summary: 'Removes a key binding, or all of a key table.',
  params: {
    table: keyTable('the key table; prefix unless told'),
    all: flag('-a', 'every binding of the table'),
    quiet: flag('-q', 'no failure when there is no such table or key'),
    key: nameArgument('the key'),
  },
  refuse: (params) => exactlyOne(params, 'key', 'all'),
  result: ack,
  example: { key: 'd' },
});
