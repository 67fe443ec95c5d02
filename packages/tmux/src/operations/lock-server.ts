import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';

export type LockServer = Readonly<Record<string, never>>;

export const lockServer: Builder<LockServer, Ack> = defineOperation<LockServer, Ack>({
  kind: 'lock_server',
  scope: 'server',
  effect: 'write',
  summary: 'Locks every terminal that is attached: the option lock-command runs on it until it ends.',
  params: {},
  result: ack,
  example: {},
});
