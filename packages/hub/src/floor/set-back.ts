import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Statement, Value } from '../store/store.ts';

export interface SetBackOptions {
  readonly events: EventLog;
  readonly clock: Clock;
  /** How long a driver who does nothing keeps the seat. */
  readonly seatMs: number;
}

/** Clocks that are kept right are moved by less. */
const jitterMs = 1_000;
/** What is told now happened within this time. */
const justNowMs = 60_000;

/**
 * What stands in the future was written while the clock was ahead. Once that is set back it would be the newest for ever,
 * and what happens now would find no session that is fed already: it happened now at the latest.
 */
export class SetBack {
  readonly #options: SetBackOptions;
  /** The latest that the clock has shown; it may have been ahead before this hub was started. */
  #latest = Number.POSITIVE_INFINITY;

  constructor(options: SetBackOptions) {
    this.#options = options;
  }

  /** To be called before something is written that happened at these times. */
  async look(times: readonly number[] = []): Promise<void> {
    const { clock, events, seatMs } = this.#options;
    const now = clock.now();
    const isSetBack = now < this.#latest - jitterMs;
    this.#latest = isSetBack ? now : Math.max(now, this.#latest);
    if (!isSetBack) return;
    const at = Math.floor(Math.min(now, ...times.filter((time) => time > now - justNowMs)));
    await events.append([], putInto(at, at + seatMs));
  }
}

function putInto(at: number, leasesUntil: number): readonly Statement[] {
  const atMost = (table: string, column: string, most: number = at, among = ''): Statement => ({
    sql: `UPDATE ${table} SET ${column} = ? WHERE ${column} > ?${among}`,
    values: [most, most, ...(among === '' ? [] : [at])] satisfies readonly Value[],
  });
  return [
    // By the sessions that had something happen then: the timeline has no order of its own by time.
    atMost(
      'timeline',
      'occurred_at',
      at,
      ' AND session IN (SELECT id FROM floor_sessions WHERE active_at > ?)',
    ),
    atMost('floor_sessions', 'active_at'),
    atMost('floor_sessions', 'driver_since'),
    atMost('floor_sessions', 'lease_until', leasesUntil),
    atMost('floor_bindings', 'from_at'),
    atMost('floor_bindings', 'until_at'),
  ];
}
