import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, target } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface KillSession {
  readonly target: Target;
  readonly others?: boolean;
  readonly group?: boolean;
}

export const killSession: Builder<KillSession, Ack> = defineOperation<KillSession, Ack>({
  kind: 'kill_session',
  scope: 'session',
  effect: 'destructive',
  summary: 'Kills a session, or every other one, and the windows that are in no other.',
  params: {
    target: target('the session'),
    others: flag('-a', 'keep this session and kill the others'),
    group: flag('-g', 'kill every session of its group', { since: '3.7' }),
  },
  refuse: (params) => atMostOne(params, 'others', 'group'),
  result: ack,
  example: { target: { session: 'other' } },
});
