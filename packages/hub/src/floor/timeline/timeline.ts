import {
  type FloorFound,
  type FloorSearchParams,
  type FloorSearchResult,
  type FloorTimelineParams,
  PolyError,
  type TimelineEntry,
  type TimelinePage,
  type WholeEntry,
} from '@polyphony/protocol';
import { StoreError } from '../../store/errors.ts';
import type { Condition, Newest, Store, Value } from '../../store/store.ts';
import type { SessionRow } from '../session-row.ts';
import { type EntryRow, entriesOf } from './entry-row.ts';
import { snippetOf } from './snippet.ts';

export interface TimelineOptions {
  readonly store: Store;
  readonly shownAs: (project: string) => string;
}

const defaultPage = 100;
const defaultFound = 20;
const firstLook = 500;

/**
 * A result stands beside its tool, and alone only where that is missing. `coalesce` keeps SQLite from the index of kinds,
 * in which it would look through all tools of the session for each.
 */
const aloneOnly = `NOT (kind = 'tool_result' AND EXISTS (
  SELECT 1 FROM timeline begun WHERE begun.session = timeline.session AND begun.call = timeline.call
    AND coalesce(begun.kind, '') = 'tool'))`;

type Page = Pick<FloorTimelineParams, 'before' | 'after' | 'kinds' | 'limit'>;

/** What happened in sessions, to be read: by pages, one by one, and by words. */
export class Timeline {
  readonly #options: TimelineOptions;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** The newest entries, or those before or behind a cursor; as they happened, the oldest first. */
  async page({ id }: Pick<SessionRow, 'id'>, params: Page): Promise<TimelinePage> {
    const { store } = this.#options;
    const { before, after, kinds, limit = defaultPage } = params;
    if (before !== undefined && after !== undefined)
      throw new PolyError('invalid_arguments', 'before and after exclude each other.', {
        hint: 'Give next_before of a page to go back, or next_after to go on.',
      });
    const forward = after !== undefined;
    const from = after ?? before;
    const folded = kinds === undefined || !kinds.includes('tool_result');
    const where = [
      'session = ?',
      kinds === undefined ? `kind <> 'other'` : `kind IN (${kinds.map(() => '?').join(', ')})`,
      ...(folded ? [aloneOnly] : []),
      ...(from === undefined ? [] : [`(occurred_at, seq) ${forward ? '>' : '<'} (?, ?)`]),
    ];
    const order = forward ? '' : ' DESC';
    const rows = await store.query<EntryRow>(
      `SELECT * FROM timeline WHERE ${where.join(' AND ')} ORDER BY occurred_at${order}, seq${order} LIMIT ?`,
      [id, ...(kinds ?? []), ...(from === undefined ? [] : from.split('.').map(Number)), limit + 1],
    );
    const found = rows.slice(0, limit);
    const shown = forward ? found : found.toReversed();
    const [first, last] = [shown[0], shown.at(-1)];
    const hasEarlier = forward || rows.length > limit;
    return {
      entries: withoutEchoes(await entriesOf(store, shown, { folded })),
      ...(first && hasEarlier && { next_before: cursorOf(first) }),
      ...(last ? { next_after: cursorOf(last) } : after !== undefined && { next_after: after }),
      last_seq: await this.lastSeq(id),
    };
  }

  /** One entry with what the coding agent handed over, and the session it is in. */
  async entry(id: string): Promise<WholeEntry> {
    const { store } = this.#options;
    const row = await this.find(id);
    const [entry] = await entriesOf(store, [row]);
    const [capture] = await store.query<{ readonly raw: Uint8Array }>(
      'SELECT raw FROM captures WHERE id = ?',
      [row.capture],
    );
    return { ...(entry as TimelineEntry), ...(capture && { payload: payloadOf(capture.raw) }) };
  }

  async find(id: string): Promise<EntryRow> {
    const [row] = await this.#options.store.query<EntryRow>('SELECT * FROM timeline WHERE id = ?', [id]);
    if (row) return row;
    throw new PolyError('not_found', `there is no entry "${id.slice(0, 80)}".`, {
      hint: 'poly floor timeline SESSION shows entries with their ids.',
    });
  }

  async lastSeq(session: string): Promise<number> {
    const [row] = await this.#options.store.query<{ readonly last: number | null }>(
      'SELECT max(seq) AS last FROM timeline WHERE session = ?',
      [session],
    );
    return row?.last ?? 0;
  }

  /** The newest first. What is archived is left out, unless it is asked for by its name. */
  async search(
    { query, sender, kind, tag, before_seq, limit = defaultFound }: FloorSearchParams,
    within: { readonly project?: string | undefined; readonly session?: SessionRow | undefined },
  ): Promise<FloorSearchResult> {
    const { store, shownAs } = this.#options;
    // By the session's own row, so that SQLite begins with what has the words.
    const wanted: readonly (readonly [string, readonly Value[]] | false)[] = [
      within.session ? ['floor_sessions.id = ?', [within.session.id]] : [notArchived, []],
      within.project !== undefined && ['floor_sessions.project = ?', [within.project]],
      sender !== undefined && ['sender = ?', [sender]],
      kind !== undefined && [`coalesce(timeline.kind, '') = ?`, [kind]],
      tag !== undefined && [tagged, [tag]],
    ];
    const kept = wanted.filter((one) => one !== false);
    const where = kept.map(([sql]) => sql).join(' AND ');
    const values = kept.flatMap(([, given]) => given);
    const rows = await this.#newest(query, before_seq, limit + 1, (words) =>
      store.query<EntryRow & { readonly slug: string }>(
        `SELECT timeline.*, slug FROM timeline CROSS JOIN floor_sessions ON floor_sessions.id = session
          WHERE ${words.sql} AND ${where} ORDER BY seq DESC LIMIT ?`,
        [...words.values, ...values, limit + 1],
      ),
    );
    const found = rows.slice(0, limit);
    const entries = await entriesOf(store, found);
    const results = entries.map((entry, index): FloorFound => {
      const { project, slug } = found[index] as (typeof found)[number];
      return { entry, project: shownAs(project), slug, snippet: snippetOf(entry.text, query) };
    });
    return { results, has_more: rows.length > limit };
  }

  /** Looks through ever more of what has the words, until enough of it fits: mostly the newest do. */
  async #newest<T>(
    query: string,
    before: number | undefined,
    enough: number,
    read: (words: Condition) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const [row] = await this.#options.store.query<{ readonly last: number | null }>(
      'SELECT max(seq) AS last FROM timeline',
    );
    for (let count = firstLook; ; count *= 8) {
      const rows = await read(await this.#matching(query, { count, before }));
      if (rows.length >= enough || count >= (row?.last ?? 0)) return rows;
    }
  }

  async #matching(query: string, newest: Newest): Promise<Condition> {
    try {
      return await this.#options.store.matching('timeline_search', query, newest);
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'refused')) throw error;
      throw new PolyError('invalid_arguments', error.message, {
        hint: 'Give at least one word.',
        cause: error,
      });
    }
  }
}

const notArchived = `floor_sessions.archived_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM projects WHERE projects.key = timeline.project AND projects.archived_at IS NOT NULL)`;
const tagged = `EXISTS (SELECT 1 FROM annotations WHERE annotations.kind = 'tag' AND annotations.value = ?
  AND annotations.session = timeline.session AND (annotations.entry IS NULL OR annotations.entry = timeline.id))`;

const cursorOf = ({ occurred_at, seq }: EntryRow): string => `${occurred_at}.${seq}`;

/** Without what an agent said on the way and its answer says again. */
function withoutEchoes(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries.filter((entry, index) => {
    if (entry.kind !== 'said') return true;
    const answer = entries.slice(index + 1).find(({ kind }) => kind === 'answer' || kind === 'prompt');
    return answer?.kind !== 'answer' || !answer.text.includes(entry.text.trim());
  });
}

function payloadOf(raw: Uint8Array): unknown {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text; // No JSON: as it was handed over.
  }
}
