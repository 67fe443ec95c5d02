import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { Letter, Mailbox, Party, Sender } from './mailbox.ts';

export interface UnreadAlertsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailbox: Mailbox;
  readonly hub: Sender;
  readonly partyOf: (key: string) => Party;
  readonly alertMs: number;
}

interface Due {
  readonly id: number;
  readonly recipient: string;
  readonly message_id: string;
  readonly sender: string;
  readonly project: string;
  readonly subject: string | null;
}

/** A clock that jumps is looked at again after this. */
const longestMs = 60_000;
const most = 100;

/** Tells a sender once that a message that wants an answer was not read. What is due stands in the outbox, and outlives the hub. */
export class UnreadAlerts {
  readonly #options: UnreadAlertsOptions;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: UnreadAlertsOptions) {
    this.#options = options;
    this.#stopListening = options.events.listen((events) => {
      if (!this.#timer && events.some(({ event, payload }) => event === 'mail:sent' && needsReply(payload)))
        this.#wait(options.alertMs);
    });
    this.#wait(0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #wait(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#running = this.#work().catch((error: unknown) => {
          this.#options.log.error('senders could not be told of unread mail', { error });
          this.#wait(longestMs);
        });
      },
      Math.min(ms, longestMs),
    ).unref();
  }

  async #work(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const [next] = await store.query<{ readonly due: number | null }>(
      `SELECT min(due_at) AS due FROM outbox WHERE kind = 'unread-alert'`,
    );
    this.#timer = undefined;
    if (typeof next?.due !== 'number') return;
    if (next.due > now) return this.#wait(next.due - now);
    // What was read is nobody's worry, and neither is what was forgotten.
    const settled = {
      sql: `DELETE FROM outbox WHERE kind = 'unread-alert' AND due_at <= ? AND (
        EXISTS (SELECT 1 FROM mailboxes WHERE mailboxes.recipient = outbox.recipient AND read_up_to >= outbox.message)
        OR NOT EXISTS (SELECT 1 FROM messages WHERE messages.seq = outbox.message))`,
      values: [now],
    };
    await store.commit({ statements: [settled] });
    const rows = await store.query<Due>(
      `SELECT outbox.id, outbox.recipient, messages.id AS message_id, sender, project, subject
        FROM outbox JOIN messages ON messages.seq = outbox.message
        WHERE outbox.kind = 'unread-alert' AND due_at <= ? ORDER BY due_at LIMIT ?`,
      [now, most],
    );
    for (const row of rows) if (!this.#closed) await this.#tell(row);
    this.#wait(0);
  }

  async #tell({ id, recipient, message_id, sender, project, subject }: Due): Promise<void> {
    const { mailbox, events, hub, partyOf } = this.#options;
    const to = partyOf(sender);
    const about = subject === null ? '' : ` (${subject})`;
    const letter: Letter = {
      kind: 'notice',
      project,
      addressed: to.name,
      recipients: [to],
      need_reply: false,
      subject: 'Not read yet',
      body: `${partyOf(recipient).name} has not read ${message_id}${about} yet. It is kept, and you are told this once. poly mail status ${message_id} shows how far it has got.`,
    };
    // The row goes with the commit that tells: whatever happens, it is told once.
    const taken = { sql: 'DELETE FROM outbox WHERE id = ?', values: [id], expect: 1 };
    await mailbox.send(hub, letter, ({ statements = [], drafts = [] }) =>
      events.append(drafts, [taken, ...statements]),
    );
  }
}

const needsReply = (payload: unknown): boolean => (payload as { readonly needReply: boolean }).needReply;
