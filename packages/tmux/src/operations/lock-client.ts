import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface LockClient {
  readonly target: ClientTarget;
}

export const lockClient: Builder<LockClient, Ack> = defineOperation<LockClient, Ack>({
  kind: 'lock_client',
  scope: 'client',
  effect: 'write',
  summary: 'Locks the terminal of a client: the option lock-command runs on it until it ends.',
  params: { target: client() },
  result: ack,
  example: { target: { client: '/dev/pts/0' } },
});
