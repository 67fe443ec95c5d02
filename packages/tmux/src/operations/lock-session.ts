import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { target } from '../param.ts';
import type { Target } from '../target.ts';

export interface LockSession {
  readonly target: Target;
}

export const lockSession: Builder<LockSession, Ack> = defineOperation<LockSession, Ack>({
  kind: 'lock_session',
  scope: 'session',
  effect: 'write',
  summary:
    'Locks every terminal that is attached to a session: the option lock-command runs on it until it ends.',
  params: { target: target('the session') },
  result: ack,
  example: { target: { session: 'demo' } },
});
