/** What a column may hold. Truth is 0 or 1; text has no NUL, which Postgres cannot keep (JSON text and bytes can). */
export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

/** In the place of a value: the `seq` that an event of the same batch gets, by where it stands among them. */
export interface SeqOf {
  readonly seqOf: number;
}

/** SQL that SQLite and Postgres both understand, with `?` for values: `ON CONFLICT` and `RETURNING` are welcome. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly (Value | SeqOf)[];
  /** The batch fails with `conflict` unless exactly so many rows were changed, or answered by a SELECT. */
  readonly expect?: number | undefined;
}

export interface NewEvent {
  readonly name: string;
  /** Kept as JSON: what JSON leaves out is not there when read. */
  readonly payload: unknown;
  /** The participant who caused it. */
  readonly source: string;
  readonly pane?: string | null;
  /** Milliseconds since 1970, like every time here; only `seq` orders. */
  readonly occurredAt: number;
}

export interface StoredEvent extends NewEvent {
  readonly seq: number;
  readonly pane: string | null;
  readonly receivedAt: number;
}

/** All of it happens, or nothing: first the statements, then the events, then the statements that name a `seq` of theirs. */
export interface Batch {
  readonly statements?: readonly Statement[];
  readonly events?: readonly NewEvent[];
  /** May use the space kept free for retention, start, shutdown and the ends of panes when the disk is full. */
  readonly useReserve?: boolean;
}

export interface StatementResult {
  /** Rows changed, or answered by a SELECT. */
  readonly changes: number;
  /** What `RETURNING` or a SELECT answered. */
  readonly rows: readonly Row[];
}

export interface Committed {
  readonly results: readonly StatementResult[];
  readonly events: readonly StoredEvent[];
}

/** So many rows with the greatest keys. */
export interface Newest {
  readonly count: number;
  /** Only smaller keys. */
  readonly before?: number | undefined;
}

/** Part of a WHERE, with the values of its `?`. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

export interface EventRead {
  /** Only events with a greater `seq`. */
  readonly after: number;
  readonly limit: number;
  /** Exact names, `prefix:*` and `*`; every event when left out. */
  readonly names?: readonly string[];
}

export interface Retention {
  /** Milliseconds; younger events stay. */
  readonly olderThan: number;
  /** So many of the newest events stay, however old. */
  readonly keepAtLeast: number;
}

export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

export interface Gauges {
  readonly dbBytes: number;
  readonly walBytes: number;
  /** Batches that wait for the group before them. */
  readonly queued: number;
  readonly batches: number;
  readonly rows: number;
  /** Transactions so far: each took the batches that had come while the one before it was written. */
  readonly groups: number;
  /** Whether the last group found the disk full. */
  readonly full: boolean;
}

/** The record. Every failure is a `StoreError`; nothing here depends on the database behind it. */
export interface Store extends AsyncDisposable {
  /** Resolves once the batch would survive a power loss. A batch that fails harms no other. */
  commit(batch: Batch): Promise<Committed>;
  /** Reads what is committed by now. Keep it to point reads and bounded pages: SQLite reads on the caller's thread. */
  query<Shape = Row>(sql: string, values?: readonly Value[]): Promise<readonly Shape[]>;
  /**
   * A condition for a `query` on the table of a search index: its row has all these words. Refused without a word. With
   * `newest`, it is also one of so many with the greatest keys, below one that is named: those are found without a look at the rest.
   */
  matching(index: string, words: string, newest?: Newest): Promise<Condition>;
  /** Events in the order of `seq`. */
  events(read: EventRead): Promise<readonly StoredEvent[]>;
  /** The events kept: with none, `first` is `last + 1`. `last` is never reused, whatever was trimmed. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>;
  /** Forgets the oldest events that neither rule keeps; answers how many. */
  trim(retention: Retention): Promise<number>;
  /**
   * Tells the events of each group in the order of `seq`, just before its commits resolve. A read may have seen them
   * already. A listener must not throw: that ends the process.
   */
  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void;
  /** Tells once that no commit will succeed any more, and why; the process should end with an error. */
  onBroken(listener: (why: Error) => void): () => void;
  /** Writes a copy while commits go on; it gets its name only after it was checked. */
  backup(file: string): Promise<Backup>;
  gauges(): Gauges;
  /** Commits what was asked for before, then lets go of everything. */
  close(): Promise<void>;
}
