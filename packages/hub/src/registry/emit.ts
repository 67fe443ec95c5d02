import { PolyError } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Store } from '../store/store.ts';
import type { Allowance } from './allowance.ts';
import type { Caller } from './caller.ts';
import { type Answer, isUsedKey, keyedCall } from './idempotency.ts';

export interface EmitOptions {
  readonly allowance: Allowance;
  readonly events: EventLog;
  readonly store: Store;
  readonly clock: Clock;
}

interface Emitter {
  readonly caller: Caller;
  readonly idempotencyKey?: string | undefined;
}

/** Writes an event of somebody into the log and answers its `seq`; a repeat with the same key gets that of the first. */
export type Emit = (event: string, payload: unknown, by: Emitter) => Promise<{ readonly seq: number }>;

export function createEmit({ allowance, events, store, clock }: EmitOptions): Emit {
  return async (event, payload, { caller, idempotencyKey }) => {
    const call =
      idempotencyKey === undefined
        ? undefined
        : keyedCall(caller, idempotencyKey, `emit ${event}`, payload, clock.now());
    const recall = async (): Promise<{ readonly seq: number }> =>
      seqIn(await (call as NonNullable<typeof call>).recall(store));
    if (await call?.isUsed(store)) return recall();
    allowance.take(caller, payload);
    try {
      const drafts = [{ event, payload, from: caller }];
      const { events: written } = await events.append(drafts, call ? [call.begin, call.endWithSeq] : []);
      return { seq: written[0]?.seq as number };
    } catch (error) {
      if (call && isUsedKey(error)) return recall();
      throw error;
    }
  };
}

function seqIn(answer: Answer): { readonly seq: number } {
  if ('error' in answer) throw PolyError.from(answer.error);
  return answer.result as { readonly seq: number };
}
