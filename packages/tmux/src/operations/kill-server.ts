import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';

export type KillServer = Readonly<Record<never, never>>;

export const killServer: Builder<KillServer, Ack> = defineOperation<KillServer, Ack>({
  kind: 'kill_server',
  scope: 'server',
  effect: 'destructive',
  summary: 'Ends the server and everything in it.',
  params: {},
  result: ack,
  example: {},
});
