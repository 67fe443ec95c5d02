import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client, flag, target } from '../operation/param.ts';
import type { ClientTarget, Target } from '../operation/target.ts';

export interface SwitchClient {
  readonly client: ClientTarget;
  readonly target: Target;
  readonly keepZoom?: boolean;
}

export const switchClient: Builder<SwitchClient, Ack> = defineOperation<SwitchClient, Ack>({
  kind: 'switch_client',
  scope: 'client',
  effect: 'write',
  summary: 'Attaches a client to another session.',
  params: {
    client: client('the client', '-c'),
    target: target('the session, or a window or pane of it that becomes current'),
    keepZoom: flag('-Z', 'keep the window zoomed if it is'),
  },
  result: ack,
  example: { client: { client: '/dev/pts/0' }, target: { session: 'other' } },
});
