import { type FloorBinding, type FloorSession, foldName } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Statement, Store } from '../store/store.ts';

/** A session as it is stored. */
export interface SessionRow {
  readonly id: string;
  /** The key of its project. */
  readonly project: string;
  readonly slug: string;
  readonly slug_key: string;
  readonly label: string | null;
  readonly agent: string | null;
  readonly driver: string | null;
  readonly fence: number;
  readonly lease_until: number | null;
  readonly forked_from: string | null;
  readonly resumed_from: string | null;
  readonly prompts: number;
  readonly entries: number;
  readonly active_at: number;
  readonly created_by: string;
  readonly created_at: number;
  readonly archived_at: number | null;
}

/** Which coding agent's conversation feeds a session, from when to when. */
export interface BindingRow {
  readonly id: number;
  readonly session: string;
  readonly pane: string | null;
  readonly vendor: string | null;
  readonly conversation: string | null;
  /** Whose words it brings; that of the coding agent where it is not known. */
  readonly agent: string | null;
  readonly from_at: number;
  readonly until_at: number | null;
  readonly ended_by: 'left' | 'moved' | 'gone' | 'changed' | 'forked' | 'archived' | null;
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Sessions as others see them, each with what feeds it now. */
export async function sessionsOf(
  store: Store,
  rows: readonly SessionRow[],
  shownAs: (project: string) => string,
): Promise<readonly FloorSession[]> {
  if (rows.length === 0) return [];
  const bindings = await store.query<BindingRow>(
    `SELECT * FROM floor_bindings WHERE session IN (${rows.map(() => '?').join(', ')}) AND until_at IS NULL
      ORDER BY id`,
    rows.map(({ id }) => id),
  );
  const bySession = Map.groupBy(bindings, ({ session }) => session);
  return rows.map((row) => sessionOf(row, bySession.get(row.id) ?? [], shownAs(row.project)));
}

export function sessionOf(
  row: SessionRow,
  bindings: readonly Omit<BindingRow, 'id'>[],
  project: string,
): FloorSession {
  return {
    session_id: row.id,
    ...{ slug: row.slug, project, project_key: row.project },
    ...(row.label !== null && { label: row.label }),
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.driver !== null && { driver: row.driver }),
    fence: row.fence,
    ...(row.lease_until !== null && { lease_until: isoTime(row.lease_until) }),
    ...(row.forked_from !== null && { forked_from: row.forked_from }),
    ...(row.resumed_from !== null && { resumed_from: row.resumed_from }),
    bindings: bindings.map(bindingOf),
    ...{ prompts: row.prompts, entries: row.entries },
    last_activity_at: isoTime(row.active_at),
    ...{ created_by: row.created_by, created_at: isoTime(row.created_at) },
    ...(row.archived_at !== null && { archived_at: isoTime(row.archived_at) }),
  };
}

function bindingOf(row: Omit<BindingRow, 'id'>): FloorBinding {
  const { pane, vendor, conversation, agent, from_at, until_at } = row;
  return {
    ...(pane !== null && { pane }),
    ...(vendor !== null && { vendor }),
    ...(conversation !== null && { conversation }),
    ...(agent !== null && { agent }),
    from: isoTime(from_at),
    ...(until_at !== null && { until: isoTime(until_at) }),
  };
}

/** A session that is not there yet; nobody drives it where no driver is said. */
export function newSession(
  { random, clock, seatMs }: { readonly random: Random; readonly clock: Clock; readonly seatMs: number },
  about: Pick<SessionRow, 'project' | 'slug' | 'label' | 'agent' | 'driver' | 'created_by'>,
): SessionRow {
  const now = clock.now();
  return {
    ...{ id: `ses_${random.hex(8)}`, ...about, slug_key: foldName(about.slug) },
    ...{ fence: 1, lease_until: about.driver === null ? null : now + seatMs },
    ...{ forked_from: null, resumed_from: null, prompts: 0, entries: 0 },
    ...{ active_at: now, created_at: now, archived_at: null },
  };
}

/** Fails with `conflict` where its project has one of that name. */
export function insertSession(row: SessionRow): Statement {
  const columns = Object.keys(row) as (keyof SessionRow)[];
  return {
    sql: `INSERT INTO floor_sessions (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT (project, slug_key) DO NOTHING`,
    values: columns.map((name) => row[name]),
    expect: 1,
  };
}
