import { type Builder, defineOperation } from '../operation.ts';
import { type Exists, exists } from '../outcome.ts';
import { target } from '../param.ts';
import type { Target } from '../target.ts';

export interface HasSession {
  readonly target: Target;
}

export const hasSession: Builder<HasSession, Exists> = defineOperation<HasSession, Exists>({
  kind: 'has_session',
  scope: 'session',
  effect: 'read',
  summary: 'Says whether a session exists; "no" is an answer, not a failure.',
  params: { target: target('the session') },
  result: exists,
  example: { target: { session: 'demo' } },
});
