import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, custom, flag, required } from '../operation/param.ts';

export interface ServerAccess {
  readonly user: string;
  readonly access: 'allow' | 'deny' | 'readOnly' | 'readWrite';
  readonly group?: boolean;
}

/** tmux expands formats in the name: what could be one is refused. */
const userName = z.string().regex(/^[\w.][\w.@+\\-]*\$?$/, 'not the name of a user or a group');

export const serverAccess: Builder<ServerAccess, Ack> = defineOperation<ServerAccess, Ack>({
  kind: 'server_access',
  scope: 'server',
  effect: 'destructive',
  summary:
    'Lets another user of the machine use this server, or no longer; who may use it can run anything as you.',
  since: '3.3',
  params: {
    access: required(
      choice(
        { allow: ['-a'], deny: ['-d'], readOnly: ['-r'], readWrite: ['-w'] },
        'let the user in, put the user out, or change what an admitted user may do',
      ),
    ),
    group: flag('-g', 'the name is that of a group', { since: '3.8' }),
    user: required(
      custom(userName, '', 'the user; not the owner of the server, and not root', (user) => [user]),
    ),
  },
  result: ack,
  example: { user: 'nobody', access: 'allow' },
});
