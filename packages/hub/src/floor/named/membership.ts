import { type AgentMember, foldName, type NamedAgent, PolyError, participantOf } from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import { Turns } from '../../platform/turns.ts';
import type { Holder } from '../../registry/holder.ts';
import type { Commit } from '../../registry/registry.ts';
import { isConflict } from '../../store/errors.ts';
import type { Store } from '../../store/store.ts';
import type { ProjectBook } from '../project-book.ts';
import type { Projects } from '../projects.ts';
import { insertSession, newSession, type SessionRow } from '../session-row.ts';
import type { NamedAgents } from './named-agents.ts';
import type { NamedBook } from './named-book.ts';
import { dropMember, keepMember, type MemberRow, type NamedRecord } from './named-record.ts';

export interface MembershipOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly hub: Source;
  readonly book: NamedBook;
  readonly agents: NamedAgents;
  readonly projects: Projects;
  readonly names: ProjectBook;
  readonly seatMs: number;
  /** Who has registered under which name in which project, by its key. */
  readonly registered: () => readonly { readonly name: string; readonly project: string }[];
  /** Takes back the name that somebody has in a project. */
  readonly unregister: (name: string, project: string) => Promise<void>;
  /** Told when members may have come or gone. */
  readonly onChange: () => void;
}

type How = AgentMember['how'];

interface TaggedRow {
  readonly key: string;
  readonly archived_at: number | null;
  readonly deleted_at: number | null;
  readonly tag: string | null;
}

const longestSlug = 64;
const mostTries = 50;

/** Which named agent is a member of which project, each with one session there: by tags, by invitation, by registering. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #turns = new Turns();
  #closed: ReadonlySet<string> = new Set();
  #wanted = false;
  #working: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Whether a project is archived: members rest there. */
  isClosed(project: string): boolean {
    return this.#closed.has(project);
  }

  invite(asker: Holder, given: string, project: string, commit: Commit): Promise<NamedAgent> {
    const { agents, book, names, projects } = this.#options;
    return this.#turns.take('members', async () => {
      const record = agents.get(given);
      await projects.joinable(project);
      const key = names.keyOf(project);
      const before = book.member(record.name, key);
      if (before && before.how === 'invited') return agents.show(record, { isUser: true });
      await this.#join(record, key, 'invited', asker.source, commit, names.meet(project, asker.participant));
      names.put(key, key, names.shownAs(project));
      return agents.show(record, { isUser: true });
    });
  }

  dismiss(asker: Holder, given: string, project: string, commit: Commit): Promise<NamedAgent> {
    const { agents, book, names } = this.#options;
    return this.#turns.take('members', async () => {
      const record = agents.get(given);
      const key = names.keyOf(project);
      const row = book.member(record.name, key);
      if (!row)
        throw new PolyError('not_found', `"${record.name}" is no member of the project "${project}".`, {
          hint: `poly agent show ${record.name} says where it is.`,
        });
      const tag = row.how === 'tag' ? await this.#tagOf(record, key) : undefined;
      if (tag !== undefined)
        throw new PolyError('conflict', `"${record.name}" is in "${project}" by the tag ${tag}.`, {
          hint: `Take the tag away: poly project tag ${project} --remove ${tag}`,
        });
      await this.#leave(row, asker.source, commit);
      return agents.show(record, { isUser: true });
    });
  }

  /** Makes members of whom tags and registrations make members, and lets go of the others; soon, and once more if asked meanwhile. */
  reconcile(): Promise<void> {
    this.#wanted = true;
    this.#working ??= this.#reconcileAll().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async close(): Promise<void> {
    await this.#working;
  }

  async #reconcileAll(): Promise<void> {
    const { log, onChange } = this.#options;
    while (this.#wanted) {
      this.#wanted = false;
      await this.#turns
        .take('members', () => this.#reconcile())
        .catch((error: unknown) => log.error('members of projects are not up to date', { error }));
    }
    onChange();
  }

  async #reconcile(): Promise<void> {
    const { book, events, hub, registered, store } = this.#options;
    const commit: Commit = ({ statements, drafts = [] }) => events.append(drafts, statements);
    const projects = await this.#projects();
    this.#closed = new Set([...projects].flatMap(([key, { archived }]) => (archived ? key : [])));
    for (const row of book.members()) {
      const project = projects.get(row.project);
      const record = book.get(row.agent);
      const isTagged = record?.tags.some((tag) => project?.tags.has(tag)) ?? false;
      if (!project || (row.how === 'tag' && !(isTagged && !project.archived)))
        await this.#leave(row, hub, commit);
    }
    for (const record of book.list())
      for (const [key, { tags, archived }] of projects)
        if (!archived && record.tags.some((tag) => tags.has(tag)) && !book.member(record.name, key))
          await this.#join(record, key, 'tag', hub, commit);
    for (const { name, project } of registered()) {
      const record = book.get(name);
      // Whom the hub runs is where the user wants it, and nowhere else.
      if (
        record?.hosting === 'self' &&
        projects.get(project)?.archived === false &&
        !book.member(name, project)
      )
        await this.#join(record, project, 'registered', hub, commit);
    }
    // A session that somebody has deleted is begun anew.
    for (const row of book.members()) {
      const [there] = await store.query('SELECT 1 AS there FROM floor_sessions WHERE id = ?', [row.session]);
      const record = book.get(row.agent);
      if (!there && record && !this.#closed.has(row.project))
        await this.#join(record, row.project, row.how, hub, commit);
    }
  }

  /** The projects there are, with their tags. */
  async #projects() {
    const rows = await this.#options.store.query<TaggedRow>(
      `SELECT p.key, p.archived_at, p.deleted_at, t.tag FROM projects p LEFT JOIN project_tags t ON t.project = p.key
        WHERE p.deleted_at IS NULL`,
    );
    const found = new Map<string, { readonly archived: boolean; readonly tags: Set<string> }>();
    for (const { key, archived_at, tag } of rows) {
      const project = found.get(key) ?? { archived: archived_at !== null, tags: new Set<string>() };
      if (tag !== null) project.tags.add(tag);
      found.set(key, project);
    }
    return found;
  }

  async #tagOf({ tags }: NamedRecord, project: string): Promise<string | undefined> {
    const found = (await this.#projects()).get(project);
    return tags.find((tag) => found?.tags.has(tag));
  }

  async #join(
    record: NamedRecord,
    project: string,
    how: How,
    source: Source,
    commit: Commit,
    meets: ReturnType<ProjectBook['meet']> = [],
  ): Promise<void> {
    const { store, clock, book, agents } = this.#options;
    const before = book.member(record.name, project);
    for (let tries = 0; ; tries++) {
      const { session, isNew } = await this.#sessionOf(record, project, tries);
      const [last] = await store.query<{ readonly seq: number | null }>(
        'SELECT max(seq) AS seq FROM timeline WHERE project = ?',
        [project],
      );
      const row: MemberRow = {
        ...{ agent: record.name, project, session: session.id, slug: session.slug, how },
        ...{ pane: null, state: 'away', reason: null, restarts: 0, started_at: null, next_at: null },
        ...{ watched: last?.seq ?? 0, since: clock.now() },
        ...(before && { ...before, session: session.id, slug: session.slug, how }),
      };
      const place = { sessionId: session.id, projectKey: project };
      const members = [...book.membersOf(record.name).filter((one) => one.project !== project), row];
      try {
        await commit({
          statements: [...meets, ...(isNew ? [insertSession(session)] : []), keepMember(row)],
          drafts: [
            ...(isNew ? [draft(source, 'floor:opened', { ...place, slug: session.slug })] : []),
            draft(source, 'floor:agent-joined', { ...place, name: record.name, how }),
          ],
          result: agents.show(record, { isUser: true }, members),
        });
        book.putMember(row);
        return;
      } catch (error) {
        if (!isConflict(error) || tries >= mostTries) throw error;
      }
    }
  }

  async #leave(row: MemberRow, source: Source, commit: Commit): Promise<void> {
    const { book, agents, unregister, log } = this.#options;
    const record = book.get(row.agent);
    const members = book.membersOf(row.agent).filter((one) => one.project !== row.project);
    const place = { sessionId: row.session, projectKey: row.project };
    await commit({
      statements: [dropMember(row)],
      drafts: [draft(source, 'floor:agent-left', { ...place, name: row.agent })],
      result: record && agents.show(record, { isUser: true }, members),
    });
    book.dropMember(row);
    await unregister(row.agent, row.project).catch((error: unknown) =>
      log.error('a named agent that has left still has its name', { agent: row.agent, error }),
    );
  }

  /** The session of an agent in a project, `dean-shop`: the one it had before, or one that is not there yet. */
  async #sessionOf(
    { name, drives, displayName }: NamedRecord,
    project: string,
    tries: number,
  ): Promise<{ readonly session: SessionRow; readonly isNew: boolean }> {
    const { store, hub } = this.#options;
    const agent = participantOf('agent', name);
    for (let number = tries + 1; ; number++) {
      const end = number === 1 ? '' : `-${number}`;
      const slug = `${[...`${name}-${project}`].slice(0, longestSlug - end.length).join('')}${end}`;
      const [there] = await store.query<SessionRow>(
        'SELECT * FROM floor_sessions WHERE project = ? AND slug_key = ?',
        [project, foldName(slug)],
      );
      if (there && (there.agent !== agent || there.archived_at !== null)) continue;
      if (there) return { session: there, isNew: false };
      const about = { project, slug, label: displayName, agent, created_by: hub.participant };
      // One that is to drive finds the seat open.
      const driver = drives ? null : hub.participant;
      return { session: newSession(this.#options, { ...about, driver }), isNew: true };
    }
  }
}
