import type { Statement, Store } from '../store/store.ts';

/** What tells whether two captures are one event. */
export interface Sighting {
  readonly id: string;
  /** Which installation of the hooks saw it: their script. */
  readonly origin: string;
  readonly pane: string | null;
  /** Equal for equal events. */
  readonly digest: Uint8Array;
  readonly occurredAt: number;
}

/** Hooks of one event are started together; those of a machine that sleeps in between end late. */
const togetherMs = 60_000;

interface Kept extends Sighting {
  /** The other installations that have told of it. */
  readonly also: Set<string>;
}

/**
 * Of two installations of the hooks, say a plugin's and those of `poly hooks install`, each tells of every event: what
 * the second tells is a twin of what the first told. One installation never tells twice, so that events that are truly
 * equal stay as many as they were. Answers which of these repeats which.
 */
export async function twinsAmong(
  store: Store,
  sightings: readonly Sighting[],
): Promise<ReadonlyMap<string, string>> {
  const twins = new Map<string, string>();
  const origins = [...new Set(sightings.map(({ origin }) => origin))];
  const found = await keptOf(store, sightings, origins);
  if (origins.length <= 1 && found.length === 0) return twins;
  const kept = Map.groupBy(found, keyOf);
  for (const sighting of sightings) {
    const { id, origin, occurredAt } = sighting;
    const key = keyOf(sighting);
    const equal = kept.get(key) ?? [];
    const first = equal.find(
      (one) =>
        one.origin !== origin && !one.also.has(origin) && Math.abs(one.occurredAt - occurredAt) <= togetherMs,
    );
    if (first) {
      first.also.add(origin);
      twins.set(id, first.id);
    } else kept.set(key, [...equal, { ...sighting, also: new Set() }]);
  }
  return twins;
}

const keyOf = ({ pane, digest }: Sighting): string => `${Buffer.from(digest).toString('hex')} ${pane ?? ''}`;

/** What may have told of these before; of a single installation, only what others told. */
async function keptOf(
  store: Store,
  sightings: readonly Sighting[],
  [origin = '', ...others]: readonly string[],
): Promise<readonly Kept[]> {
  if (sightings.length === 0) return [];
  const times = sightings.map(({ occurredAt }) => occurredAt);
  const sql = `SELECT id, origin, pane, digest, occurred_at AS occurredAt,
      (SELECT json_group_array(origin) FROM capture_twins WHERE capture = captures.id) AS also
    FROM captures WHERE digest IN (${sightings.map(() => '?').join(', ')})
      AND (? OR origin <> ?) AND occurred_at BETWEEN ? AND ? ORDER BY seq`;
  const rows = await store.query<Sighting & { readonly also: string }>(sql, [
    ...sightings.map(({ digest }) => digest),
    ...[Number(others.length > 0), origin],
    ...[Math.min(...times) - togetherMs, Math.max(...times) + togetherMs],
  ]);
  return rows.map((row) => ({ ...row, also: new Set(JSON.parse(row.also) as readonly string[]) }));
}

export function insertTwin({ id, origin }: Pick<Sighting, 'id' | 'origin'>, of: string): Statement {
  return {
    sql: 'INSERT INTO capture_twins (id, capture, origin) VALUES (?, ?, ?)',
    values: [id, of, origin],
  };
}
