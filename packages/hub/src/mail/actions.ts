import {
  type Asking,
  foldName,
  type MailAgent,
  type MailAgentsParams,
  type MailAgentsResult,
  type MailSendResult,
  mailAgents,
  mailBroadcast,
  mailBroadcastToRole,
  mailInbox,
  mailOverview,
  mailReconnect,
  mailRegister,
  mailRename,
  mailSearch,
  mailSeen,
  mailSend,
  mailSendById,
  mailStatus,
  mailThread,
  mailThreads,
  mailUnregister,
  PolyError,
} from '@polyphony/protocol';
import { type Caller, isUser } from '../registry/caller.ts';
import type { Execute, Registry } from '../registry/registry.ts';
import { unknownRecipient } from './addresses.ts';
import { inOrder } from './agent-book.ts';
import { type AgentRecord, participantOfAgent } from './agent-record.ts';
import type { Mail } from './mail.ts';
import type { Letter, Sender } from './mailbox.ts';

const owner = 'mail';

type Context = Parameters<Execute<unknown, unknown>>[1];

/** What mail can be asked; who asks is proved before, and never taken from what is asked. */
export function registerMailActions(registry: Registry, mail: Mail): void {
  const { identity, addresses, mailbox, threads, retention, projects } = mail;

  registry.register(owner, mailRegister, (params, context) => identity.register(params, context));
  registry.register(owner, mailRename, (params, context) => identity.rename(params, context));
  registry.register(owner, mailUnregister, (_, context) => identity.unregister(context));
  registry.register(owner, mailReconnect, (params, context) => identity.reconnect(params, context));
  registry.register(owner, mailAgents, (params, { caller }) => listAgents(mail, params, caller));

  registry.register(owner, mailSend, async (params, context) => {
    const { to_agent_name: name, to_project: project, to_team: team, project_dir } = params;
    const sender = addresses.sender(context.caller);
    const named = projects.named({ project, team });
    const meant = named ?? sender.project ?? projects.of({ project_dir });
    if (name.startsWith('@') || name.startsWith('agent:')) {
      const { project: at, ...to } = addresses.anyone(name, meant);
      return send(mail, sender, context, params, [to], at ?? meant);
    }
    const person = addresses.person(foldName(name));
    if (person) return send(mail, sender, context, params, [person], meant);
    const record = addresses.named(name, meant, sender.isAgent || named !== undefined);
    return send(mail, sender, context, params, [{ key: record.id, name: record.name }], record.project);
  });
  registry.register(owner, mailSendById, (params, context) => {
    const sender = addresses.sender(context.caller);
    const to = addresses.byId(params.to_agent_id, sender);
    const project = mail.book.get(to.key)?.project ?? sender.project ?? 'default';
    return send(mail, sender, context, params, [to], project);
  });
  registry.register(owner, mailBroadcast, (params, context) => {
    const sender = addresses.sender(context.caller);
    const project = ownProject(sender, projects.named(params)) ?? projects.of(params);
    return send(mail, sender, context, params, addresses.members(project, sender), project, {
      kind: 'broadcast',
      addressed: 'everyone',
    });
  });
  registry.register(owner, mailBroadcastToRole, (params, context) => {
    const sender = addresses.sender(context.caller);
    const project = ownProject(sender, projects.named(params)) ?? projects.of(params);
    return send(mail, sender, context, params, addresses.members(project, sender, params.to_role), project, {
      kind: 'role',
      addressed: `role ${params.to_role}`,
    });
  });

  registry.register(owner, mailInbox, (params, { caller, commit }) => {
    const reader = addresses.sender(caller);
    return mailbox.read(reader, reader.source, params, commit);
  });
  registry.register(owner, mailSearch, (params, { caller }) =>
    mailbox.search(addresses.sender(caller), params),
  );
  registry.register(owner, mailStatus, ({ message_id }, { caller }) =>
    mailbox.status(addresses.sender(caller), isUser(caller), message_id),
  );
  registry.register(owner, mailThreads, (params, { caller }) =>
    threads.list(addresses.sender(caller), params, spellingsOf(mail, projects.named(params))),
  );
  registry.register(owner, mailThread, (params, { caller }) =>
    threads.read(addresses.sender(caller), params),
  );
  registry.register(owner, mailSeen, ({ up_to_event_id }, { caller, commit }) =>
    mailbox.seen(addresses.sender(caller), up_to_event_id, commit),
  );
  registry.register(owner, mailOverview, async (_, { caller }) => ({
    agents: mail.book.list().filter(({ leftAt }) => leftAt === undefined).length,
    last_event_id: mailbox.lastSeq,
    unread: await mailbox.unreadOf(addresses.sender(caller).key),
    retention: retention.last,
  }));
}

/** A project as its agents have written it, and as it is written now. */
function spellingsOf({ book }: Mail, project: string | undefined): readonly string[] | undefined {
  if (project === undefined) return undefined;
  return [
    ...new Set([
      project,
      ...book.list().flatMap((one) => (one.projectKey === foldName(project) ? one.project : [])),
    ]),
  ];
}

async function send(
  mail: Mail,
  sender: Sender,
  { commit, signal }: Context,
  writing: Asking,
  recipients: Letter['recipients'],
  project: string,
  { kind, addressed }: Pick<Letter, 'kind' | 'addressed'> = {
    kind: 'direct',
    addressed: recipients[0]?.name ?? '',
  },
): Promise<MailSendResult> {
  if (recipients.some(({ key }) => key === sender.key))
    throw unknownRecipient('that would be a message to yourself.', 'Write to somebody else.');
  const letter: Letter = { ...writing, kind, addressed, recipients, project };
  const result = await mail.mailbox.send(sender, letter, commit);
  const { await_ack_s: seconds = 0 } = writing;
  if (seconds === 0) return result;
  return { ...result, ack: await mail.receipts.waitUntilRead(result, seconds * 1000, signal) };
}

/** An agent writes to all of its own project only; the user names one. */
function ownProject(
  { project }: { readonly project: string | undefined },
  named: string | undefined,
): string | undefined {
  if (project !== undefined && named !== undefined && foldName(project) !== foldName(named))
    throw new PolyError('forbidden', `you are in the project "${project}", and not in "${named}".`, {
      hint: 'Write to one agent of another project with to_project; to all of it only your user can.',
      details: { reason: 'cross_team_denied' },
    });
  return project ?? named;
}

async function listAgents(
  { book, presence, addresses, mailbox, projects, shownAs }: Mail,
  params: MailAgentsParams,
  caller: Caller,
): Promise<MailAgentsResult> {
  const { limit = 100, after, role } = params;
  const named = projects.named(params);
  const self = addresses.sender(caller);
  const project = named ?? self.project;
  const everybody = project === undefined ? book.members() : book.members(project);
  const last = after === undefined ? undefined : book.get(after);
  const found = everybody.filter(
    (one) =>
      (!last || inOrder(last, one) < 0) &&
      (role === undefined || (one.role !== undefined && foldName(one.role) === foldName(role))),
  );
  const page = found.slice(0, limit);
  const describe = async (record: AgentRecord): Promise<MailAgent> => {
    const { id, name, displayName, role, client, model, capabilities, pane } = record;
    const liveness = presence.livenessOf(record);
    return {
      agent_id: id,
      name,
      participant: participantOfAgent(record),
      ...(displayName !== undefined && { display_name: displayName }),
      project: shownAs(record.project),
      ...{ role, client, model, capabilities },
      liveness,
      online: liveness === 'alive',
      registered_at: new Date(record.registeredAt).toISOString(),
      last_seen_at: new Date(book.seenAt(record)).toISOString(),
      ...(isUser(caller) && { ...(pane && { pane: pane.id }), unread: await mailbox.unreadOf(id) }),
      ...(id === self.key && { you: true as const }),
    };
  };
  return { agents: await Promise.all(page.map(describe)), has_more: found.length > limit };
}
