import type { Clock } from '../../platform/clock.ts';
import type { Statement, Store } from '../../store/store.ts';

const minuteMs = 60_000;

interface SaidRow {
  readonly agent: string;
  readonly project: string;
  readonly at: number;
}

export interface BudgetOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** How much each named agent says in each project, and until when it is not heard. People have no budget. */
export class Budget {
  readonly #options: BudgetOptions;
  /** When each spoke in the last minute, by the clock that never jumps, the oldest first. */
  readonly #said = new Map<string, number[]>();
  /** Those who were told that they said too much. */
  readonly #told = new Set<string>();
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** Knows what was said before the hub was started again. */
  static async load(options: BudgetOptions): Promise<Budget> {
    const { store, clock } = options;
    const budget = new Budget(options);
    const over = { sql: 'DELETE FROM named_said WHERE at <= ?', values: [clock.now() - minuteMs] };
    await store.commit({ statements: [over], useReserve: true });
    const rows = await store.query<SaidRow>('SELECT agent, project, at FROM named_said ORDER BY at');
    // The clock may have been put back meanwhile: nothing was said after now.
    for (const { agent, project, at } of rows)
      budget.#in(placeOf(agent, project)).push(clock.monotonic() - Math.max(0, clock.now() - at));
    return budget;
  }

  /** Counts one, or answers after how many milliseconds it may go on, and whether that is news. */
  take(
    agent: string,
    project: string,
    most: number,
  ): { readonly waitMs: number; readonly isNew: boolean } | undefined {
    const place = placeOf(agent, project);
    const waitMs = this.#waitMs(place, most);
    if (waitMs > 0) {
      const isNew = !this.#told.has(place);
      this.#told.add(place);
      return { waitMs, isNew };
    }
    this.#in(place).push(this.#options.clock.monotonic());
    this.#told.delete(place);
    this.#keep(agent, project);
    return undefined;
  }

  /** Until when somebody with such a budget is not heard, as a time of day. */
  until(agent: string, project: string, most: number): number | undefined {
    const waitMs = this.#waitMs(placeOf(agent, project), most);
    return waitMs > 0 ? Math.round(this.#options.clock.now() + waitMs) : undefined;
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  /** How long until so many are forgotten that one more fits. */
  #waitMs(place: string, most: number): number {
    const said = this.#in(place);
    const last = said[said.length - most];
    return last === undefined ? 0 : last + minuteMs - this.#options.clock.monotonic();
  }

  /** What somebody has said within the last minute. */
  #in(place: string): number[] {
    const since = this.#options.clock.monotonic() - minuteMs;
    const said = (this.#said.get(place) ?? []).filter((at) => at > since);
    this.#said.set(place, said);
    return said;
  }

  /** Nobody waits for it: what it counts is committed with or right after it. */
  #keep(agent: string, project: string): void {
    const { store, clock, onError } = this.#options;
    const now = clock.now();
    const statements: readonly Statement[] = [
      { sql: 'INSERT INTO named_said (agent, project, at) VALUES (?, ?, ?)', values: [agent, project, now] },
      {
        sql: 'DELETE FROM named_said WHERE agent = ? AND project = ? AND at <= ?',
        values: [agent, project, now - minuteMs],
      },
    ];
    this.#writing = store.commit({ statements }).catch(onError);
  }
}

const placeOf = (agent: string, project: string): string => `${agent}\n${project}`;
