import {
  type BuiltInEventName,
  type BuiltInEvents,
  type Participant,
  PolyError,
  type PolyEvent,
} from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import { StoreError } from '../store/errors.ts';
import type { Batch, Committed, Statement, Store, StoredEvent } from '../store/store.ts';

/** Who an event comes from. */
export interface Source {
  readonly participant: Participant;
  readonly pane?: string;
}

/** An event that has not been written yet. */
export interface Draft {
  readonly event: string;
  readonly payload: unknown;
  readonly from: Source;
}

export function draft<Name extends BuiltInEventName>(
  from: Source,
  event: Name,
  payload: BuiltInEvents[Name],
): Draft {
  return { event, payload, from };
}

export interface AppendOptions {
  /** Tells of a start or an end, which must not wait for space: a full disk takes it into its reserve. */
  readonly onFullDisk?: boolean | undefined;
}

type Listener = (events: readonly PolyEvent[]) => void;

/** The durable log of what happened. What is appended is told only when it is on the disk. */
export interface EventLog {
  /** Writes events, and whatever must be true together with them, in one step. */
  append(
    drafts: readonly Draft[],
    statements?: readonly Statement[],
    options?: AppendOptions,
  ): Promise<Committed>;
  /** Only what has been told so far: the store shows a commit to readers before the hub hears of it. */
  read(after: number, limit: number): Promise<readonly PolyEvent[]>;
  /** The first event that is kept and the last that has been told. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>;
  /** The last event told so far. */
  readonly head: number;
  /** Hears every event from now on, in order. */
  listen(listener: Listener): () => void;
}

export async function createEventLog({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<EventLog> {
  const listeners = new Set<Listener>();
  let head = (await store.bounds()).last;
  store.onCommit((stored) => {
    const events = stored.map(toEvent);
    head = events.at(-1)?.seq ?? head;
    for (const listener of listeners) listener(events);
  });
  return {
    append(drafts, statements = [], { onFullDisk = false } = {}) {
      const batch: Batch = {
        statements,
        events: drafts.map(({ event, payload, from }) => ({
          name: event,
          payload,
          source: from.participant,
          pane: from.pane ?? null,
          occurredAt: clock.now(),
        })),
      };
      const inReserve = (error: unknown): Promise<Committed> =>
        onFullDisk && isFull(error) ? store.commit({ ...batch, useReserve: true }) : Promise.reject(error);
      return store.commit(batch).catch(inReserve).catch(refuseWhenFull);
    },
    read: async (after, limit) => {
      const stored = await store.events({ after, limit });
      return stored.filter(({ seq }) => seq <= head).map(toEvent);
    },
    bounds: async () => {
      const { first } = await store.bounds();
      return { first, last: head };
    },
    get head() {
      return head;
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const isFull = (error: unknown): boolean => error instanceof StoreError && error.code === 'full';

function refuseWhenFull(cause: unknown): never {
  if (!isFull(cause)) throw cause;
  throw new PolyError('storage_full', 'the disk is full: nothing was changed.', {
    hint: 'Free some space and try again; reading works meanwhile.',
    cause,
  });
}

function toEvent({ seq, name, payload, source, pane, occurredAt }: StoredEvent): PolyEvent {
  return {
    seq,
    event: name,
    payload,
    source: source as Participant,
    ...(pane != null && { pane }),
    at: occurredAt,
  };
}
