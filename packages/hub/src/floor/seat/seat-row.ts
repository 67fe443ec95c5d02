import { PolyError } from '@polyphony/protocol';
import type { Lease } from '../../platform/lease.ts';
import { heldAs } from '../../store/leases.ts';
import type { Condition, Statement, Store, Value } from '../../store/store.ts';
import { isoTime, type SessionRow } from '../session-row.ts';

/** A session with who has its seat. */
export interface SeatRow extends SessionRow {
  /** An agent's id, or the digest of a pane's credential; of a person nothing but the participant is needed. */
  readonly driver_key: string | null;
  readonly driver_pane: string | null;
  readonly driver_since: number | null;
}

export const leaseOf = ({ driver, driver_key, fence, lease_until }: SeatRow): Lease => ({
  ...{ holder: driver === null ? null : (driver_key ?? driver), fence, until: lease_until },
});

const sinceOf = ({ driver_since, created_at }: SeatRow): number => driver_since ?? created_at;

export async function readSeat(store: Store, session: string): Promise<SeatRow> {
  const [row] = await store.query<SeatRow>('SELECT * FROM floor_sessions WHERE id = ?', [session]);
  if (row) return row;
  throw new PolyError('not_found', 'that session was deleted meanwhile.', {
    hint: 'poly floor sessions shows what there is.',
  });
}

/** A change of the seat as it was read, and of no other. */
export function changeSeat(
  row: SeatRow,
  set: string,
  values: readonly Value[] = [],
  also: Condition = { sql: '1 = 1', values: [] },
): Statement {
  const same = heldAs({ ...leaseOf(row), holder: row.driver }, { holder: 'driver', fence: 'fence' });
  return {
    sql: `UPDATE floor_sessions SET ${set} WHERE id = ? AND ${same.sql} AND ${also.sql}`,
    values: [...values, row.id, ...same.values, ...also.values],
    expect: 1,
  };
}

export const openSeat =
  'driver = NULL, driver_key = NULL, driver_pane = NULL, driver_since = NULL, lease_until = NULL';

/** Who has a seat, since when and until when, in words. */
export function seatInWords(row: SeatRow, shown: string): string {
  const until = row.lease_until === null ? '' : `, until ${isoTime(row.lease_until)} unless they go on`;
  return `${row.driver} drives ${shown}/${row.slug} since ${isoTime(sinceOf(row))}${until}`;
}

/** What somebody hears who wants the seat, or to type without it. */
export function seatTaken(code: 'conflict' | 'forbidden', row: SeatRow, shown: string): PolyError {
  const { slug, driver, lease_until, fence, id } = row;
  return new PolyError(code, `${seatInWords(row, shown)}.`, {
    hint: `Ask for the seat: poly claim ${slug} --takeover. Say something without it: poly advise ${slug} TEXT. Or wait until it is open.`,
    details: {
      ...{ reason: 'seat_taken', session_id: id, driver, since: isoTime(sinceOf(row)), fence },
      ...(lease_until !== null && { until: isoTime(lease_until) }),
    },
  });
}
