import { keyTable } from '../operation/key-table.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, client, flag, optional, target } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { ClientTarget, Target } from '../operation/target.ts';

export interface SwitchClient {
  readonly client: ClientTarget;
  readonly target?: Target;
  readonly change?: 'next' | 'previous' | 'last';
  readonly keyTable?: string;
  readonly keepZoom?: boolean;
}

export const switchClient: Builder<SwitchClient, Ack> = defineOperation<SwitchClient, Ack>({
  kind: 'switch_client',
  scope: 'client',
  effect: 'write',
  summary: 'Attaches a client to another session, or says which key table its next key is looked up in.',
  params: {
    client: client('the client', '-c'),
    target: optional(target('the session, or a window or pane of it that becomes current')),
    change: choice(
      { next: ['-n'], previous: ['-p'], last: ['-l'] },
      'the session after or before its own, or the one it showed before',
    ),
    keyTable: keyTable('only look its next key up in this key table'),
    keepZoom: flag('-Z', 'keep the window zoomed if it is'),
  },
  refuse: (params) => exactlyOne(params, 'target', 'change', 'keyTable'),
  result: ack,
  example: { client: { client: '/dev/pts/0' }, target: { session: 'other' } },
});
