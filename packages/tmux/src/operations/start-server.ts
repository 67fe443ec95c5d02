import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';

export type StartServer = Readonly<Record<never, never>>;

export const startServer: Builder<StartServer, Ack> = defineOperation<StartServer, Ack>({
  kind: 'start_server',
  scope: 'server',
  effect: 'write',
  summary: 'Starts the server; without a session it ends again unless the option exit-empty is off.',
  params: {},
  result: ack,
  example: {},
});
