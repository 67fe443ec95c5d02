import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

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
