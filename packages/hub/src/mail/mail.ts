import { type Participant, PolyError } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import type { Caller } from '../registry/caller.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { Statement, Store } from '../store/store.ts';
import { Addresses } from './addresses.ts';
import { AgentBook } from './agent-book.ts';
import { callerOf } from './agent-record.ts';
import { Identity } from './identity.ts';
import { PairLimit } from './limits.ts';
import { type Letter, Mailbox, type MailboxOptions, type Sender, type StepsOf } from './mailbox.ts';
import { type PaneLiveness, Presence } from './presence.ts';
import { Receipts } from './receipts.ts';
import { Retention } from './retention.ts';
import { Threads } from './threads.ts';
import { UnreadAlerts } from './unread-alerts.ts';

export interface MailOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly user: Participant;
  readonly unreadAlertMs: number;
  readonly paneLiveness: PaneLiveness;
  readonly folderOfPane: (pane: string) => string | undefined;
  readonly stepsOf: StepsOf;
  readonly onRead: NonNullable<MailboxOptions['onRead']>;
}

/** Everything mail consists of. */
export interface Mail {
  readonly book: AgentBook;
  readonly presence: Presence;
  readonly identity: Identity;
  readonly addresses: Addresses;
  readonly mailbox: Mailbox;
  readonly receipts: Receipts;
  readonly threads: Threads;
  readonly retention: Retention;
  /** What a connection can show to another hub to be the same agent again; nothing for who is none. */
  passOf(caller: Caller): string | undefined;
  /** Who showed a pass, whatever credential the connection was opened with; throws where it is not ours. */
  readPass(pass: string, by: Caller, ended: AbortSignal): Caller;
  /** A notice of the hub to one agent, in one commit with whatever must be true together with it. */
  tell(
    agent: string,
    notice: Pick<Letter, 'subject' | 'body'>,
    statements: readonly Statement[],
  ): Promise<void>;
  close(): Promise<void>;
}

export async function openMail(options: MailOptions): Promise<Mail> {
  const { store, events, credentials, clock, random, log, user } = options;
  const book = await AgentBook.load(store);
  const presence = new Presence(options.paneLiveness);
  const mailbox = await Mailbox.open({
    ...{ store, clock, random },
    limit: new PairLimit(clock),
    unreadAlertMs: options.unreadAlertMs,
    nameOf: (key) => book.get(key)?.name ?? key,
    stepsOf: options.stepsOf,
    onRead: options.onRead,
  });
  const identity = new Identity({
    ...{ book, presence, clock, random },
    rememberAgent: (hash, caller) => credentials.rememberAgent(hash, caller),
    folderOfPane: options.folderOfPane,
    unreadOf: (recipient) => mailbox.unreadOf(recipient),
  });
  const addresses = new Addresses({ book, identity, user });
  const hub: Sender = {
    key: 'hub',
    name: 'hub',
    participant: 'hub',
    isAgent: false,
    source: { participant: user },
  };
  const alerts = new UnreadAlerts({
    ...{ store, events, clock, log, mailbox, hub },
    partyOf: (key) => addresses.partyOf(key),
    alertMs: options.unreadAlertMs,
  });
  return {
    ...{ book, presence, identity, addresses, mailbox },
    receipts: new Receipts(events, mailbox),
    threads: new Threads(store, mailbox),
    retention: await Retention.open({ store, events, clock, log, hub: hub.source }),
    passOf: ({ agent }) => agent && credentials.sign(`${agent.id}.${agent.generation}`),
    readPass(pass, by, ended) {
      const [id = '', generation] = credentials.signed(pass)?.split('.') ?? [];
      const record = book.get(id);
      if (!record)
        throw new PolyError('unauthenticated', 'that pass is not of this hub.', { hint: 'Connect again.' });
      // One that was taken over meanwhile hears why at its next call.
      if (record.generation === Number(generation)) presence.join(record, ended);
      return callerOf({ ...record, generation: Number(generation) }, by);
    },
    async tell(agent, notice, together) {
      const record = book.get(agent);
      if (!record) return;
      const to = addresses.partyOf(agent);
      const about = {
        kind: 'notice',
        project: record.project,
        addressed: to.name,
        recipients: [to],
      } as const;
      await mailbox.send(
        hub,
        { ...notice, ...about, need_reply: false },
        ({ statements = [], drafts = [] }) => events.append(drafts, [...together, ...statements]),
      );
    },
    close: () => alerts.close(),
  };
}
