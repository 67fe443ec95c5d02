import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Exists, exists } from '../operation/outcome.ts';
import { target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

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
