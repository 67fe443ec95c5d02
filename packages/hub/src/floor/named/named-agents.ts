import {
  type AgentAddParams,
  type AgentEditParams,
  type AgentRemoved,
  type AgentSecretParams,
  foldName,
  isReservedName,
  type NamedAgent,
  PolyError,
  participantOf,
} from '@polyphony/protocol';
import { draft } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Holder } from '../../registry/holder.ts';
import type { Commit } from '../../registry/registry.ts';
import type { Budget } from './budget.ts';
import type { NamedBook } from './named-book.ts';
import {
  keepNamed,
  type MemberRow,
  memberOf,
  type NamedRecord,
  namedAgentOf,
  parentOf,
} from './named-record.ts';
import type { SecretSafe } from './secret-safe.ts';

export interface NamedAgentsOptions {
  readonly clock: Clock;
  readonly book: NamedBook;
  readonly safe: SecretSafe;
  readonly budget: Budget;
  /** What a project is called now. */
  readonly shownAs: (project: string) => string;
  /** Whether somebody is there under that name. */
  readonly isHere: (agent: string, project: string) => boolean;
}

/** Who looks: what only the user sees, and the one project that others see where they are kept to it. */
export interface Looker {
  readonly isUser: boolean;
  readonly project?: string | undefined;
}

const defaultBudget = 60;

/** The agents that the user has given names. */
export class NamedAgents {
  readonly #options: NamedAgentsOptions;

  constructor(options: NamedAgentsOptions) {
    this.#options = options;
  }

  async add(asker: Holder, params: AgentAddParams, commit: Commit): Promise<NamedAgent> {
    const { book, clock } = this.#options;
    const name = foldName(params.name);
    if (isReservedName(name))
      throw new PolyError('forbidden', `the name "${name}" belongs to the hub.`, { hint: 'Choose another.' });
    if (book.get(name))
      throw new PolyError('conflict', `there is an agent called "${name}" already.`, {
        hint: `Change it: poly agent edit ${name}`,
      });
    const parent = parentOf(name);
    if (parent !== undefined && !book.get(parent))
      throw new PolyError('not_found', `"${name}" would be a sub-agent of "${parent}", which there is not.`, {
        hint: `Add it first: poly agent add ${parent}. Or take a name without a dot.`,
      });
    const { display_name, icon, description, skills = [], tags = [], hosting = 'self' } = params;
    const { command, cwd, budget = defaultBudget, isolated = false, drives = false, watch } = params;
    const record: NamedRecord = {
      ...{ name, displayName: display_name ?? params.name, icon, description, hosting, command, cwd },
      ...{ skills: unique(skills), tags: unique(tags.map(foldName)), budget, isolated, drives, watch },
      ...{ createdBy: asker.participant, createdAt: clock.now() },
    };
    needCommand(record);
    return this.#keep(asker, record, 'floor:agent-added', commit);
  }

  async edit(asker: Holder, params: AgentEditParams, commit: Commit): Promise<NamedAgent> {
    const before = this.get(params.name);
    const { display_name, skills, tags, hosting, budget, isolated, drives } = params;
    const record: NamedRecord = {
      ...before,
      displayName: display_name ?? before.displayName,
      skills: skills ? unique(skills) : before.skills,
      tags: tags ? unique(tags.map(foldName)) : before.tags,
      hosting: hosting ?? before.hosting,
      budget: budget ?? before.budget,
      isolated: isolated ?? before.isolated,
      drives: drives ?? before.drives,
      icon: changed(before.icon, params.icon),
      description: changed(before.description, params.description),
      command: changed(before.command, params.command),
      cwd: changed(before.cwd, params.cwd),
      watch: changed(before.watch, params.watch),
    };
    needCommand(record);
    return this.#keep(asker, record, 'floor:agent-changed', commit);
  }

  async remove(asker: Holder, given: string, commit: Commit): Promise<AgentRemoved> {
    const { book, safe } = this.#options;
    const { name } = this.get(given);
    const below = book.subagentsOf(name);
    if (below.length > 0)
      throw new PolyError('conflict', `"${name}" has sub-agents: ${below.join(', ')}.`, {
        hint: `Remove them first: poly agent remove ${below[0]}`,
      });
    const result = { participant: participantOf('agent', name) };
    await commit({
      statements: [
        safe.dropAll(name),
        { sql: 'DELETE FROM named_members WHERE agent = ?', values: [name] },
        { sql: 'DELETE FROM named_agents WHERE name = ?', values: [name] },
      ],
      drafts: [draft(asker.source, 'floor:agent-removed', { name })],
      result,
    });
    book.drop(name);
    safe.forget(name);
    return result;
  }

  async secret(
    asker: Holder,
    { name: given, variable, value }: AgentSecretParams,
    commit: Commit,
  ): Promise<{ readonly secrets: readonly string[] }> {
    const { safe } = this.#options;
    const { name } = this.get(given);
    const others = safe.namesOf(name).filter((one) => one !== variable);
    if (value === null && others.length === safe.namesOf(name).length)
      throw new PolyError('not_found', `"${name}" has no secret ${variable}.`, {
        hint: others.length > 0 ? `It has ${others.join(', ')}.` : 'It has none.',
      });
    const result = { secrets: [...others, ...(value === null ? [] : [variable])].sort() };
    // From here on nothing that is written down holds it.
    if (value !== null) safe.foresee(value);
    await commit({
      statements: [value === null ? safe.drop(name, variable) : safe.keep(name, variable, value)],
      drafts: [draft(asker.source, 'floor:agent-changed', { name })],
      result,
    });
    safe.put(name, variable, value);
    return result;
  }

  get(given: string): NamedRecord {
    const { book } = this.#options;
    const name = foldName(given.replace(/^@?(agent:)?/, ''));
    const record = book.get(name);
    if (record) return record;
    const known = book.list().map((one) => one.name);
    throw new PolyError('not_found', `there is no named agent "${name}".`, {
      hint: known.length > 0 ? `There are ${known.slice(0, 20).join(', ')}.` : 'Add one: poly agent add NAME',
    });
  }

  list(
    looker: Looker,
    { project, skill }: { readonly project?: string | undefined; readonly skill?: string | undefined },
  ): readonly NamedAgent[] {
    const { book } = this.#options;
    const place = looker.project ?? project;
    const wanted = skill === undefined ? undefined : foldName(skill);
    return book
      .list()
      .filter(({ name }) => place === undefined || book.member(name, place))
      .filter(({ skills }) => wanted === undefined || skills.some((one) => foldName(one).includes(wanted)))
      .map((record) => this.show(record, looker));
  }

  show(record: NamedRecord, looker: Looker, members?: readonly MemberRow[]): NamedAgent {
    const { book, safe } = this.#options;
    const { name, displayName } = record;
    const rows = (members ?? book.membersOf(name)).filter(
      ({ project }) => looker.project === undefined || project === looker.project,
    );
    return namedAgentOf(record, {
      shownAs:
        parentOf(name) === undefined ? displayName : (book.personaOf(name)?.displayName ?? displayName),
      subagents: book.subagentsOf(name),
      members: rows.map((row) => this.#member(record, row, looker)),
      ...(looker.isUser && { secrets: safe.namesOf(name) }),
    });
  }

  #member({ hosting, budget: most }: NamedRecord, row: MemberRow, { isUser }: Looker) {
    const { budget, shownAs, isHere } = this.#options;
    const { agent, project } = row;
    return memberOf(row, {
      project: shownAs(project),
      state: hosting === 'hub' ? row.state : isHere(agent, project) ? 'here' : 'away',
      throttledUntil: budget.until(agent, project, most),
      seesPanes: isUser,
    });
  }

  async #keep(
    asker: Holder,
    record: NamedRecord,
    event: 'floor:agent-added' | 'floor:agent-changed',
    commit: Commit,
  ): Promise<NamedAgent> {
    const result = this.show(record, { isUser: true });
    await commit({
      statements: [keepNamed(record)],
      drafts: [draft(asker.source, event, { name: record.name })],
      result,
    });
    this.#options.book.put(record);
    return result;
  }
}

const unique = (words: readonly string[]): readonly string[] => [...new Set(words)];

/** What was given, nothing for null, and what was there before where nothing was. */
const changed = <T>(before: T | undefined, given: T | null | undefined): T | undefined =>
  given === undefined ? before : (given ?? undefined);

function needCommand({ name, hosting, command }: NamedRecord): void {
  if (hosting !== 'hub' || command !== undefined) return;
  throw new PolyError('invalid_arguments', `the hub cannot run "${name}" without a command.`, {
    hint: 'Say what to run as its command, or let it be hosted by itself.',
  });
}
