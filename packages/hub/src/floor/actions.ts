import {
  floorActivity,
  floorAnnotate,
  floorAnnotations,
  floorArchive,
  floorChanges,
  floorContext,
  floorDecisions,
  floorDelete,
  floorEntry,
  floorJoin,
  floorLabel,
  floorLeave,
  floorLinks,
  floorOpen,
  floorOverview,
  floorRecord,
  floorRename,
  floorReply,
  floorSearch,
  floorSession,
  floorSessions,
  floorStatus,
  floorTeam,
  floorTimeline,
  floorUnannotate,
  PolyError,
  type ProjectChoice,
  projectArchive,
  projectCreate,
  projectDelete,
  projectList,
  projectRename,
  projectRetention,
  projectShow,
  projectTag,
  type SessionChoice,
  type TeamMember,
} from '@polyphony/protocol';
import type { Caller } from '../registry/caller.ts';
import type { Holder, Holders } from '../registry/holder.ts';
import type { Registry } from '../registry/registry.ts';
import type { Floor } from './floor.ts';
import type { SessionRow } from './session-row.ts';
import { teamOf } from './team.ts';
import { activityOf } from './timeline/activity.ts';
import { changesSince, lastDrove, linksSince } from './timeline/changes.ts';
import { contextOf } from './timeline/context.ts';

const owner = 'floor';

export function registerFloorActions(registry: Registry, floor: Floor, holders: Holders): void {
  const { store, book, projects, sessions, timeline, annotations, records, forgetting } = floor;
  /** The project that was named, and none where none was. */
  const named = (caller: Caller, { project, team }: ProjectChoice): string | undefined =>
    project === undefined && team === undefined
      ? undefined
      : holders.projectOf(holders.of(caller), { project, team });
  const meant = (caller: Caller, choice: SessionChoice): Promise<SessionRow> =>
    sessions.find(choice.session, named(caller, choice));
  /** The session that the caller feeds. */
  const fed = async (caller: Caller): Promise<SessionRow> => {
    const row = await sessions.fedBy(holders.of(caller));
    if (row) return row;
    throw new PolyError('conflict', 'you feed no session.', {
      hint: 'Join one first: poly join PROJECT',
    });
  };
  registry.register(owner, projectCreate, (params, { caller, commit }) =>
    projects.create(holders.of(caller), params, commit),
  );
  registry.register(owner, projectList, async (params) => ({ projects: await projects.list(params) }));
  registry.register(owner, projectShow, ({ project }) => projects.show(project));
  registry.register(owner, projectRename, (params, { caller, commit }) =>
    projects.rename(holders.of(caller), params, commit),
  );
  registry.register(owner, projectTag, (params, { caller, commit }) =>
    projects.tag(holders.of(caller), params, commit),
  );
  registry.register(owner, floorJoin, (params, { caller, commit }) => {
    const holder = holders.of(caller);
    const project = holders.projectOf(holder, params);
    if (params.agent !== undefined && !holder.isUser)
      refuseOthersName(holders, holder, project, params.agent);
    const own = holder.isUser ? undefined : floor.sessionOf(holder.participant, book.keyOf(project));
    return sessions.join(holder, project, { ...params, session: params.session ?? own }, commit);
  });
  registry.register(owner, floorLeave, (params, { caller, commit }) =>
    sessions.leave(holders.of(caller), params, commit),
  );
  registry.register(owner, floorStatus, (params, { caller }) => sessions.status(holders.of(caller), params));
  registry.register(owner, floorOpen, (params, { caller, commit }) => {
    const holder = holders.of(caller);
    return sessions.open(holder, holders.projectOf(holder, params), params, commit);
  });
  registry.register(owner, floorSessions, (params, { caller }) =>
    sessions.list(named(caller, params), params),
  );
  registry.register(owner, floorSession, async (params, { caller }) =>
    sessions.show(await meant(caller, params)),
  );
  registry.register(owner, floorLabel, async (params, { caller, commit }) =>
    sessions.label(holders.of(caller), await meant(caller, params), params.label, commit),
  );
  registry.register(owner, floorTimeline, async (params, { caller }) =>
    timeline.page(await meant(caller, params), params),
  );
  registry.register(owner, floorEntry, ({ entry }) => timeline.entry(entry));
  registry.register(owner, floorSearch, async (params, { caller }) => {
    const project = named(caller, params);
    const { session } = params;
    return timeline.search(params, {
      project: project === undefined ? undefined : book.keyOf(project),
      session: session === undefined ? undefined : await sessions.find(session, project),
    });
  });
  registry.register(owner, floorChanges, async (params, { caller }) => {
    const { id } = await meant(caller, params);
    const { after_seq: seq } = params;
    const since = seq === undefined ? await lastDrove(store, id, holders.of(caller).participant) : { seq };
    return changesSince(store, id, since ?? { seq: 0 });
  });
  registry.register(owner, floorActivity, (params, { caller }) => {
    const project = named(caller, params);
    return activityOf(store, project === undefined ? undefined : book.keyOf(project), params);
  });
  registry.register(owner, floorAnnotate, async (params, { caller, commit }) =>
    annotations.add(holders.of(caller), await meant(caller, params), params, commit),
  );
  registry.register(owner, floorAnnotations, async (params, { caller }) => ({
    annotations: await annotations.list(await meant(caller, params)),
  }));
  registry.register(owner, floorUnannotate, ({ annotation }, { caller, commit }) =>
    annotations.remove(holders.of(caller), annotation, commit),
  );
  registry.register(owner, floorDecisions, (params, { caller }) => {
    const project = named(caller, params);
    return annotations.decisions(project === undefined ? undefined : book.keyOf(project), params);
  });
  registry.register(owner, floorLinks, async (params, { caller }) => ({
    links: await linksSince(store, (await meant(caller, params)).id, undefined),
  }));
  registry.register(owner, floorContext, async (params, { caller }) => {
    const session = await sessions.show(await meant(caller, params));
    return contextOf(store, timeline, session, params.max_bytes);
  });
  registry.register(owner, floorRecord, async (params, { caller, commit }) =>
    records.event(holders.of(caller), await meant(caller, params), params, commit),
  );
  registry.register(owner, floorReply, async (params, { caller, commit }) => {
    const { session, message } = params;
    const row = session === undefined ? await fed(caller) : await meant(caller, { ...params, session });
    return records.reply(holders.of(caller), row, message, commit);
  });
  registry.register(owner, floorRename, async ({ name }, { caller, commit }) => {
    const { project } = await fed(caller);
    return projects.rename(holders.of(caller), { project, name }, commit);
  });
  registry.register(owner, floorTeam, async (params, { caller }) => {
    const project = named(caller, params);
    const key = project === undefined ? undefined : book.keyOf(project);
    const team = await teamOf(store, key, floor.knownMembers(), (one) => book.shownAs(one));
    const only = floor.confinedTo(caller);
    return { team: only === undefined ? team : team.map((one) => within(one, book.shownAs(only))) };
  });
  registry.register(owner, floorOverview, () => sessions.overview());
  registry.register(owner, projectArchive, (params, { caller, commit }) =>
    forgetting.archiveProject(holders.of(caller), params, commit),
  );
  registry.register(owner, projectDelete, ({ project }, { caller, commit }) =>
    forgetting.deleteProject(holders.of(caller), project, commit),
  );
  registry.register(owner, projectRetention, (params, { caller, commit }) =>
    forgetting.retain(holders.of(caller), params, commit),
  );
  registry.register(owner, floorArchive, async (params, { caller, commit }) =>
    forgetting.archiveSession(holders.of(caller), await meant(caller, params), params.undo === true, commit),
  );
  registry.register(owner, floorDelete, async (params, { caller, commit }) =>
    forgetting.deleteSession(holders.of(caller), await meant(caller, params), commit),
  );
}

/** Somebody as one sees them who is kept to a project. */
const within = (member: TeamMember, project: string): TeamMember => ({
  ...member,
  projects: member.projects.filter((one) => one === project),
  sessions: member.sessions.filter((one) => one.startsWith(`${project}/`)),
});

/** A name that an agent has registered is its own. */
function refuseOthersName(holders: Holders, asker: Holder, project: string, name: string): void {
  const owner = holders.find(project, name);
  if (!owner || owner.keys.some((key) => asker.keys.includes(key))) return;
  throw new PolyError('forbidden', `${owner.participant} is another agent of the project "${project}".`, {
    hint: 'Leave agent out, or take a name that nobody has registered.',
  });
}
