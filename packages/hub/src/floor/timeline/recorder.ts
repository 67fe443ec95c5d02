import type { FloorLink, TimelineData, TimelineKind } from '@polyphony/protocol';
import { type Draft, draft, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { Statement } from '../../store/store.ts';

/** Something that happened in a session and is not written down yet. */
export interface NewEntry {
  readonly session: { readonly id: string; readonly project: string };
  readonly kind: TimelineKind;
  /** Whose words or deeds it is, as the hub knows it. */
  readonly sender: string;
  readonly text: string;
  readonly data?: TimelineData;
  /** Now, when left out. */
  readonly occurredAt?: number;
  /** The capture it tells of: there is one entry of each. */
  readonly capture?: string;
  /** What a tool and its result have in common. */
  readonly call?: string | undefined;
  /** It is told long after it happened. */
  readonly late?: boolean;
  readonly reconstructed?: boolean;
  /** Branches, commits and pull requests that are seen in it. */
  readonly links?: readonly Pick<FloorLink, 'kind' | 'value'>[];
}

export interface Recorded {
  readonly statements: readonly Statement[];
  readonly drafts: readonly Draft[];
}

export interface Written extends Recorded {
  /** Of each entry, in their order. */
  readonly ids: readonly string[];
}

export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Makes secrets unreadable. */
  readonly redact: (text: string) => string;
}

/** Says what is written for entries of timelines; whoever has something to tell commits it with what it tells of. */
export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  write(source: Source, entries: readonly NewEntry[]): Written {
    const { clock, random } = this.#options;
    const now = clock.now();
    const made = entries.map((entry) => ({ ...entry, id: `ent_${random.hex(8)}` }));
    const bySession = [...Map.groupBy(made, ({ session }) => session.id).values()];
    return {
      ids: made.map(({ id }) => id),
      statements: [
        ...made.flatMap((entry) => [this.#insert(entry, now), ...linksOf(entry, now)]),
        ...bySession.map((group) => countEntries(group, now)),
      ],
      drafts: bySession.map((group) =>
        draft(source, 'floor:recorded', {
          sessionId: (group[0] as NewEntry).session.id,
          projectKey: (group[0] as NewEntry).session.project,
          entries: group.map(({ id, kind, sender }) => ({ entryId: id, kind, sender })),
          ...(group.every(({ late }) => late) && { late: true }),
        }),
      ),
    };
  }

  #insert(entry: NewEntry & { readonly id: string }, now: number): Statement {
    const { id, session, kind, sender, text, data = {}, occurredAt = now } = entry;
    return {
      sql: `INSERT INTO timeline
        (id, session, project, kind, sender, occurred_at, received_at, capture, call, text, data, reconstructed)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (capture) DO NOTHING`,
      values: [
        ...[id, session.id, session.project, kind, sender, Math.round(occurredAt), now],
        ...[entry.capture ?? null, entry.call ?? null],
        ...[this.#clean(text), this.#clean(JSON.stringify(data)), Number(entry.reconstructed === true)],
      ],
    };
  }

  /** A text without secrets, as every database takes it. */
  #clean(text: string): string {
    return this.#options.redact(text).toWellFormed().replaceAll('\0', '␀');
  }
}

function countEntries(entries: readonly NewEntry[], now: number): Statement {
  const prompts = entries.filter(({ kind }) => kind === 'prompt').length;
  const last = Math.max(...entries.map(({ occurredAt = now }) => Math.round(occurredAt)));
  return {
    sql: `UPDATE floor_sessions SET entries = entries + ?, prompts = prompts + ?, active_at = max(active_at, ?)
      WHERE id = ?`,
    values: [entries.length, prompts, last, (entries[0] as NewEntry).session.id],
    expect: 1,
  };
}

function linksOf(entry: NewEntry & { readonly id: string }, now: number): readonly Statement[] {
  const { id, session, links = [], occurredAt = now } = entry;
  return links.map(({ kind, value }) => ({
    sql: `INSERT INTO floor_links (session, kind, value, entry, seen_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    values: [session.id, kind, value, id, Math.round(occurredAt)],
  }));
}
