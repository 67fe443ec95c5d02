import { type Participant, PolyError } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import type { Connection } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import type { Statement, Store } from '../store/store.ts';
import { Addresses } from './addresses.ts';
import { AgentBook } from './agent-book.ts';
import { callerOf, participantOfAgent } from './agent-record.ts';
import { type HostedIn, Identity } from './identity.ts';
import { PairLimit } from './limits.ts';
import {
  type Letter,
  Mailbox,
  type MailboxOptions,
  type Sender,
  type SettledFor,
  type StepsOf,
} from './mailbox.ts';
import { type PaneLiveness, Presence } from './presence.ts';
import { ProjectChoices } from './project.ts';
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
  /** Whether it is the id of somebody whom the user has invited. */
  /** Everybody who is a person here. */
  readonly people: () => readonly Participant[];
  readonly isInvited: (id: string) => boolean;
  readonly names: ProjectNames;
  readonly unreadAlertMs: number;
  readonly paneLiveness: PaneLiveness;
  /** Hears of each agent that can be told something unasked from now on. */
  readonly onChannel: (agent: string) => void;
  readonly folderOfPane: (pane: string) => string | undefined;
  readonly hosted: HostedIn;
  readonly stepsOf: StepsOf;
  readonly settledFor: SettledFor;
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
  readonly projects: ProjectChoices;
  /** What a project is called now. */
  shownAs(project: string): string;
  /** What a connection can show to another hub to be the same agent again; nothing for who is none. */
  passOf(caller: Caller): string | undefined;
  /** Who showed a pass, whatever credential the connection was opened with; throws where it is not ours. */
  readPass(pass: string, by: Caller, connection: Omit<Connection, 'become'>): Caller;
  /** The same caller by the name it has now. */
  named(caller: Caller): Caller;
  /** Who a secret of a registration belongs to; throws where that is nobody. */
  bySecret(secret: unknown): Caller;
  /** A notice of the hub to an agent or the user, in one commit with whatever must be true together with it; to nobody else. */
  tell(
    agent: string,
    notice: Pick<Letter, 'subject' | 'body'>,
    statements: readonly Statement[],
  ): Promise<void>;
  close(): Promise<void>;
}

export async function openMail(options: MailOptions): Promise<Mail> {
  const { store, events, credentials, clock, random, log, user, names } = options;
  const book = await AgentBook.load(store);
  const presence = new Presence(options.paneLiveness, options.onChannel);
  const mailbox = await Mailbox.open({
    ...{ store, clock, random, user },
    limit: new PairLimit(clock),
    unreadAlertMs: options.unreadAlertMs,
    nameOf: (key) => book.get(key)?.name ?? key,
    stepsOf: options.stepsOf,
    settledFor: options.settledFor,
    onRead: options.onRead,
  });
  const projects = new ProjectChoices(names);
  const identity = new Identity({
    ...{ book, presence, clock, random, projects, names },
    rememberAgent: (hash, caller) => credentials.rememberAgent(hash, caller),
    folderOfPane: options.folderOfPane,
    hosted: options.hosted,
    unreadOf: (recipient) => mailbox.unreadOf(recipient),
  });
  const addresses = new Addresses({
    book,
    identity,
    user,
    isInvited: options.isInvited,
    people: options.people,
  });
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
    ...{ book, presence, identity, addresses, mailbox, projects },
    shownAs: (project) => names.shownAs(project),
    receipts: new Receipts(events, mailbox),
    threads: new Threads(store, mailbox, user),
    retention: await Retention.open({ store, events, clock, log, hub: hub.source }),
    passOf: ({ agent }) => agent && credentials.sign(`${agent.id}.${agent.generation}`),
    readPass(pass, by, connection) {
      const [id = '', generation] = credentials.signed(pass)?.split('.') ?? [];
      const record = book.get(id);
      if (!record)
        throw new PolyError('unauthenticated', 'that pass is not of this hub.', { hint: 'Connect again.' });
      // One that was taken over meanwhile hears why at its next call.
      if (record.generation === Number(generation)) presence.join(record, connection);
      return callerOf({ ...record, generation: Number(generation) }, by);
    },
    named(caller) {
      const record = caller.agent && book.get(caller.agent.id);
      return record ? { ...caller, participant: participantOfAgent(record) } : caller;
    },
    bySecret(secret) {
      if (typeof secret !== 'string')
        throw new PolyError('invalid_arguments', 'secret must be text, as your registration answered it.');
      const caller = credentials.agentOf(secret);
      if (caller) return caller;
      throw new PolyError('unauthenticated', 'that secret is no agent’s, or no longer.', {
        hint: 'Give the one your registration answered. If it is lost, or somebody has taken the name over, your user decides: register again with take_over.',
      });
    },
    async tell(agent, notice, together) {
      const record = book.get(agent);
      if (!record && agent !== addresses.user.key) return;
      const to = addresses.partyOf(agent);
      const about = {
        kind: 'notice',
        project: record?.project ?? 'default',
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
