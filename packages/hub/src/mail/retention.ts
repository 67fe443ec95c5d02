import type { MailRetention } from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Statement, Store } from '../store/store.ts';

export interface RetentionOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly hub: Source;
}

const dayMs = 24 * 3_600_000;
/** What everybody has read is kept for a month, what somebody has not for three. */
const keptMs = { read: 30 * dayMs, unread: 90 * dayMs };
const most = 200;

const report = 'retention';

/** Forgets old mail, and keeps what it did, so that people can see it. */
export class Retention {
  readonly #options: RetentionOptions;
  #last: MailRetention | null;

  private constructor(options: RetentionOptions, last: MailRetention | null) {
    this.#options = options;
    this.#last = last;
  }

  static async open(options: RetentionOptions): Promise<Retention> {
    const [row] = await options.store.query<{ readonly value: string }>(
      'SELECT value FROM mail_facts WHERE name = ?',
      [report],
    );
    return new Retention(options, row ? (JSON.parse(row.value) as MailRetention) : null);
  }

  /** What was done last, also where it failed. */
  get last(): MailRetention | null {
    return this.#last;
  }

  get problem(): string | undefined {
    return this.#last?.error;
  }

  async run(): Promise<MailRetention> {
    const { clock, store, log } = this.#options;
    const at = new Date(clock.now()).toISOString();
    const done = { messages: 0, deliveries: 0, unread: 0 };
    try {
      while (await this.#forgetSome(done));
      this.#last = { at, ...done };
    } catch (error) {
      log.error('old mail could not be forgotten', { error });
      this.#last = { at, ...done, error: error instanceof Error ? error.message : String(error) };
    }
    const kept = keepFact(report, JSON.stringify(this.#last));
    await store
      .commit({ statements: [kept], useReserve: true })
      .catch((error: unknown) => log.error('what was forgotten could not be noted', { error }));
    return this.#last;
  }

  /** A few messages, with what hangs on them first; answers whether there may be more. */
  async #forgetSome(done: { messages: number; deliveries: number; unread: number }): Promise<boolean> {
    const { store, events, clock, hub } = this.#options;
    const now = clock.now();
    const old = await store.query<{ readonly seq: number; readonly unread: number }>(
      `SELECT seq, unread FROM (
        SELECT messages.seq, sent_at, (
          SELECT count(*) FROM deliveries LEFT JOIN mailboxes ON mailboxes.recipient = deliveries.recipient
          WHERE deliveries.message = messages.seq AND deliveries.message > coalesce(read_up_to, 0)
        ) AS unread FROM messages WHERE sent_at < ? AND seq < ?
      ) AS aged WHERE unread = 0 OR sent_at < ? ORDER BY seq LIMIT ?`,
      [now - keptMs.read, await this.#firstYoung(now - keptMs.read), now - keptMs.unread, most],
    );
    if (old.length === 0) return false;
    const seqs = old.map(({ seq }) => seq);
    const these = `IN (${seqs.map(() => '?').join(', ')})`;
    const last = await this.#lastSeq();
    const unread = old.reduce((sum, row) => sum + row.unread, 0);
    const { results } = await events.append(
      [draft(hub, 'mail:forgotten', { messages: old.length, unread })],
      [
        {
          sql: `DELETE FROM outbox WHERE (kind, recipient, message) IN (
            SELECT kinds.kind, recipient, message FROM deliveries
            CROSS JOIN (SELECT 'delivery' AS kind UNION ALL SELECT 'unread-alert') AS kinds WHERE message ${these})`,
          values: seqs,
        },
        { sql: `DELETE FROM deliveries WHERE message ${these}`, values: seqs },
        { sql: `DELETE FROM delivery_steps WHERE message ${these}`, values: seqs },
        { sql: `DELETE FROM messages WHERE seq ${these}`, values: seqs },
        // A number is never given out again, also when no message is left.
        keepFact('last_seq', String(last)),
      ],
      { onFullDisk: true },
    );
    done.messages += results[3]?.changes ?? 0;
    done.deliveries += results[1]?.changes ?? 0;
    done.unread += unread;
    return old.length === most;
  }

  /** Messages are aged in the order of their numbers, so that a look at the first ones is enough. */
  async #firstYoung(since: number): Promise<number> {
    const [young] = await this.#options.store.query<{ readonly seq: number }>(
      'SELECT seq FROM messages WHERE sent_at >= ? ORDER BY seq LIMIT 1',
      [since],
    );
    return young?.seq ?? Number.MAX_SAFE_INTEGER;
  }

  async #lastSeq(): Promise<number> {
    const [row] = await this.#options.store.query<{ readonly last: number }>(lastSeqQuery);
    return row?.last ?? 0;
  }
}

/** The greatest number ever given to a message that was committed. */
export const lastSeqQuery = `SELECT max(seq) AS last FROM (
  SELECT coalesce(max(seq), 0) AS seq FROM messages
  UNION ALL SELECT CAST(value AS INTEGER) FROM mail_facts WHERE name = 'last_seq'
) AS seqs`;

function keepFact(name: string, value: string): Statement {
  return {
    sql: 'INSERT INTO mail_facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    values: [name, value],
  };
}
