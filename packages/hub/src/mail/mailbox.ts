import {
  type Asking,
  type DeliveryState,
  type MailInboxParams,
  type MailInboxResult,
  type MailMessage,
  type MailSearchParams,
  type MailSearchResult,
  type MailSendResult,
  type MailStatusResult,
  type Participant,
  PolyError,
} from '@polyphony/protocol';
import { draft, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Commit } from '../registry/registry.ts';
import { isConflict, StoreError } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';
import { hopsAfter, type PairLimit } from './limits.ts';
import { type MessageRow, messageColumns, messageOf } from './message.ts';
import { lastSeqQuery } from './retention.ts';

/** Whose mailbox it is: an agent's id, a person's participant id, or the hub, which only writes. */
export interface Party {
  readonly key: string;
  readonly name: string;
}

export interface Sender extends Party {
  readonly participant: Participant | 'hub';
  readonly isAgent: boolean;
  /** Who causes the events. */
  readonly source: Source;
}

export interface Letter extends Asking {
  readonly kind: MailMessage['kind'];
  readonly project: string;
  /** Whom it was addressed to, in words. */
  readonly addressed: string;
  readonly recipients: readonly Party[];
}

export interface MailboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly limit: PairLimit;
  /** The person this hub belongs to, who sees everything. */
  readonly user: string;
  /** After how long a message that wants an answer and stays unread is told of. */
  readonly unreadAlertMs: number;
  readonly nameOf: (recipient: string) => string;
  /** What was done about a message so far, for all who are to get it. */
  readonly stepsOf?: StepsOf;
  /** How a message is with somebody from the moment it is sent, where nothing has to be done about it. */
  readonly settledFor?: SettledFor;
  /** What else is true once somebody has read up to here; committed with it. */
  readonly onRead?: (recipient: string, upTo: number, at: number) => readonly Statement[];
}

/** What whoever delivers knows before anything is tried, and writes down with the message. */
export type SettledFor = (recipient: string, message: number, at: number) => Settled | undefined;

interface Settled {
  readonly state: DeliveryState;
  readonly door: string | null;
  readonly reason: string;
  readonly also: readonly Statement[];
}

/** Whoever delivers writes down each step; this noun only tells of them. */
export type StepsOf = (seq: number) => Promise<
  readonly {
    readonly recipient: string;
    readonly at: number;
    readonly state: DeliveryState;
    readonly door: string | null;
    readonly reason: string | null;
  }[]
>;

/** What a page holds at most of bodies, beside its first message. */
const pageBytes = 1024 * 1024;
const defaultLimit = 50;

/** Messages, one delivery for each recipient, and how far each has read. */
export class Mailbox {
  readonly #options: MailboxOptions;
  #lastSeq: number;

  private constructor(options: MailboxOptions, lastSeq: number) {
    this.#options = options;
    this.#lastSeq = lastSeq;
  }

  static async open(options: MailboxOptions): Promise<Mailbox> {
    const [row] = await options.store.query<{ readonly last: number }>(lastSeqQuery);
    return new Mailbox(options, row?.last ?? 0);
  }

  /** The last number given out: it orders messages and is never used again, also when they are forgotten. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Writes a message, its deliveries, what is to be done about each, and that it was sent, in one commit. */
  async send(sender: Sender, letter: Letter, commit: Commit): Promise<MailSendResult> {
    const { clock, random, limit, settledFor = () => undefined } = this.#options;
    const { recipients, kind, need_reply = kind === 'direct', auto_poke = true } = letter;
    const parent = await this.#parentOf(sender, letter);
    const hops = hopsAfter(parent, sender.isAgent);
    if (sender.isAgent) limit.take(sender.key, recipients);
    const id = `msg_${random.hex(8)}`;
    const thread = letter.thread_id ?? parent?.thread ?? id;
    const now = clock.now();
    // Taken without an await before the commit: whatever has a greater number is committed later.
    const seq = ++this.#lastSeq;
    const settled = new Map(
      recipients.map(({ key }) => [key, auto_poke ? settledFor(key, seq, now) : asleep]),
    );
    const result: MailSendResult = {
      message_id: id,
      event_id: seq,
      thread_id: thread,
      recipients: recipients.map(({ key }) => key),
      deliveries: recipients.map(({ key, name }) => ({
        ...{ agent_id: key, name },
        state: settled.get(key)?.state ?? 'queued',
      })),
      poked: false,
      retry_scheduled: recipients.some(({ key }) => !settled.get(key)),
    };
    const row: MessageRow = {
      ...{ seq, id, thread, hops, kind },
      sender: sender.key,
      from_participant: sender.participant,
      project: letter.project,
      addressed: letter.addressed,
      reply_to: letter.reply_to ?? null,
      importance: letter.importance ?? 'normal',
      need_reply: Number(need_reply),
      subject: letter.subject ?? null,
      body: letter.body,
      sent_at: now,
    };
    const alert = need_reply ? recipients.map(({ key }) => this.#alertOf(seq, key, now)) : [];
    await commit({
      statements: [
        insertMessage(row),
        ...recipients.flatMap(({ key }) => delivery(seq, key, now, settled.get(key))),
        ...alert,
      ],
      drafts: [
        draft(sender.source, 'mail:sent', {
          ...{ messageId: id, eventId: seq, project: letter.project, needReply: need_reply },
          from: sender.participant,
          recipients: result.recipients,
          settled: result.recipients.filter((key) => settled.get(key)),
        }),
      ],
      result,
    });
    return result;
  }

  /** Reads on and moves the cursor in one step, so that of two who read at once each message reaches one. */
  async read(
    reader: Party,
    source: Source,
    params: MailInboxParams,
    commit: Commit,
  ): Promise<MailInboxResult> {
    const looks = params.peek || params.since_event_id !== undefined || params.thread_id !== undefined;
    const { clock, onRead = () => [] } = this.#options;
    for (;;) {
      const cursor = await this.cursorOf(reader.key);
      const after = params.since_event_id ?? (params.thread_id === undefined ? cursor : 0);
      const page = await this.#page(reader, after, params);
      const upTo = page.last_event_id;
      if (looks || upTo === cursor) return page;
      try {
        await commit({
          statements: [moveCursor(reader.key, cursor, upTo), ...onRead(reader.key, upTo, clock.now())],
          drafts: [draft(source, 'mail:read', { recipient: reader.key, upTo })],
          result: page,
        });
        return page;
      } catch (error) {
        // Somebody else has read meanwhile.
        if (!isConflict(error)) throw error;
      }
    }
  }

  async search(reader: Party, { query, limit = defaultLimit }: MailSearchParams): Promise<MailSearchResult> {
    const { store, user } = this.#options;
    const { sql, values } = await matching(store, query);
    const rows = await store.query<MessageRow>(
      `SELECT ${messageColumns.join(', ')} FROM messages WHERE ${sql} AND (sender = ? OR EXISTS (
        SELECT 1 FROM deliveries WHERE deliveries.recipient = ? AND deliveries.message = messages.seq
      )) ORDER BY seq DESC LIMIT ?`,
      [...values, reader.key, reader.key, limit + 1],
    );
    return {
      messages: rows.slice(0, limit).map((row) => messageOf(row, user)),
      has_more: rows.length > limit,
    };
  }

  /** How far a message has got; for its sender alone, and for the user. */
  async status(asker: Party, seesAll: boolean, messageId: string): Promise<MailStatusResult> {
    const { store, nameOf, stepsOf = async () => [] } = this.#options;
    const message = await this.#find(messageId);
    if (!message || !(seesAll || message.sender === asker.key))
      throw new PolyError('not_found', `there is no message ${messageId} of yours.`, {
        hint: 'Only who sent a message hears how far it has got: give the message_id that sending answered.',
        details: { reason: 'unknown_message' },
      });
    const rows = await store.query<DeliveryRow>(
      `SELECT deliveries.*, coalesce(mailboxes.read_up_to, 0) AS read_up_to FROM deliveries
        LEFT JOIN mailboxes ON mailboxes.recipient = deliveries.recipient
        WHERE message = ? ORDER BY deliveries.recipient`,
      [message.seq],
    );
    const steps = await stepsOf(message.seq);
    return {
      message_id: message.id,
      event_id: message.seq,
      sent_at: new Date(message.sent_at).toISOString(),
      statuses: rows.map((row) => ({
        agent_id: row.recipient,
        name: nameOf(row.recipient),
        state: row.state,
        read: row.read_up_to >= message.seq,
        ...(row.door !== null && { door: row.door }),
        ...(row.reason !== null && { reason: row.reason }),
        attempts: row.attempts,
        ...(row.next_at !== null && { next_attempt_at: new Date(row.next_at).toISOString() }),
        updated_at: new Date(row.updated_at).toISOString(),
        steps: steps
          .filter(({ recipient }) => recipient === row.recipient)
          .map(({ at, state, door, reason }) => ({
            ...{ at: new Date(at).toISOString(), state },
            ...(door !== null && { door }),
            ...(reason !== null && { reason }),
          })),
      })),
    };
  }

  /** Moves the cursor of somebody who has read elsewhere than in the inbox; never back. */
  async seen(reader: Sender, upTo: number, commit: Commit): Promise<{ readonly unread: number }> {
    if (upTo > this.#lastSeq)
      throw new PolyError('invalid_arguments', `there is no message ${upTo} yet.`, {
        hint: `The last one is ${this.#lastSeq}.`,
      });
    const result = { unread: await this.unreadOf(reader.key, upTo) };
    if (upTo > (await this.cursorOf(reader.key)))
      await commit({
        statements: [moveCursorOn(reader.key, upTo)],
        drafts: [draft(reader.source, 'mail:read', { recipient: reader.key, upTo })],
        result,
      });
    return result;
  }

  /** A message that somebody has sent or received; people see them all. */
  async messageOf(reader: Pick<Sender, 'key' | 'isAgent'>, id: string): Promise<MessageRow> {
    return (await this.#parentOf(reader, { reply_to: id })) as MessageRow;
  }

  async cursorOf(recipient: string): Promise<number> {
    const [row] = await this.#options.store.query<{ readonly read_up_to: number }>(
      'SELECT read_up_to FROM mailboxes WHERE recipient = ?',
      [recipient],
    );
    return row?.read_up_to ?? 0;
  }

  async unreadOf(recipient: string, after = 0): Promise<number> {
    const [row] = await this.#options.store.query<{ readonly count: number }>(
      'SELECT count(*) AS count FROM deliveries WHERE recipient = ? AND message > ?',
      [recipient, Math.max(after, await this.cursorOf(recipient))],
    );
    return row?.count ?? 0;
  }

  async #page(
    reader: Party,
    after: number,
    { limit = defaultLimit, thread_id, max_bytes = pageBytes }: MailInboxParams,
  ): Promise<MailInboxResult> {
    const inThread = thread_id === undefined ? '' : 'AND thread = ?';
    const rows = await this.#options.store.query<MessageRow>(inboxQuery(inThread), [
      reader.key,
      after,
      ...(thread_id === undefined ? [] : [thread_id]),
      limit + 1,
    ]);
    let bytes = 0;
    const fits = rows.slice(0, limit).filter(({ body }, index) => {
      bytes += Buffer.byteLength(body);
      return index === 0 || bytes <= max_bytes;
    });
    return {
      messages: fits.map((row) => messageOf(row, this.#options.user)),
      has_more: rows.length > fits.length,
      last_event_id: fits.at(-1)?.seq ?? after,
    };
  }

  /** The message that is answered, if this sender has written or received it; the user sees them all. */
  async #parentOf(
    { key }: Pick<Sender, 'key'>,
    { reply_to, thread_id }: Pick<Letter, 'reply_to' | 'thread_id'>,
  ): Promise<MessageRow | undefined> {
    const answered = reply_to ?? thread_id;
    if (answered === undefined) return undefined;
    const row = await this.#find(answered);
    const mine =
      row &&
      (key === this.#options.user ||
        row.sender === key ||
        (
          await this.#options.store.query(
            'SELECT 1 AS mine FROM deliveries WHERE recipient = ? AND message = ?',
            [key, row.seq],
          )
        ).length > 0);
    if (row && mine) return row;
    throw new PolyError('not_found', `there is no message ${answered} that you have sent or received.`, {
      hint: 'Give the message_id of a message in your inbox, or leave it out.',
      details: { reason: 'unknown_message' },
    });
  }

  async #find(id: string): Promise<MessageRow | undefined> {
    const [row] = await this.#options.store.query<MessageRow>(
      `SELECT ${messageColumns.join(', ')} FROM messages WHERE id = ?`,
      [id],
    );
    return row;
  }

  #alertOf(seq: number, recipient: string, now: number): Statement {
    return outbox('unread-alert', seq, recipient, now + this.#options.unreadAlertMs);
  }
}

interface DeliveryRow {
  readonly recipient: string;
  readonly state: DeliveryState;
  readonly door: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly next_at: number | null;
  readonly updated_at: number;
  readonly read_up_to: number;
}

/** Looks only at what came behind the cursor: at the tail that is one probe of the primary key. */
export const inboxQuery = (more = ''): string =>
  `SELECT ${messageColumns.map((name) => `messages.${name}`).join(', ')} FROM deliveries
    CROSS JOIN messages ON messages.seq = deliveries.message
    WHERE deliveries.recipient = ? AND deliveries.message > ? ${more}
    ORDER BY deliveries.message LIMIT ?`;

const messageInsert = `INSERT INTO messages (${messageColumns.join(', ')}) VALUES (${messageColumns.map(() => '?').join(', ')})`;

const insertMessage = (row: MessageRow): Statement => ({
  sql: messageInsert,
  values: messageColumns.map((name) => row[name]),
});

/** Of a message for which nobody is to be woken. */
const asleep: Settled = { state: 'queued', door: null, reason: 'auto_poke_disabled', also: [] };

/** The delivery to one recipient and, unless it is settled, the note that it has to be made. */
function delivery(
  seq: number,
  recipient: string,
  now: number,
  settled: Settled | undefined,
): readonly Statement[] {
  const { state, door, reason } = settled ?? { state: 'queued', door: null, reason: null };
  const made: Statement = {
    sql: 'INSERT INTO deliveries (recipient, message, state, door, reason, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
    values: [recipient, seq, state, door, reason, now],
  };
  return [made, ...(settled?.also ?? [outbox('delivery', seq, recipient, now)])];
}

/** What is still to be done about a message, and from when on; whoever does it takes the row away with the commit that says so. */
function outbox(kind: 'delivery' | 'unread-alert', seq: number, recipient: string, due: number): Statement {
  return {
    sql: 'INSERT INTO outbox (kind, message, recipient, due_at) VALUES (?, ?, ?, ?)',
    values: [kind, seq, recipient, due],
  };
}

const moveCursor = (recipient: string, from: number, upTo: number): Statement => ({
  sql: `INSERT INTO mailboxes (recipient, read_up_to) VALUES (?, ?)
    ON CONFLICT (recipient) DO UPDATE SET read_up_to = excluded.read_up_to WHERE mailboxes.read_up_to = ?`,
  values: [recipient, upTo, from],
  expect: 1,
});

const moveCursorOn = (recipient: string, upTo: number): Statement => ({
  sql: `INSERT INTO mailboxes (recipient, read_up_to) VALUES (?, ?)
    ON CONFLICT (recipient) DO UPDATE SET read_up_to = max(read_up_to, excluded.read_up_to)`,
  values: [recipient, upTo],
});

/** The condition that some words are in a message; throws where there is none. */
export async function matching(store: Store, words: string): ReturnType<Store['matching']> {
  try {
    return await store.matching('messages_search', words);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'refused')) throw error;
    throw new PolyError('invalid_arguments', error.message, {
      hint: 'Give at least one word.',
      cause: error,
    });
  }
}
