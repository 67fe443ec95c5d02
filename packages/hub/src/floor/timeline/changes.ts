import type { FloorChanges, FloorLink, TimelineEntry } from '@polyphony/protocol';
import type { Store, Value } from '../../store/store.ts';
import { isoTime } from '../session-row.ts';
import { type EntryRow, entriesOf } from './entry-row.ts';

/** How much of each kind is told at most: the newest. */
const most = { prompts: 20, open: 10, failures: 10, decisions: 20, files: 50, links: 50 };
/** So many of the newest entries are looked through, and of prompts, to find whose they were. */
const lookBack = 5_000;
const promptsBack = 1_000;
/** So much of a text. */
const longest = 500;

/** When somebody last drove a session, before an entry: their last prompt, or the last time they gave the seat away. */
export async function lastDrove(
  store: Store,
  session: string,
  participant: string,
  before: number = Number.MAX_SAFE_INTEGER,
): Promise<{ readonly seq: number; readonly at: number } | undefined> {
  // What was filled in later tells nothing of who was there.
  const newest = `SELECT * FROM (SELECT seq, occurred_at AS at, sender, json_extract(data, '$.event') AS event
    FROM timeline WHERE session = ? AND kind = ? AND seq < ? AND reconstructed = 0
    ORDER BY seq DESC LIMIT ${promptsBack}) AS newest`;
  const [row] = await store.query<{ readonly seq: number; readonly at: number }>(
    `SELECT seq, at FROM (${newest} UNION ALL ${newest}) AS driving
      WHERE sender = ? AND coalesce(event, '') <> 'floor:claimed' ORDER BY seq DESC LIMIT 1`,
    [session, 'prompt', before, session, 'handoff', before, participant],
  );
  return row;
}

/** What happened in a session behind an entry, in bounded size whatever happened. */
export async function changesSince(
  store: Store,
  session: string,
  since: { readonly seq: number; readonly at?: number | undefined },
): Promise<FloorChanges> {
  const recent: readonly Value[] = [session, Math.max(since.seq, await beforeNewest(store, session))];
  const newest = async (
    where: string,
    limit: number,
    values: readonly Value[] = [],
  ): Promise<readonly TimelineEntry[]> => {
    const rows = await store.query<EntryRow>(
      `SELECT * FROM timeline WHERE session = ? AND seq > ? AND ${where} ORDER BY seq DESC LIMIT ?`,
      [...recent, ...values, limit],
    );
    return (await entriesOf(store, rows.toReversed(), { folded: false })).map(brief);
  };
  // Not by the index of kinds, in which the whole session would be counted.
  const counts = await store.query<{ readonly kind: string; readonly count: number }>(
    `SELECT coalesce(kind, '') AS kind, count(*) AS count FROM timeline
      WHERE session = ? AND seq > ? AND kind <> 'other' GROUP BY coalesce(timeline.kind, '')`,
    recent,
  );
  const drivers = await store.query<{ readonly sender: string }>(
    `SELECT DISTINCT sender FROM timeline WHERE session = ? AND seq > ? AND kind = 'prompt' LIMIT 50`,
    recent,
  );
  const files = await store.query<{ readonly file: string }>(
    `SELECT json_extract(data, '$.file') AS file, max(seq) AS last FROM timeline
      WHERE session = ? AND seq > ? AND kind = 'tool' AND json_extract(data, '$.file') IS NOT NULL
      GROUP BY file ORDER BY last DESC LIMIT ${most.files}`,
    recent,
  );
  const [answer] = await newest(`kind = 'answer'`, 1);
  return {
    session_id: session,
    ...(since.at !== undefined && { since: isoTime(since.at) }),
    drivers: drivers.map(({ sender }) => sender),
    counts: Object.fromEntries(counts.map(({ kind, count }) => [kind, count])),
    prompts: await newest(`kind = 'prompt'`, most.prompts),
    ...(answer && { last_answer: answer }),
    open: await newest(unanswered, most.open),
    failures: await newest(`kind = 'failure'`, most.failures),
    decisions: await newest(decided, most.decisions, [session]),
    files: files.map(({ file }) => file),
    links: await linksSince(store, session, since.at),
  };
}

/** The entry before the newest that are looked through. */
async function beforeNewest(store: Store, session: string): Promise<number> {
  const [row] = await store.query<{ readonly seq: number }>(
    `SELECT seq FROM timeline WHERE session = ? ORDER BY seq DESC LIMIT 1 OFFSET ${lookBack}`,
    [session],
  );
  return row?.seq ?? 0;
}

/** Asked for, and neither answered nor passed over by what was said since. */
const unanswered = `kind = 'asked' AND NOT EXISTS (SELECT 1 FROM timeline later WHERE later.session = timeline.session
  AND later.seq > timeline.seq AND (later.kind IN ('prompt', 'answer', 'interrupt')
    OR (later.call = timeline.call AND later.kind IN ('approved', 'rejected', 'tool_result'))))`;
/** From what is marked to the entries: the other way round each entry would be looked for among all decisions. */
const decided = `seq IN (SELECT marked.seq FROM annotations CROSS JOIN timeline marked ON marked.id = annotations.entry
  WHERE annotations.session = ? AND annotations.kind = 'decision')`;

/** The newest first. */
export async function linksSince(
  store: Store,
  session: string,
  at: number | undefined,
): Promise<readonly FloorLink[]> {
  const rows = await store.query<{
    readonly kind: FloorLink['kind'];
    readonly value: string;
    readonly entry: string;
    readonly seen_at: number;
  }>(
    `SELECT kind, value, entry, seen_at FROM floor_links WHERE session = ? AND seen_at > ?
      ORDER BY seen_at DESC, kind, value LIMIT ${most.links}`,
    [session, at ?? 0],
  );
  return rows.map(({ kind, value, entry, seen_at }) => ({
    ...{ kind, value, entry_id: entry, at: isoTime(seen_at) },
  }));
}

function brief(entry: TimelineEntry): TimelineEntry {
  const { vendor, tool, file, call } = entry.data;
  const data = Object.fromEntries(
    Object.entries({ vendor, tool, file, call }).filter(([, value]) => value !== undefined),
  );
  const text = entry.text.length > longest ? `${entry.text.slice(0, longest).toWellFormed()}…` : entry.text;
  return { ...entry, text, data };
}
