import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

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
