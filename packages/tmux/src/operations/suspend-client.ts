import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface SuspendClient {
  readonly target: ClientTarget;
}

export const suspendClient: Builder<SuspendClient, Ack> = defineOperation<SuspendClient, Ack>({
  kind: 'suspend_client',
  scope: 'client',
  effect: 'write',
  summary: 'Stops the process of a client, as Ctrl-Z does.',
  params: { target: client() },
  result: ack,
  example: { target: { client: '/dev/pts/0' } },
});
