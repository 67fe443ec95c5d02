import {
  type FloorHandedOn,
  type FloorHandOnParams,
  floorAgent,
  floorAgentAdd,
  floorAgentDismiss,
  floorAgentEdit,
  floorAgentInvite,
  floorAgentRemove,
  floorAgentSecret,
  floorAgents,
  floorHandOn,
  floorKnowledge,
  floorKnowledgeRead,
  floorKnowledgeRemove,
  floorKnowledgeWrite,
  type KnowledgeFile,
  type ProjectChoice,
} from '@polyphony/protocol';
import { draft } from '../../events/event-log.ts';
import { type Caller, isUser } from '../../registry/caller.ts';
import type { Holders } from '../../registry/holder.ts';
import type { Commit, Registry } from '../../registry/registry.ts';
import type { ProjectBook } from '../project-book.ts';
import type { Knowledge } from './knowledge.ts';
import type { Membership } from './membership.ts';
import type { Looker, NamedAgents } from './named-agents.ts';

/** Writes a message on to a sub-agent of whoever got it. */
export type HandOn = (caller: Caller, params: FloorHandOnParams, commit: Commit) => Promise<FloorHandedOn>;

export interface NamedActionsOptions {
  readonly registry: Registry;
  readonly agents: NamedAgents;
  readonly membership: Membership;
  readonly knowledge: Knowledge;
  readonly names: ProjectBook;
  readonly holders: Holders;
  readonly handOn: HandOn;
  /** The one project that somebody is kept to. */
  readonly confinedTo: (caller: Caller) => string | undefined;
}

const owner = 'floor';

export function registerNamedActions(options: NamedActionsOptions): void {
  const { registry, agents, membership, knowledge, names, holders, handOn, confinedTo } = options;
  const lookerOf = (caller: Caller): Looker => ({ isUser: isUser(caller), project: confinedTo(caller) });
  /** The key of the project that is named; none where none is. */
  const named = (caller: Caller, { project, team }: ProjectChoice): string | undefined =>
    project === undefined && team === undefined
      ? undefined
      : names.keyOf(holders.projectOf(holders.of(caller), { project, team }));
  /** Where an agent names none, its own. */
  const meant = (caller: Caller, choice: ProjectChoice): string | undefined => {
    const { project } = holders.of(caller);
    return named(caller, choice) ?? (project === undefined ? undefined : names.keyOf(project));
  };
  const shown = <T extends KnowledgeFile>(file: T): T =>
    file.project === undefined ? file : { ...file, project: names.shownAs(file.project) };

  registry.register(owner, floorAgents, (params, { caller }) => ({
    agents: agents.list(lookerOf(caller), { project: named(caller, params), skill: params.skill }),
  }));
  registry.register(owner, floorAgent, ({ name }, { caller }) =>
    agents.show(agents.get(name), lookerOf(caller)),
  );
  registry.register(owner, floorAgentAdd, (params, { caller, commit }) =>
    agents.add(holders.of(caller), params, commit),
  );
  registry.register(owner, floorAgentEdit, (params, { caller, commit }) =>
    agents.edit(holders.of(caller), params, commit),
  );
  registry.register(owner, floorAgentRemove, ({ name }, { caller, commit }) =>
    agents.remove(holders.of(caller), name, commit),
  );
  registry.register(owner, floorAgentSecret, (params, { caller, commit }) =>
    agents.secret(holders.of(caller), params, commit),
  );
  registry.register(owner, floorAgentInvite, ({ name, ...choice }, { caller, commit }) => {
    const asker = holders.of(caller);
    return membership.invite(asker, name, holders.projectOf(asker, choice), commit);
  });
  registry.register(owner, floorAgentDismiss, ({ name, ...choice }, { caller, commit }) => {
    const asker = holders.of(caller);
    return membership.dismiss(asker, name, holders.projectOf(asker, choice), commit);
  });
  registry.register(owner, floorHandOn, (params, { caller, commit }) => handOn(caller, params, commit));

  registry.register(owner, floorKnowledge, (params, { caller }) => ({
    files: knowledge.list(meant(caller, params)).map(shown),
  }));
  registry.register(owner, floorKnowledgeRead, ({ path, shared, from, max_bytes, ...choice }, { caller }) => {
    const project = shared ? undefined : meant(caller, choice);
    return shown(knowledge.read({ path, project }, { from, maxBytes: max_bytes }));
  });
  const told = (caller: Caller, { path }: KnowledgeFile, projectKey: string | undefined) => [
    draft(holders.of(caller).source, 'floor:knowledge-changed', {
      path,
      ...(projectKey !== undefined && { projectKey }),
    }),
  ];
  registry.register(owner, floorKnowledgeWrite, async ({ path, text, ...choice }, { caller, commit }) => {
    const project = named(caller, choice);
    const result = shown(knowledge.write({ path, project }, text));
    await commit({ drafts: told(caller, result, project), result });
    return result;
  });
  registry.register(owner, floorKnowledgeRemove, async ({ path, ...choice }, { caller, commit }) => {
    const project = named(caller, choice);
    const result = shown(knowledge.remove({ path, project }));
    await commit({ drafts: told(caller, result, project), result });
    return result;
  });
}
