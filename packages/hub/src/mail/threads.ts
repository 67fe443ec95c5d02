import {
  type MailThread,
  type MailThreadParams,
  type MailThreadResult,
  type MailThreadsParams,
  type MailThreadsResult,
  PolyError,
} from '@polyphony/protocol';
import type { Store } from '../store/store.ts';
import { type Mailbox, matching, type Party } from './mailbox.ts';
import { type MessageRow, messageColumns, messageOf } from './message.ts';

const defaultLimit = 50;
/** What a page holds at most of bodies, beside its newest message. */
const pageBytes = 1024 * 1024;
const excerptCharacters = 200;

/** What is written, by threads, for people: the user sees all of it, everybody else what they have sent or received. */
export class Threads {
  readonly #store: Store;
  readonly #mailbox: Mailbox;
  readonly #user: string;

  constructor(store: Store, mailbox: Mailbox, user: string) {
    this.#store = store;
    this.#mailbox = mailbox;
    this.#user = user;
  }

  async list(
    reader: Party,
    { query, before_event_id = Number.MAX_SAFE_INTEGER, limit = defaultLimit }: MailThreadsParams,
    projects: readonly string[] | undefined,
  ): Promise<MailThreadsResult> {
    const words = query === undefined ? undefined : await matching(this.#store, query);
    const cursor = await this.#mailbox.cursorOf(reader.key);
    const rows = await this.#store.query<ThreadRow>(
      threadsQuery(
        [
          ...(projects ? [`last.project IN (${projects.map(() => '?').join(', ')})`] : []),
          ...(words ? [`last.thread IN (SELECT thread FROM messages WHERE ${words.sql})`] : []),
        ],
        reader.key === this.#user,
      ),
      [
        ...(reader.key === this.#user ? [] : [reader.key, reader.key]),
        ...[reader.key, cursor, before_event_id, ...(projects ?? []), ...(words?.values ?? []), limit + 1],
      ],
    );
    return { threads: rows.slice(0, limit).map(threadOf), has_more: rows.length > limit };
  }

  /** The newest of a thread that fit on one page, each with how far it has got. */
  async read(
    reader: Party,
    { thread_id, before_event_id = Number.MAX_SAFE_INTEGER, limit = defaultLimit }: MailThreadParams,
  ): Promise<MailThreadResult> {
    const own = reader.key === this.#user ? undefined : isParty;
    const rows = await this.#store.query<MessageRow>(
      `SELECT ${messageColumns.join(', ')} FROM messages WHERE thread = ? AND seq < ? ${own ? `AND ${own}` : ''}
        ORDER BY seq DESC LIMIT ?`,
      [thread_id, before_event_id, ...(own ? [reader.key, reader.key] : []), limit + 1],
    );
    if (rows.length === 0 && before_event_id === Number.MAX_SAFE_INTEGER)
      throw new PolyError('not_found', `there is no thread ${thread_id}.`, {
        hint: 'mail:threads lists those that are kept; old mail is forgotten.',
        details: { reason: 'unknown_message' },
      });
    let bytes = 0;
    const fits = rows.slice(0, limit).filter(({ body }, index) => {
      bytes += Buffer.byteLength(body);
      return index === 0 || bytes <= pageBytes;
    });
    const messages = fits.toReversed().map(async (row) => ({
      ...messageOf(row, this.#user),
      ...(await this.#mailbox.status(reader, true, row.id)),
    }));
    return { messages: await Promise.all(messages), has_more: rows.length > fits.length };
  }
}

interface ThreadRow {
  readonly thread: string;
  readonly project: string;
  readonly subject: string | null;
  readonly first_from: string;
  readonly addressed: string;
  readonly messages: number;
  readonly unread: number;
  readonly pending: number;
  readonly failed: number;
  readonly last_id: string;
  readonly last_seq: number;
  readonly last_from: string;
  readonly last_at: number;
  readonly excerpt: string;
}

/** Whether somebody has sent a message, or was sent it. */
const isParty = `(sender = ? OR EXISTS (SELECT 1 FROM deliveries own
  WHERE own.recipient = ? AND own.message = messages.seq))`;

const counted = (condition: string): string =>
  `(SELECT count(*) FROM messages
    JOIN deliveries ON deliveries.message = messages.seq
    LEFT JOIN mailboxes ON mailboxes.recipient = deliveries.recipient
    WHERE messages.thread = last.thread AND ${condition})`;
const isUnread = 'messages.seq > coalesce(mailboxes.read_up_to, 0)';

/**
 * Walks from the newest message back and stops at a page of threads, however many there are. Of somebody who does not
 * see everything, only what is theirs counts, as if there were nothing else.
 */
export const threadsQuery = (conditions: readonly string[] = [], all = true): string =>
  `${all ? '' : `WITH messages AS (SELECT * FROM main.messages AS messages WHERE ${isParty})`} SELECT last.thread, last.project, first.subject, first.from_participant AS first_from, first.addressed,
      (SELECT count(*) FROM messages WHERE messages.thread = last.thread) AS messages,
      ${counted('deliveries.recipient = ? AND messages.seq > ?')} AS unread,
      ${counted(isUnread)} AS pending,
      ${counted(`${isUnread} AND deliveries.state IN ('failed', 'uncertain')`)} AS failed,
      last.id AS last_id, last.seq AS last_seq, last.from_participant AS last_from, last.sent_at AS last_at,
      substr(last.body, 1, ${excerptCharacters}) AS excerpt
    FROM messages AS last
    JOIN messages AS first ON first.seq = (SELECT min(seq) FROM messages WHERE messages.thread = last.thread)
    WHERE last.seq < ?
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.thread = last.thread AND messages.seq > last.seq)
      ${conditions.map((condition) => `AND ${condition}`).join(' ')}
    ORDER BY last.seq DESC LIMIT ?`;

function threadOf(row: ThreadRow): MailThread {
  return {
    thread_id: row.thread,
    project: row.project,
    ...(row.subject !== null && { subject: row.subject }),
    from: row.first_from,
    to: row.addressed,
    messages: row.messages,
    unread: row.unread,
    pending: row.pending,
    failed: row.failed,
    last: {
      message_id: row.last_id,
      event_id: row.last_seq,
      from: row.last_from,
      sent_at: new Date(row.last_at).toISOString(),
      excerpt: row.excerpt,
    },
  };
}
