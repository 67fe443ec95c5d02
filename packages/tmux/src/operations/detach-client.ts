import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client, flag, text } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface DetachClient {
  readonly target: ClientTarget;
  readonly others?: boolean;
  readonly hangUp?: boolean;
  readonly exec?: string;
}

export const detachClient: Builder<DetachClient, Ack> = defineOperation<DetachClient, Ack>({
  kind: 'detach_client',
  scope: 'client',
  effect: 'write',
  summary: 'Detaches a client; what runs in its session goes on.',
  params: {
    target: client(),
    others: flag('-a', 'detach all other clients instead'),
    hangUp: flag('-P', 'and send SIGHUP to the process it was started from'),
    exec: text('-E', 'and let it become this shell command'),
  },
  refuse: (params) => atMostOne(params, 'hangUp', 'exec'),
  result: ack,
  example: { target: { client: '/dev/pts/0' } },
});
