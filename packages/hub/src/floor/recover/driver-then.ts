import type { Store } from '../../store/store.ts';
import type { SessionRow } from '../session-row.ts';

interface Change {
  readonly at: number;
  readonly event: string;
  readonly driver: string | null;
  readonly before: string | null;
}

/** After these nobody has the seat. */
const opens: ReadonlySet<string> = new Set(['floor:released', 'floor:expired']);

/** Who drove a session at a moment, by what its timeline tells of the seat. */
export async function driverThen(
  store: Store,
  { id, driver }: Pick<SessionRow, 'id' | 'driver'>,
): Promise<(at: number) => string | null> {
  const changes = await store.query<Change>(
    `SELECT occurred_at AS at, coalesce(json_extract(data, '$.event'), '') AS event,
      json_extract(data, '$.driver') AS driver, json_extract(data, '$.before') AS before
      FROM timeline WHERE session = ? AND kind = 'handoff' ORDER BY seq`,
    [id],
  );
  return (at) => {
    const last = changes.findLast((change) => change.at <= at);
    if (last) return opens.has(last.event) ? null : last.driver;
    const [first] = changes;
    if (!first) return driver;
    return opens.has(first.event) ? first.driver : first.before;
  };
}
