import type Database from 'better-sqlite3';
import { cachingPrepare, openWriter } from './connection.ts';
import { type Failure, failureOf, StoreError } from './errors.ts';
import type { EventColumns } from './event-rows.ts';
import type { SearchIndex } from './migrations.ts';
import { Reserve } from './reserve.ts';
import { type Learning, learningOf } from './search-index.ts';
import { namesSeq, withSeqs } from './seq-of.ts';
import type { Batch, Row, Statement, StatementResult } from './store.ts';

export interface GroupBatch extends Pick<Batch, 'useReserve'> {
  readonly statements: readonly Statement[];
  readonly events: readonly EventColumns[];
}

export type Outcome =
  | { readonly results: readonly StatementResult[]; readonly seqs: readonly number[] }
  | { readonly failure: Failure };

const insertEvent =
  'INSERT INTO events (name, payload, source, pane, occurred_at, received_at) VALUES (?, ?, ?, ?, ?, ?)';
const checkpointFrames = 1000;
const pagesGivenBack = 2000;
/** Whoever wants to write waits for so many rows at the most. */
const learnedAtOnce = 200;

/** Writes groups of batches, each group with one sync of the disk. */
export class GroupWriter {
  readonly #db: Database.Database;
  readonly #prepare: (sql: string) => Database.Statement;
  readonly #reserve: Reserve;
  readonly #learning: readonly Learning[];
  #broken: Failure | undefined;
  #shrink = false;

  constructor(file: string, searches: readonly SearchIndex[]) {
    this.#db = openWriter(file);
    this.#learning = searches.map((index) => learningOf(index, learnedAtOnce));
    // What a savepoint keeps of pages; as a file it would be made and removed with each batch.
    this.#db.pragma('temp_store = MEMORY');
    this.#prepare = cachingPrepare(this.#db);
    this.#reserve = new Reserve(file);
    this.#reserve.hold();
  }

  /** What became of each batch. Whatever did not fail is on the disk when this returns. */
  commit(group: readonly GroupBatch[]): readonly Outcome[] {
    if (group.length > 1 && this.#reserve.hold()) {
      for (const write of [this.#write, this.#savepoint]) {
        try {
          return this.#transaction(group, write);
        } catch (error) {
          const failure = failureOf(error);
          if (failure.code === 'busy') return group.map(() => ({ failure }));
          // One batch took the whole transaction with it: each is kept apart, then tried alone, and its failure told.
        }
      }
    }
    return group.map((batch) => this.#alone(batch));
  }

  /** Moves what was written from the log into the file when it is much, and gives the space of deleted rows back. */
  tidy(): void {
    try {
      if (this.#broken) return;
      if (this.#shrink) this.#db.exec(`PRAGMA incremental_vacuum(${pagesGivenBack})`);
      const frames = this.#prepare('PRAGMA wal_checkpoint(NOOP)').get() as {
        log: number;
        checkpointed: number;
      };
      const many = frames.log - frames.checkpointed >= checkpointFrames;
      if (many || this.#shrink) this.#prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
      this.#shrink = false;
    } catch (error) {
      this.#notice(failureOf(error)); // A full disk is no harm: the log keeps what cannot be moved yet.
    }
  }

  /** Takes some of what was written into the indexes of words; answers whether more is to be taken. */
  learn(): boolean {
    try {
      for (const { next, learn, mark } of this.#learning) {
        const { key } = this.#prepare(next).get() as { readonly key: number | null };
        if (key === null || this.#broken || !this.#reserve.hold()) continue;
        const statements = [learn, mark].map((sql) => ({ sql, values: [key] }));
        this.#transaction([{ statements, events: [] }], this.#write);
        return true;
      }
    } catch (error) {
      this.#notice(failureOf(error)); // On a full disk what is new is not found by its words until there is space.
    }
    return false;
  }

  close(): void {
    this.#db.close();
  }

  #alone(batch: GroupBatch): Outcome {
    try {
      // Without the reserve, ordinary batches would use up the space that it left to retention.
      if (!this.#reserve.hold() && !batch.useReserve) {
        return { failure: { code: 'full', message: 'The disk is full: not even the reserve fits on it.' } };
      }
      return this.#transaction([batch], this.#write)[0] as Outcome;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code !== 'full' || !batch.useReserve || !this.#reserve.release()) return { failure };
      return this.#alone(batch);
    }
  }

  /** Throws when the transaction as a whole cannot be. */
  #transaction(group: readonly GroupBatch[], write: (batch: GroupBatch) => Outcome): readonly Outcome[] {
    if (this.#broken) throw new StoreError(this.#broken);
    try {
      this.#prepare('BEGIN IMMEDIATE').run();
      const outcomes = group.map(write);
      this.#prepare('COMMIT').run();
      this.#shrink ||= group.some(({ useReserve }) => useReserve);
      return outcomes;
    } catch (error) {
      this.#notice(failureOf(error));
      if (this.#db.inTransaction && !this.#broken) this.#prepare('ROLLBACK').run();
      throw error;
    }
  }

  /** Throws when it fails, and leaves what it has written by then to whoever ends the transaction. */
  readonly #write = ({ statements, events }: GroupBatch): Outcome => {
    const results: StatementResult[] = [];
    const late: number[] = [];
    for (const [index, statement] of statements.entries()) {
      if (namesSeq(statement)) late.push(index);
      else results[index] = this.#run(statement, index);
    }
    const insert = this.#prepare(insertEvent);
    const seqs = events.map((columns) => Number(insert.run(columns).lastInsertRowid));
    for (const index of late)
      results[index] = this.#run(withSeqs(statements[index] as Statement, seqs), index);
    return { results, seqs };
  };

  /**
   * A batch that fails takes back what it has written and no other's. SQLite copies each page for that, and the index
   * of words is written to the disk once a batch: only a group in which one has failed is worth it.
   */
  readonly #savepoint = (batch: GroupBatch): Outcome => {
    this.#prepare('SAVEPOINT batch').run();
    try {
      const outcome = this.#write(batch);
      this.#prepare('RELEASE batch').run();
      return outcome;
    } catch (error) {
      const failure = failureOf(error);
      if (!this.#db.inTransaction || (failure.code !== 'refused' && failure.code !== 'conflict')) throw error;
      this.#prepare('ROLLBACK TO batch').run();
      this.#prepare('RELEASE batch').run();
      return { failure };
    }
  };

  #run({ sql, values = [], expect }: Statement, index: number): StatementResult {
    let result: StatementResult;
    try {
      const statement = this.#prepare(sql);
      const rows = statement.reader ? (statement.all(values) as Row[]) : [];
      result = { rows, changes: statement.reader ? rows.length : statement.run(values).changes };
    } catch (error) {
      throw new StoreError(failureOf(error, `Statement ${index} (${sql}) failed`, index), { cause: error });
    }
    if (expect === undefined || result.changes === expect) return result;
    throw new StoreError({
      code: 'conflict',
      message: `Statement ${index} (${sql}) changed ${result.changes} rows instead of ${expect}.`,
      statement: index,
    });
  }

  /** After such an error nobody knows what is on the disk, so that nothing may be promised any more. */
  #notice(failure: Failure): void {
    if (failure.code === 'broken' || failure.code === 'corrupt') this.#broken ??= failure;
  }
}
