import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client, flag, optional, target, text } from '../operation/param.ts';
import { atMostOne, exactlyOne } from '../operation/refusal.ts';
import type { ClientTarget, Target } from '../operation/target.ts';

export interface DetachClient {
  readonly target?: ClientTarget;
  readonly session?: Target;
  readonly others?: boolean;
  readonly hangUp?: boolean;
  readonly exec?: string;
}

export const detachClient: Builder<DetachClient, Ack> = defineOperation<DetachClient, Ack>({
  kind: 'detach_client',
  scope: 'client',
  effect: 'write',
  summary: 'Detaches a client, or all clients of a session; what runs in it goes on.',
  params: {
    target: optional(client()),
    session: optional(target('detach all clients of this session instead', '-s')),
    others: flag('-a', 'detach all other clients instead'),
    hangUp: flag('-P', 'and send SIGHUP to the process it was started from'),
    exec: text('-E', 'and let it become this shell command'),
  },
  refuse: (params) =>
    exactlyOne(params, 'target', 'session') ??
    atMostOne(params, 'session', 'others') ??
    atMostOne(params, 'hangUp', 'exec'),
  result: ack,
  example: { target: { client: '/dev/pts/0' } },
});
