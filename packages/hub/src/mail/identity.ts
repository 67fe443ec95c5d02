import {
  foldName,
  type MailReconnectParams,
  type MailReconnectResult,
  type MailRegisterParams,
  type MailRegisterResult,
  type MailRenameParams,
  type MailRenameResult,
  type MailUnregisterResult,
  PolyError,
} from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { digest } from '../platform/credentials.ts';
import type { Random } from '../platform/random.ts';
import { Turns } from '../platform/turns.ts';
import type { Connection } from '../registry/ask.ts';
import { type Caller, isPerson, isUser } from '../registry/caller.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import { type AgentBook, keepAgent } from './agent-book.ts';
import { type AgentRecord, callerOf, participantOfAgent } from './agent-record.ts';
import type { Asked } from './asked.ts';
import type { Presence } from './presence.ts';
import type { ProjectChoices } from './project.ts';
import { nameTurn, renameAgent } from './rename.ts';
import { refuseReserved } from './reserved-name.ts';

export interface IdentityOptions {
  readonly book: AgentBook;
  readonly presence: Presence;
  readonly projects: ProjectChoices;
  readonly names: Pick<ProjectNames, 'meet' | 'shownAs'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Lets the secret of this digest open a door from now on. */
  readonly rememberAgent: (hash: string, caller: Caller) => void;
  readonly folderOfPane: (pane: string) => string | undefined;
  readonly unreadOf: (recipient: string) => Promise<number>;
  readonly hosted: HostedIn;
}

/**
 * Of a name whose agent the hub itself runs, in which pane it does so in a project: that pane is the agent there, and
 * nobody else. Nothing of any other name.
 */
export type HostedIn = (name: string, project: string) => { readonly pane: string | undefined } | undefined;

/** Who is whom: names in projects, and the proof that somebody is the one who took a name. */
export class Identity {
  readonly #options: IdentityOptions;
  readonly #turns = new Turns();

  constructor(options: IdentityOptions) {
    this.#options = options;
    for (const record of options.book.list()) this.#open(record);
  }

  /** The agent somebody speaks for; none for a person, and an error for whoever is nobody yet, or no longer. */
  agentOf(caller: Caller): AgentRecord | undefined {
    if (isPerson(caller)) return undefined;
    const { book, clock } = this.#options;
    const record = caller.agent ? book.get(caller.agent.id) : book.inPane(caller.birth);
    if (record && (!caller.agent || caller.agent.generation === record.generation) && !record.leftAt) {
      book.saw(record.id, clock.now());
      return record;
    }
    throw this.#lost(caller, record);
  }

  async register(params: MailRegisterParams, asked: Asked): Promise<MailRegisterResult> {
    const name = foldName(params.name);
    refuseReserved('name', name);
    refuseReserved('role', params.role);
    const { caller } = asked;
    refuseInvited(caller);
    const folder = caller.pane === undefined ? undefined : this.#options.folderOfPane(caller.pane);
    const project = this.#options.projects.of(params, folder);
    // Two who want one name at once: the second finds it taken.
    return this.#turns.take(nameTurn(project, name), () =>
      this.#register({ ...params, name, project }, asked),
    );
  }

  /** Another name for an agent: for itself, or for whom the user says. */
  rename(params: MailRenameParams, asked: Asked): Promise<MailRenameResult> {
    const { book, projects, names } = this.#options;
    refuseInvited(asked.caller);
    const self = this.agentOf(asked.caller);
    const { agent_name: whom = self?.name } = params;
    const project = self ? (projects.named(params) ?? self.project) : projects.of(params);
    const record = whom === undefined ? undefined : book.find(project, whom);
    if (self && record?.id !== self.id)
      throw new PolyError(
        'forbidden',
        `you are ${self.name} in "${names.shownAs(self.project)}", and rename nobody else.`,
        {
          hint: 'Leave out whom; your user can rename others.',
        },
      );
    if (!record || record.leftAt !== undefined)
      throw new PolyError(
        'not_found',
        `there is no agent "${whom ?? ''}" in the project "${names.shownAs(project)}".`,
        {
          hint: 'Name one as agent_name: poly mail agents shows who there is.',
          details: { reason: 'unknown_agent' },
        },
      );
    const onRenamed = (renamed: AgentRecord): void => this.#open(renamed);
    return renameAgent({ book, names, turns: this.#turns, onRenamed }, record, params.name, asked);
  }

  async #register(
    params: MailRegisterParams & { readonly project: string },
    { caller, connection, commit }: Asked,
  ): Promise<MailRegisterResult> {
    const { book, clock, random, unreadOf, names } = this.#options;
    const { name, project } = params;
    this.#refuseHosted(name, project, caller);
    const before = book.find(project, name);
    if (!before && params.secret !== undefined) this.#refuseElsewhere(params, params.secret);
    const how = before ? this.#claim(before, params, caller) : 'new';
    const secret = how === 'again' ? undefined : random.token();
    const now = clock.now();
    const taken = how === 'taken-over' && before;
    const record: AgentRecord = {
      id: before?.id ?? `agt_${random.hex(8)}`,
      project: before?.project ?? project,
      projectKey: foldName(project),
      name,
      formerNames: before?.formerNames,
      ...partsOf(before, params),
      reach: this.#reachOf(before, params, caller),
      pane: paneOf(caller) ?? (taken ? null : (before?.pane ?? null)),
      secretHash: secret === undefined ? (before as AgentRecord).secretHash : digest(secret).toString('hex'),
      generation: (before?.generation ?? 0) + (taken ? 1 : 0),
      registeredAt: before?.registeredAt ?? now,
      seenAt: now,
      ...(taken && {
        takenOver: { by: caller.participant, at: now, ...(taken.pane && { birth: taken.pane.birth }) },
      }),
    };
    const left = this.#leavesBehind(record, caller);
    const shown = names.shownAs(record.project);
    const result: MailRegisterResult = {
      agent_id: record.id,
      name,
      participant: participantOfAgent(record),
      project: shown,
      team: shown,
      status: how,
      ...(secret !== undefined && { secret }),
      unread: before ? await unreadOf(record.id) : 0,
      hint: hintOf(how, secret, connection, caller),
    };
    const { secret: _, ...kept } = result;
    await commit({
      statements: [...names.meet(record.project, caller.participant), ...[record, ...left].map(keepAgent)],
      drafts: [draft(caller, 'mail:registered', { agentId: record.id, name, project: record.project, how })],
      result,
      kept,
    });
    for (const other of left) book.put(other);
    book.put(record);
    this.#open(record);
    this.#speak(record, caller, connection);
    return result;
  }

  async unregister({ caller, commit }: Asked): Promise<MailUnregisterResult> {
    const record = this.agentOf(caller);
    if (!record)
      throw new PolyError('conflict', 'you are the user, and no agent that could leave.', {
        hint: 'An agent leaves by itself, with its own credential.',
      });
    const { id, name, project } = record;
    const gone: AgentRecord = { ...record, leftAt: this.#options.clock.now() };
    const shown = this.#options.names.shownAs(project);
    const result: MailUnregisterResult = { ok: true, agent_id: id, name, project: shown, team: shown };
    await commit({
      statements: [keepAgent(gone)],
      drafts: [draft(caller, 'mail:unregistered', { agentId: id, name, project })],
      result,
    });
    this.#options.book.put(gone);
    return result;
  }

  /** Is who it was before, where that is certain; otherwise says what to do, and changes nothing. */
  async reconnect(params: MailReconnectParams, { caller, connection }: Asked): Promise<MailReconnectResult> {
    const { book, presence, unreadOf, projects, names } = this.#options;
    const named = params.name === undefined ? undefined : foldName(params.name);
    const projectKey = foldName(projects.of(params));
    const where = projects.named(params) !== undefined || params.project_dir !== undefined;
    const couldBe = book
      .list()
      .filter(
        (record) =>
          record.leftAt === undefined &&
          (!where || record.projectKey === projectKey) &&
          this.#proves(record, params.secret, caller, () => presence.livenessOf(record) !== 'alive'),
      );
    const called = couldBe.filter(({ name }) => named === undefined || name === named);
    // Who was renamed by somebody else knows only the name it had.
    const formerly = couldBe.filter(({ formerNames }) => formerNames?.includes(named ?? ''));
    const [one, ...others] = called.length > 0 ? called : formerly;
    if (!one)
      return {
        status: 'need_register',
        hint: 'Nobody is known here that you are certain to be. Register with the name your user or your task gives you; do not make one up.',
      };
    if (others.length > 0)
      return {
        status: 'ambiguous',
        candidates: [one, ...others].map(({ id, name, project }) => ({
          ...{ agent_id: id, name },
          project: names.shownAs(project),
        })),
        hint: 'Your user knows which of these you are: ask, then reconnect with that name and project.',
      };
    this.#speak(one, caller, connection);
    book.saw(one.id, this.#options.clock.now());
    return {
      status: 'reused',
      agent_id: one.id,
      name: one.name,
      project: names.shownAs(one.project),
      unread: await unreadOf(one.id),
      hint: connection
        ? 'You are this agent again; read your inbox.'
        : 'You are this agent; each call of yours must show its secret or come from its pane.',
    };
  }

  /** Whether and how somebody may have a name that is taken; throws, saying who decides. */
  #claim(record: AgentRecord, params: MailRegisterParams, caller: Caller): 'again' | 'taken-over' {
    const { presence } = this.#options;
    const liveness = presence.livenessOf(record);
    const isProved = this.#proves(record, params.secret, caller, () => false);
    if (isProved && !params.take_over) return 'again';
    if (isProved || (isUser(caller) && params.take_over)) return 'taken-over';
    if (isUser(caller) && liveness === 'gone') return 'taken-over';
    const held = `"${record.name}" in the project "${record.project}" is held by ${record.id}, which is ${liveness}`;
    const hint = isUser(caller)
      ? 'Only with your user’s word: register again with take_over true, and the one who has it now is told. Otherwise take another name.'
      : 'Take another name, or give the secret that its registration answered. Your user can have you take it over.';
    throw new PolyError('conflict', `${held}.`, {
      hint,
      details: { reason: 'agent_id_collision', agent_id: record.id, liveness },
    });
  }

  /** By its secret, its pane, or the connection that has registered; the user's word counts where `forUser` says so. */
  #proves(record: AgentRecord, secret: string | undefined, caller: Caller, forUser: () => boolean): boolean {
    if (secret !== undefined) return digest(secret).toString('hex') === record.secretHash;
    if (caller.agent?.id === record.id) return caller.agent.generation === record.generation;
    if (record.pane && record.pane.birth === caller.birth) return true;
    const { pane } = this.#options.hosted(record.name, record.projectKey) ?? {};
    if (pane !== undefined && pane === caller.pane) return true;
    return isUser(caller) && forUser();
  }

  /** Whoever shows a secret is somebody already, and becomes nobody new under a name or in a project that it is not for. */
  #refuseElsewhere({ name, project = '' }: MailRegisterParams, secret: string): void {
    const { book, names } = this.#options;
    const hash = digest(secret).toString('hex');
    const other = book.list().find(({ secretHash }) => secretHash === hash);
    throw new PolyError('conflict', `the secret proves no agent "${name}" in the project "${project}".`, {
      hint: other
        ? `It is that of "${other.name}" in "${names.shownAs(other.project)}": give that name and project, or leave the secret out to be somebody new.`
        : 'Leave it out to be somebody new, or ask your user for the right one.',
      details: { reason: 'other_agent', ...(other && { agent_id: other.id }) },
    });
  }

  /** Whom the hub runs nobody else can be. */
  #refuseHosted(name: string, project: string, caller: Caller): void {
    const host = this.#options.hosted(name, foldName(project));
    if (!host || (host.pane !== undefined && host.pane === caller.pane)) return;
    const where = host.pane === undefined ? `nowhere in "${project}"` : `in the pane ${host.pane}`;
    throw new PolyError('forbidden', `the hub itself runs the agent "${name}", ${where}.`, {
      hint: `Take another name. Your user has it run in a project by: poly agent invite ${name} PROJECT`,
      details: { reason: 'hosted_by_hub' },
    });
  }

  /** What an agent says of itself widens nothing. */
  #reachOf(before: AgentRecord | undefined, params: MailRegisterParams, caller: Caller): string | undefined {
    if (caller.pane !== undefined) return this.#options.folderOfPane(caller.pane);
    return (isUser(caller) ? params.project_dir : undefined) ?? before?.reach;
  }

  /** A pane speaks for one agent: what it was before has no pane any more. */
  #leavesBehind({ id }: AgentRecord, caller: Caller): readonly AgentRecord[] {
    const other = this.#options.book.inPane(caller.birth);
    return other && other.id !== id ? [{ ...other, pane: null }] : [];
  }

  #open(record: AgentRecord): void {
    this.#options.rememberAgent(record.secretHash, callerOf(record));
  }

  #speak(record: AgentRecord, caller: Caller, connection: Connection | undefined): void {
    connection?.become(callerOf(record, caller));
    this.#options.presence.join(record, connection);
  }

  /** Why somebody is nobody: never was, has left, or was replaced. */
  #lost(caller: Caller, record: AgentRecord | undefined): PolyError {
    const { book } = this.#options;
    const lost = record ?? book.list().find(({ takenOver }) => takenOver?.birth === (caller.birth ?? ''));
    if (lost?.takenOver && lost.leftAt === undefined) {
      const { by, at } = lost.takenOver;
      return new PolyError(
        'conflict',
        `"${lost.name}" in the project "${lost.project}" was taken over by ${by} at ${new Date(at).toISOString()}: you are no longer that agent.`,
        {
          hint: 'Your user decides who has the name: ask before you register with take_over.',
          details: { reason: 'taken_over', agent_id: lost.id },
        },
      );
    }
    const why = record
      ? `${record.name} has left the project "${record.project}"`
      : 'you have not registered';
    return new PolyError('conflict', `${why}, so that nobody knows who writes.`, {
      hint: 'Register first: poly mail register NAME. Your user or your task says which name.',
      details: { reason: 'unknown_agent' },
    });
  }
}

/** An agent has rights that a person whom the user has invited does not: nobody becomes one, or changes one, by being invited. */
function refuseInvited({ person, participant }: Caller): void {
  if (person === undefined) return;
  throw new PolyError(
    'forbidden',
    `${participant} is a person: agents register and have names of their own.`,
    {
      hint: 'Write as yourself: poly mail send. The user names agents.',
    },
  );
}

const paneOf = ({ pane, birth }: Caller): AgentRecord['pane'] | undefined =>
  pane === undefined || birth === undefined ? undefined : { id: pane, birth };

/** What an agent says of itself; what it leaves out stays as it was. */
function partsOf(before: AgentRecord | undefined, params: MailRegisterParams): Partial<AgentRecord> {
  const { display_name, role, client, model, capabilities, project_dir } = params;
  return {
    displayName: display_name ?? before?.displayName,
    role: role?.normalize('NFC') ?? before?.role,
    client: client ?? before?.client,
    model: model ?? before?.model,
    capabilities: capabilities ?? before?.capabilities,
    directory: project_dir ?? before?.directory,
  };
}

function hintOf(
  how: MailRegisterResult['status'],
  secret: string | undefined,
  connection: Connection | undefined,
  caller: Caller,
): string {
  const next = how === 'new' ? 'Others can write to you now.' : 'You have its inbox and its mail.';
  if (secret === undefined) return next;
  if (caller.pane !== undefined) return `${next} Your pane proves that you are this agent.`;
  if (connection) return `${next} Keep the secret: it proves later that you are this agent.`;
  return `${next} Each call must show the secret as its bearer token (POLY_TOKEN for poly).`;
}
