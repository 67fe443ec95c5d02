import type { TimelineData, TimelineKind } from '@polyphony/protocol';
import type { Store, Value } from '../../store/store.ts';
import { type Heard, told } from '../timeline/story.ts';
import { type Like, marksOf } from './likeness.ts';

const atOnce = 1_000;

interface CaptureRow {
  readonly seq: number;
  readonly at: number;
  readonly normalised: string;
}

interface EntryRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: TimelineKind;
  readonly text: string;
  readonly data: string;
}

/** What is known of a conversation: what was captured of it, and what timelines tell without a capture. */
export async function knownOf(store: Store, vendor: string, conversation: string): Promise<readonly Like[]> {
  const known: Like[] = [];
  const captures = 'SELECT seq, occurred_at AS at, normalised FROM captures WHERE session = ? AND agent = ?';
  for await (const { at, normalised } of pages<CaptureRow>(store, captures, [conversation, vendor]))
    known.push({ at, marks: marksOf(told(vendor, JSON.parse(normalised) as Heard)) });
  const entries = `SELECT seq, occurred_at AS at, kind, text, data FROM timeline
    WHERE session IN (SELECT session FROM floor_bindings WHERE conversation = ? AND vendor = ?)
      AND NOT EXISTS (SELECT 1 FROM captures WHERE captures.id = timeline.capture)
      AND coalesce(json_extract(data, '$.conversation'), ?) = ?`;
  const of = [conversation, vendor, conversation, conversation];
  for await (const { at, kind, text, data } of pages<EntryRow>(store, entries, of))
    known.push({ at, marks: marksOf({ kind, text, data: JSON.parse(data) as TimelineData }) });
  return known;
}

/** Row by row, a page at a time. */
export async function* pages<Row extends { readonly seq: number }>(
  store: Store,
  select: string,
  values: readonly Value[],
): AsyncGenerator<Row> {
  let last = 0;
  for (;;) {
    const rows = await store.query<Row>(`${select} AND seq > ? ORDER BY seq LIMIT ${atOnce}`, [
      ...values,
      last,
    ]);
    yield* rows;
    if (rows.length < atOnce) return;
    last = rows.at(-1)?.seq ?? last;
    // Others get their turn.
    await new Promise(setImmediate);
  }
}
