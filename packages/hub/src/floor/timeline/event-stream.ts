import type { TimelineData } from '@polyphony/protocol';
import type { Store, Value } from '../../store/store.ts';
import { isoTime } from '../session-row.ts';
import type { EntryRow } from './entry-row.ts';

/** An entry as Polaris tells events, with what we know beside that. */
export interface FloorEvent {
  readonly id: string;
  readonly seq: number;
  readonly project: string;
  readonly session: string;
  readonly session_id: string;
  readonly timestamp: string;
  readonly received_at: string;
  readonly source: 'hook' | 'inject' | 'reply' | 'floor';
  readonly sender: string;
  readonly kind: string;
  readonly text: string;
  /** What the coding agent handed over, or what is known of it where that is too long to be streamed. */
  readonly payload: unknown;
  readonly truncated?: true;
}

/** As many as fit, at least one, and whether there are more. */
export interface EventPage {
  readonly events: readonly FloorEvent[];
  readonly more: boolean;
}

/** Of one session, or of all sessions of a project, by what never changes. */
export type StreamPlace = { readonly session: string } | { readonly project: string };

/** What is longer is read one by one. */
const longestPayload = 64 * 1024;
/** So many bytes are held for a reader of a stream who may read none of them, and for one who asked for a page. */
const mostStreamed = 256 * 1024;
const mostPaged = 4 * 1024 * 1024;

interface Part {
  readonly where: string;
  readonly values: readonly Value[];
  readonly order: string;
}

type StreamRow = EntryRow & { readonly slug: string; readonly raw: Uint8Array | null };

/** Reads timelines in the order in which they were written: what follows a `seq`, or what stands before it. */
export class EventStream {
  readonly #store: Store;
  readonly #shownAs: (project: string) => string;

  constructor(store: Store, shownAs: (project: string) => string) {
    this.#store = store;
    this.#shownAs = shownAs;
  }

  async head(): Promise<number> {
    const [row] = await this.#store.query<{ readonly last: number | null }>(
      'SELECT max(seq) AS last FROM timeline',
    );
    return row?.last ?? 0;
  }

  after(place: StreamPlace, seq: number, limit: number): Promise<EventPage> {
    const part = { where: 'timeline.seq > ?', values: [seq], order: 'timeline.seq' };
    return this.#read(place, part, limit, mostStreamed);
  }

  /** As they happened, the newest first: before a cursor, or the newest of all. */
  before(
    place: StreamPlace,
    cursor: readonly [occurredAt: number, seq: number] | undefined,
    limit: number,
  ): Promise<EventPage> {
    const where = cursor ? '(timeline.occurred_at, timeline.seq) < (?, ?)' : '1 = 1';
    const part = { where, values: cursor ?? [], order: 'timeline.occurred_at DESC, timeline.seq DESC' };
    return this.#read(place, part, limit, mostPaged);
  }

  async #read(
    place: StreamPlace,
    { where, values, order }: Part,
    limit: number,
    mostBytes: number,
  ): Promise<EventPage> {
    const [column, key] = 'session' in place ? ['session', place.session] : ['project', place.project];
    const among = `FROM timeline JOIN floor_sessions ON floor_sessions.id = timeline.session
      LEFT JOIN captures ON captures.id = timeline.capture
      WHERE timeline.${column} = ? AND ${where} ORDER BY ${order} LIMIT ?`;
    const payload = (then: string): string =>
      `CASE WHEN length(captures.raw) <= ${longestPayload} THEN ${then} END`;
    // What is not sent is not read either: SQLite knows how long something is without reading it.
    const sizes = await this.#store.query<{ readonly size: number }>(
      `SELECT octet_length(timeline.text) + octet_length(timeline.data)
        + coalesce(${payload('length(captures.raw)')}, 0) AS size ${among}`,
      [key, ...values, limit + 1],
    );
    const count = fitting(sizes, limit, mostBytes);
    const rows =
      sizes.length === 0
        ? []
        : await this.#store.query<StreamRow>(
            `SELECT timeline.*, floor_sessions.slug, ${payload('captures.raw')} AS raw ${among}`,
            [key, ...values, count],
          );
    return { events: rows.map((row) => this.#eventOf(row)), more: sizes.length > count };
  }

  #eventOf(row: StreamRow): FloorEvent {
    const payload = row.raw === null ? undefined : parsed(row.raw);
    const data = JSON.parse(row.data) as TimelineData;
    return {
      ...{ id: row.id, seq: row.seq, project: this.#shownAs(row.project), session: row.slug },
      ...{
        session_id: row.session,
        timestamp: isoTime(row.occurred_at),
        received_at: isoTime(row.received_at),
      },
      ...{ source: sourceOf(row), sender: row.sender, kind: row.kind, text: row.text },
      payload: payload ?? { ...data, ...(row.capture === null && { text: row.text }) },
      ...(row.capture !== null && payload === undefined && { truncated: true as const }),
    };
  }
}

/** How many of them fit, at least one. */
function fitting(sizes: readonly { readonly size: number }[], limit: number, mostBytes: number): number {
  let bytes = 0;
  for (const [index, { size }] of sizes.entries()) {
    bytes += size;
    if (index === limit || (bytes > mostBytes && index > 0)) return index;
  }
  return sizes.length;
}

const sources: Readonly<Record<string, FloorEvent['source']>> = { advice: 'inject', reply: 'reply' };

const sourceOf = ({ capture, kind }: EntryRow): FloorEvent['source'] =>
  capture === null ? (sources[kind] ?? 'floor') : 'hook';

function parsed(raw: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8'));
  } catch {
    return undefined; // No JSON; floor:entry shows it as it came.
  }
}
