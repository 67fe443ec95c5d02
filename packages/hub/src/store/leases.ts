import type { Clock } from '../platform/clock.ts';
import { DueTimer } from '../platform/due-timer.ts';
import type { Lease } from '../platform/lease.ts';
import { isConflict } from './errors.ts';
import type { Condition, Store, Value } from './store.ts';

/** Where a table keeps who holds its rows. */
interface LeaseColumns {
  readonly table: string;
  /** Which of its rows are held; all where nothing is said. */
  readonly held?: string;
  readonly holder: string;
  /** The pane with whose end it ends, or null. */
  readonly pane: string;
  readonly until: string;
  /** In what order they end; `seq` where nothing is said. */
  readonly order?: string;
}

export interface LeasesOptions<Row> extends LeaseColumns {
  readonly store: Store;
  readonly clock: Clock;
  /** Writes that a row is no longer held. Where it has changed since it was read that fails with `conflict`. */
  readonly end: (row: Row, reason: LeaseEnd) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Why nobody holds it any more: its time has come, or who held it is gone. */
export type LeaseEnd = 'lease' | 'gone';

/** Somebody who is gone for good: the program of a pane, or whoever goes by a key. */
export type Departure = { readonly pane: string } | { readonly key: string };

/** Ends what is held by rows of a table with its time, and with who holds it. */
export class Leases<Row> {
  readonly #options: LeasesOptions<Row>;
  readonly #timer: DueTimer;

  constructor(options: LeasesOptions<Row>) {
    this.#options = options;
    const { store, clock, onError, table, held = '1 = 1', until } = options;
    this.#timer = new DueTimer({
      ...{ clock, onError },
      next: async () => {
        const [row] = await store.query<{ readonly next: number | null }>(
          `SELECT min(${until}) AS next FROM ${table} WHERE ${held}`,
        );
        return row?.next ?? null;
      },
      due: () => this.#endAll('lease', `${until} <= ?`, [clock.now()]),
    });
  }

  /** Lets leases run out from now on; those of panes that ended meanwhile at once. */
  async start(isGone: (pane: string, holder: string) => boolean): Promise<void> {
    const { store, table, held = '1 = 1', holder, pane } = this.#options;
    const holders = await store.query<{ readonly holder: string; readonly pane: string }>(
      `SELECT DISTINCT ${holder} AS holder, ${pane} AS pane FROM ${table} WHERE ${held} AND ${pane} IS NOT NULL`,
    );
    for (const one of holders)
      if (isGone(one.pane, one.holder))
        await this.#endAll('gone', `${pane} = ? AND ${holder} = ?`, [one.pane, one.holder]);
    this.#timer.plan();
  }

  /** Looks when the next one runs out; to be called after each that was taken or kept. */
  plan(): void {
    this.#timer.plan();
  }

  /** Ends what somebody held who is gone. */
  leave(departure: Departure): Promise<void> {
    const { holder, pane } = this.#options;
    return 'pane' in departure
      ? this.#endAll('gone', `${pane} = ?`, [departure.pane])
      : this.#endAll('gone', `${holder} = ?`, [departure.key]);
  }

  /** Ends what a row holds, unless somebody has changed it meanwhile. */
  async end(row: Row, reason: LeaseEnd): Promise<void> {
    try {
      await this.#options.end(row, reason);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  close(): Promise<void> {
    return this.#timer.close();
  }

  async #endAll(reason: LeaseEnd, where: string, values: readonly Value[]): Promise<void> {
    const { store, table, held = '1 = 1', order = 'seq' } = this.#options;
    const rows = await store.query<Row>(
      `SELECT * FROM ${table} WHERE ${held} AND ${where} ORDER BY ${order}`,
      values,
    );
    for (const row of rows) await this.end(row, reason);
  }
}

/** That a row is still held as it was read. */
export function heldAs(
  { holder, fence }: Lease,
  columns: { readonly holder: string; readonly fence: string },
): Condition {
  return holder === null
    ? { sql: `${columns.holder} IS NULL AND ${columns.fence} = ?`, values: [fence] }
    : { sql: `${columns.holder} = ? AND ${columns.fence} = ?`, values: [holder, fence] };
}
