import type { TimelineData, TimelineEntry, TimelineKind } from '@polyphony/protocol';
import type { Store } from '../../store/store.ts';
import { isoTime } from '../session-row.ts';

/** An entry as it is stored. */
export interface EntryRow {
  readonly seq: number;
  readonly id: string;
  readonly session: string;
  readonly project: string;
  readonly kind: TimelineKind;
  readonly sender: string;
  readonly occurred_at: number;
  readonly received_at: number;
  readonly capture: string | null;
  readonly call: string | null;
  readonly text: string;
  readonly data: string;
  readonly reconstructed: number;
}

interface Mark {
  readonly entry: string;
  readonly kind: 'star' | 'tag' | 'decision';
  readonly value: string | null;
}

const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

/** Entries as others see them, each with its annotations; tools have their results where these are wanted. */
export async function entriesOf(
  store: Store,
  rows: readonly EntryRow[],
  { folded = true }: { readonly folded?: boolean } = {},
): Promise<readonly TimelineEntry[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const put = await store.query<Mark>(
    `SELECT entry, kind, value FROM annotations WHERE entry IN (${marks(ids)}) ORDER BY seq`,
    ids,
  );
  const byEntry = Map.groupBy(put, ({ entry }) => entry);
  const results = folded ? await resultsOf(store, rows) : new Map<string, EntryRow>();
  return rows.map((row) =>
    entryOf(row, byEntry.get(row.id) ?? [], row.kind === 'tool' ? results.get(placeOf(row)) : undefined),
  );
}

async function resultsOf(store: Store, rows: readonly EntryRow[]): Promise<ReadonlyMap<string, EntryRow>> {
  const tools = rows.filter(({ kind, call }) => kind === 'tool' && call !== null);
  const results = new Map<string, EntryRow>();
  for (const [session, group] of Map.groupBy(tools, (row) => row.session)) {
    const calls = group.map(({ call }) => call);
    // Neither sorted nor by its kind alone, so that SQLite goes by the call and not through the whole session.
    const found = await store.query<EntryRow>(
      `SELECT * FROM timeline WHERE session = ? AND call IN (${marks(calls)}) AND coalesce(kind, '') = 'tool_result'`,
      [session, ...calls],
    );
    for (const row of found) results.set(placeOf(row), row);
  }
  return results;
}

const placeOf = ({ session, call }: EntryRow): string => `${session} ${call}`;

function entryOf(row: EntryRow, put: readonly Mark[], result: EntryRow | undefined): TimelineEntry {
  const tags = put.flatMap(({ kind, value }) => (kind === 'tag' && value !== null ? [value] : []));
  const decision = put.findLast(({ kind }) => kind === 'decision');
  return {
    ...{ entry_id: row.id, seq: row.seq, session_id: row.session, kind: row.kind, sender: row.sender },
    ...{ at: isoTime(row.occurred_at), received_at: isoTime(row.received_at), text: row.text },
    data: JSON.parse(row.data) as TimelineData,
    ...(result && { result: resultOf(result) }),
    ...(put.some(({ kind }) => kind === 'star') && { starred: true as const }),
    ...(tags.length > 0 && { tags }),
    ...(decision && { decision: decision.value ?? row.text }),
    ...(row.reconstructed === 1 && { reconstructed: true as const }),
  };
}

function resultOf({ id, text, data, occurred_at }: EntryRow): NonNullable<TimelineEntry['result']> {
  const { error } = JSON.parse(data) as TimelineData;
  return { entry_id: id, text, at: isoTime(occurred_at), ...(error !== undefined && { error }) };
}
