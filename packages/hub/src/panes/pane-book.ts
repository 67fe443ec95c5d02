import { PolyError } from '@polyphony/protocol';
import type { AppendOptions, Draft, EventLog } from '../events/event-log.ts';
import { Turns } from '../platform/turns.ts';
import type { Statement, Store } from '../store/store.ts';
import type { PaneRecord } from './pane-record.ts';

/** Every pane, in memory and on the disk. Changes of one pane happen one after the other. */
export class PaneBook {
  readonly #events: EventLog;
  readonly #records: Map<string, PaneRecord>;
  readonly #turns = new Turns();
  readonly #listeners = new Set<(record: PaneRecord) => void>();

  constructor(events: EventLog, records: readonly PaneRecord[]) {
    this.#events = events;
    this.#records = new Map(records.map((record) => [record.id, record]));
  }

  static async load(store: Store, events: EventLog): Promise<PaneBook> {
    const rows = await store.query<{ readonly record: string }>(
      'SELECT record FROM panes ORDER BY created_at, id',
    );
    return new PaneBook(
      events,
      rows.map(({ record }) => JSON.parse(record) as PaneRecord),
    );
  }

  list(): readonly PaneRecord[] {
    return [...this.#records.values()];
  }

  find(id: string): PaneRecord | undefined {
    return this.#records.get(id);
  }

  get(id: string): PaneRecord {
    const record = this.#records.get(id);
    if (record) return record;
    throw new PolyError('not_found', `there is no pane "${id}".`, { hint: 'poly ls shows every pane.' });
  }

  /** Holds all changes of one pane back until the work is done. */
  exclusive<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(id, work);
  }

  /** Keeps a record, new or changed, together with the events that tell of it. */
  async put(record: PaneRecord, drafts: readonly Draft[] = [], options: AppendOptions = {}): Promise<void> {
    const put: Statement = {
      sql: `INSERT INTO panes (id, record, created_at) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET record = excluded.record`,
      values: [record.id, JSON.stringify(record), record.createdAt],
    };
    await this.#events.append(drafts, [put], options);
    this.#records.set(record.id, record);
    for (const listener of this.#listeners) listener(record);
  }

  onChange(listener: (record: PaneRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets a record, together with the events that tell of it. */
  async remove(id: string, drafts: readonly Draft[]): Promise<void> {
    const forget: Statement = { sql: 'DELETE FROM panes WHERE id = ?', values: [id] };
    await this.#events.append(drafts, [forget], { onFullDisk: true });
    this.#records.delete(id);
  }
}
