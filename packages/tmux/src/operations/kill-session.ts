import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { target } from '../param.ts';
import type { Target } from '../target.ts';

export interface KillSession {
  readonly target: Target;
}

export const killSession: Builder<KillSession, Ack> = defineOperation<KillSession, Ack>({
  kind: 'kill_session',
  scope: 'session',
  effect: 'destructive',
  summary: 'Kills a session, and the windows that are in no other.',
  params: { target: target('the session') },
  result: ack,
  example: { target: { session: 'other' } },
});
