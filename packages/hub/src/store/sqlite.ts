import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import type { Clock } from './backup.ts';
import { cachingPrepare, lastSeq, openReader } from './connection.ts';
import { type Failure, failureOf, StoreError } from './errors.ts';
import {
  columnsOf,
  type EventColumns,
  type EventRow,
  eventFrom,
  eventOf,
  filterOf,
  refuseValues,
} from './event-rows.ts';
import { type Migration, migrations, type SearchIndex, searchIndexes } from './migrations.ts';
import { noteSuspicion, type Opened, prepareFile } from './prepare.ts';
import { matchingIn } from './search-index.ts';
import { isSeqOf } from './seq-of.ts';
import type {
  Backup,
  Batch,
  Committed,
  Condition,
  EventRead,
  Gauges,
  Newest,
  Retention,
  Row,
  Store,
  StoredEvent,
  Value,
} from './store.ts';
import type { FromWriter, Job, JobAnswer, ToWriter } from './thread.ts';
import type { GroupBatch, Outcome } from './writer.ts';

export interface SqliteOptions {
  readonly file: string;
  readonly clock?: Clock;
  readonly migrations?: readonly Migration[];
  /** What the store's threads run; a bundle names its own copy of `thread.ts`. */
  readonly thread?: URL;
  /** What may be kept of a value: asked for each that is written. */
  readonly hide?: (value: Value) => Value;
}

/** Bounds how long the first batch of a group waits for the others to be written: to a few milliseconds. */
const groupRows = 400;
/** So many events are looked at before others get their turn on this thread. */
const eventWindow = 5000;

const ownThread = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);

/** Opens the record of a hub; `opened` of the answer says whether something had to be restored. */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const { file, clock = Date, thread = ownThread } = options;
  const { migrations: steps = migrations, hide = (value) => value } = options;
  const opened = prepareFile(file, steps, clock);
  const searches = searchIndexes(steps);
  const job: Job = { kind: 'write', file, searches: [...searches.values()] };
  const writer = new Worker(thread, { workerData: job });
  await answerOf(writer);
  return new SqliteStore(file, clock, thread, opened, writer, searches, hide);
}

interface Pending {
  readonly batch: GroupBatch;
  readonly rows: number;
  readonly promise: Promise<Committed>;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: StoreError) => void;
}

/** Reads on this thread, writes on another: what comes while a group is written becomes the next group. */
export class SqliteStore implements Store {
  readonly opened: Opened;
  readonly #file: string;
  readonly #clock: Clock;
  readonly #thread: URL;
  readonly #searches: ReadonlyMap<string, SearchIndex>;
  readonly #hide: (value: Value) => Value;
  readonly #writer: Worker;
  readonly #reader: Database.Database;
  readonly #prepare: (sql: string) => Database.Statement;
  readonly #commitListeners = new Set<(events: readonly StoredEvent[]) => void>();
  readonly #brokenListeners = new Set<(why: Error) => void>();
  readonly #jobs = new Set<Promise<unknown>>();
  #queue: Pending[] = [];
  #writing: readonly Pending[] = [];
  #flushPlanned = false;
  #closing: Promise<void> | undefined;
  #broken: StoreError | undefined;
  /** Who waits until everything is in the indexes of words, and how many groups were written before that was so. */
  #learners: (() => void)[] = [];
  #learned = -1;
  #counts = { batches: 0, rows: 0, groups: 0, full: false };

  constructor(
    file: string,
    clock: Clock,
    thread: URL,
    opened: Opened,
    writer: Worker,
    searches: ReadonlyMap<string, SearchIndex>,
    hide: (value: Value) => Value,
  ) {
    this.opened = opened;
    this.#file = file;
    this.#clock = clock;
    this.#thread = thread;
    this.#searches = searches;
    this.#hide = hide;
    this.#reader = openReader(file);
    this.#prepare = cachingPrepare(this.#reader);
    this.#writer = writer;
    writer.on('message', (said: FromWriter) => {
      if (said !== 'learned') return this.#settle(said);
      for (const learner of this.#learners.splice(0)) learner();
    });
    writer.on('error', (error) => this.#break({ code: 'broken', message: `The writer failed: ${error}.` }));
    writer.on('exit', (code) => {
      if (!this.#closing) this.#break({ code: 'broken', message: `The writer ended with code ${code}.` });
    });
    if (opened.state === 'opened' && !opened.checked) void this.#check();
  }

  async commit(batch: Batch): Promise<Committed> {
    const stopped = this.#broken ?? (this.#closing && closed());
    if (stopped) throw stopped;
    const { events = [], useReserve = false } = batch;
    const statements = (batch.statements ?? []).map(({ sql, values = [], expect }) => ({
      sql,
      values: values.map((value) => (isSeqOf(value) ? value : this.#hide(value))),
      expect,
    }));
    for (const { values } of statements) refuseValues(values.filter((value) => !isSeqOf(value)) as Value[]);
    const receivedAt = this.#clock.now();
    const columns = events.map((event): EventColumns => {
      const [name, payload, ...about] = columnsOf(event, receivedAt);
      return [name, String(this.#hide(payload)), ...about];
    });
    for (const values of columns) refuseValues(values);
    const { promise, resolve, reject } = Promise.withResolvers<Committed>();
    const rows = statements.length + events.length;
    this.#queue.push({ batch: { statements, events: columns, useReserve }, rows, promise, resolve, reject });
    this.#planFlush();
    return promise;
  }

  async query<Shape = Row>(sql: string, values: readonly Value[] = []): Promise<readonly Shape[]> {
    refuseValues(values);
    return this.#read(() => this.#prepare(sql).all(values) as Shape[], `The query (${sql}) failed`);
  }

  async matching(index: string, words: string, newest?: Newest): Promise<Condition> {
    const found = this.#searches.get(index);
    if (!found) throw new StoreError({ code: 'refused', message: `There is no search index "${index}".` });
    const condition = matchingIn(found, words, newest);
    const { groups } = this.#counts;
    if (this.#learned < groups && !this.#broken && !this.#closing) {
      const learned = new Promise<void>((resolve) => this.#learners.push(resolve));
      this.#tell('learn');
      await learned;
      this.#learned = Math.max(this.#learned, groups);
    }
    return condition;
  }

  async events({ after, limit, names = ['*'] }: EventRead): Promise<readonly StoredEvent[]> {
    const filter = filterOf(names);
    const found: StoredEvent[] = [];
    let from = this.#firstFrom(after + 1);
    while (from !== null && found.length < limit) {
      const rows = await this.query<EventRow>(
        `SELECT * FROM events WHERE seq >= ? AND seq < ? AND (${filter.sql}) ORDER BY seq LIMIT ?`,
        [from, from + eventWindow, ...filter.values, limit - found.length],
      );
      found.push(...rows.map(eventOf));
      from = this.#firstFrom(from + eventWindow);
      if (from !== null && found.length < limit) await new Promise(setImmediate);
    }
    return found;
  }

  async bounds(): Promise<{ readonly first: number; readonly last: number }> {
    const last = this.#read(() => lastSeq(this.#reader));
    return { first: this.#firstFrom(0) ?? last + 1, last };
  }

  async trim({ olderThan, keepAtLeast }: Retention): Promise<number> {
    const before = this.#clock.now() - olderThan;
    // The writer's thread counts, since that takes a while.
    const count = { sql: 'SELECT count(*) AS count FROM events' };
    const { results } = await this.commit({ statements: [count], useReserve: true });
    let spare = Number(results[0]?.rows[0]?.count) - keepAtLeast;
    for (let trimmed = 0; ; ) {
      const oldest = await this.query<{ seq: number; received_at: number }>(
        'SELECT seq, received_at FROM events ORDER BY seq LIMIT ?',
        [Math.max(0, Math.min(spare, 500))],
      );
      const young = oldest.findIndex(({ received_at }) => received_at >= before);
      const last = oldest.at(young < 0 ? -1 : young - 1);
      if (!last || young === 0) return trimmed;
      const sql = 'DELETE FROM events WHERE seq <= ?';
      const deleted = await this.commit({ statements: [{ sql, values: [last.seq] }], useReserve: true });
      const changes = deleted.results[0]?.changes ?? 0;
      trimmed += changes;
      spare -= changes;
    }
  }

  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void {
    this.#commitListeners.add(listener);
    return () => void this.#commitListeners.delete(listener);
  }

  onBroken(listener: (why: Error) => void): () => void {
    if (this.#broken) queueMicrotask(() => listener(this.#broken as StoreError));
    else this.#brokenListeners.add(listener);
    return () => void this.#brokenListeners.delete(listener);
  }

  async backup(file: string): Promise<Backup> {
    try {
      return (await this.#run({ kind: 'backup', file: this.#file, to: file })) as Backup;
    } catch (error) {
      if (failureOf(error).code === 'corrupt') await this.#check(); // Is it the copy, or the record itself?
      throw error;
    }
  }

  gauges(): Gauges {
    const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const queued = this.#queue.length;
    return { ...this.#counts, queued, dbBytes: sizeOf(this.#file), walBytes: sizeOf(`${this.#file}-wal`) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #finish(): Promise<void> {
    await Promise.allSettled([...this.#writing, ...this.#queue].map(({ promise }) => promise));
    await Promise.allSettled(this.#jobs);
    this.#reader.close(); // The last to close is the writer, which leaves no log behind.
    if (this.#broken) return void (await this.#writer.terminate());
    this.#tell(null);
    await once(this.#writer, 'exit');
  }

  /** Waits for the end of the event loop's turn, so that what comes in one turn shares a group. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#writing.length > 0) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#broken) return;
    let [end, rows] = [0, 0];
    for (const pending of this.#queue) {
      rows += pending.rows;
      if (rows > groupRows && end > 0) break;
      end += 1;
    }
    this.#writing = this.#queue.splice(0, end);
    this.#tell(this.#writing.map(({ batch }) => batch));
  }

  #tell(what: ToWriter): void {
    this.#writer.postMessage(what);
  }

  #settle(outcomes: readonly Outcome[]): void {
    const group = this.#writing;
    this.#writing = [];
    const settled = group.map((pending, i) => settlementOf(pending, outcomes[i] as Outcome));
    const failures = settled.flatMap(({ failure }) => failure ?? []);
    const events = settled.flatMap(({ committed }) => committed?.events ?? []);
    this.#counts.groups += 1;
    this.#counts.batches += group.length;
    this.#counts.rows += group.reduce((sum, { rows }) => sum + rows, 0);
    this.#counts.full = failures.some(({ code }) => code === 'full');
    try {
      if (events.length > 0) for (const listener of this.#commitListeners) listener(events);
    } finally {
      for (const { settle } of settled) settle();
      const fatal = failures.find(({ code }) => code === 'broken' || code === 'corrupt');
      if (fatal) this.#break(fatal);
      else if (this.#queue.length > 0) this.#planFlush();
    }
  }

  #firstFrom(seq: number): number | null {
    const sql = 'SELECT min(seq) AS first FROM events WHERE seq >= ?';
    return this.#read(() => (this.#prepare(sql).get(seq) as { first: number | null }).first);
  }

  #read<Result>(read: () => Result, what?: string): Result {
    if (!this.#reader.open) throw closed();
    try {
      return read();
    } catch (error) {
      const failure = failureOf(error, what);
      if (failure.code === 'broken' || failure.code === 'corrupt') this.#break(failure);
      throw new StoreError(failure, { cause: error });
    }
  }

  async #check(): Promise<void> {
    const said = await this.#run({ kind: 'check', file: this.#file }).catch(
      (error: StoreError) => error.message,
    );
    if (said !== 'ok') this.#break({ code: 'corrupt', message: `${this.#file} is damaged: ${said}.` });
  }

  #run(job: Job): Promise<unknown> {
    const answer = answerOf(new Worker(this.#thread, { workerData: job }));
    this.#jobs.add(answer);
    return answer.finally(() => this.#jobs.delete(answer));
  }

  #break({ code, message }: Failure): void {
    if (this.#broken) return;
    if (code === 'corrupt') noteSuspicion(this.#file, message);
    const broken = new StoreError({ code: 'broken', message: `Nothing can be stored any more. ${message}` });
    this.#broken = broken;
    const lost = [...this.#writing, ...this.#queue];
    this.#writing = [];
    this.#queue = [];
    for (const { reject } of lost) reject(broken);
    for (const learner of this.#learners.splice(0)) learner();
    for (const listener of this.#brokenListeners) listener(broken);
  }
}

/** The one answer of a thread, or why there is none. */
async function answerOf(thread: Worker): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<JobAnswer>();
  const failed = (why: unknown): void =>
    reject(new StoreError({ code: 'broken', message: `A thread of the store ended: ${why}.` }));
  thread.once('message', resolve).once('error', failed).once('exit', failed);
  try {
    const answer = await promise;
    if ('failure' in answer) throw new StoreError(answer.failure);
    return answer.answer;
  } finally {
    thread.off('error', failed).off('exit', failed);
  }
}

function settlementOf({ batch, resolve, reject }: Pending, outcome: Outcome): Settlement {
  if ('failure' in outcome) {
    return { failure: outcome.failure, settle: () => reject(new StoreError(outcome.failure)) };
  }
  const events = batch.events.map((columns, i) => eventFrom(outcome.seqs[i] as number, columns));
  const committed: Committed = { results: outcome.results, events };
  return { committed, settle: () => resolve(committed) };
}

interface Settlement {
  readonly committed?: Committed;
  readonly failure?: Failure;
  readonly settle: () => void;
}

const closed = (): StoreError => new StoreError({ code: 'closed', message: 'The store is closed.' });
