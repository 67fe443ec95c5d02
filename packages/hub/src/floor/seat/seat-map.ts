import type { EventLog } from '../../events/event-log.ts';
import type { Store } from '../../store/store.ts';
import type { SeatRow } from './seat-row.ts';

type FedRow = SeatRow & { readonly pane: string };

/** Which session each pane feeds now and who has its seat, in memory: every key that is typed asks here. */
export class SeatMap {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #changed = new Set<() => void>();
  #panes: ReadonlyMap<string, SeatRow> = new Map();
  /** Where the agent of each session is. */
  #places: ReadonlyMap<string, string> = new Map();
  #reading: Promise<void> | undefined;
  #isStale = false;

  private constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  static async open(store: Store, events: EventLog, onError: (error: unknown) => void): Promise<SeatMap> {
    const map = new SeatMap(store, onError);
    await map.#read();
    // What is told is on the disk, and whoever did it has no answer yet.
    events.listen((batch) => {
      if (batch.some(({ event }) => event.startsWith('floor:') || event.startsWith('project:')))
        map.#refresh();
    });
    return map;
  }

  /** Settles when everything that was told so far is known here. */
  async current(): Promise<void> {
    while (this.#reading) await this.#reading;
  }

  /** The panes that feed a session. */
  panes(): readonly string[] {
    return [...this.#panes.keys()];
  }

  in(pane: string): SeatRow | undefined {
    return this.#panes.get(pane);
  }

  /** The pane whose agent feeds a session; of several that which joined last. */
  paneOf(session: string): string | undefined {
    return this.#places.get(session);
  }

  /** Told when panes feed other sessions, or seats have changed. */
  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  #refresh(): void {
    this.#isStale = true;
    this.#reading ??= this.#readUntilCurrent().finally(() => {
      this.#reading = undefined;
      for (const listener of this.#changed) listener();
    });
  }

  async #readUntilCurrent(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      await this.#read().catch(this.#onError);
    }
  }

  async #read(): Promise<void> {
    const rows = await this.#store.query<FedRow>(
      `SELECT s.*, b.pane AS pane FROM floor_bindings b JOIN floor_sessions s ON s.id = b.session
        WHERE b.until_at IS NULL AND b.pane IS NOT NULL ORDER BY b.id`,
    );
    this.#panes = new Map(rows.map((row) => [row.pane, row]));
    this.#places = new Map(rows.map((row) => [row.id, row.pane]));
  }
}
