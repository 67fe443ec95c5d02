import {
  type FloorJoined,
  type FloorJoinParams,
  type FloorLabelParams,
  type FloorLeft,
  type FloorOpenParams,
  type FloorOverview,
  type FloorSession,
  type FloorSessionList,
  type FloorSessionsParams,
  type FloorStatus,
  foldName,
  type Participant,
  PolyError,
} from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import { isConflict } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import {
  type AgentIn,
  bind,
  type Feed,
  feedOf,
  grainMs,
  type NamedFeed,
  openBinding,
  unbind,
} from './feed.ts';
import type { ProjectBook } from './project-book.ts';
import type { Projects } from './projects.ts';
import {
  type BindingRow,
  insertSession,
  newSession,
  type SessionRow,
  sessionOf,
  sessionsOf,
} from './session-row.ts';
import { drawSlug } from './slug.ts';
import type { NewEntry, Recorder } from './timeline/recorder.ts';

export interface SessionsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly book: ProjectBook;
  readonly projects: Projects;
  readonly recorder: Recorder;
  readonly agentIn: AgentIn;
  /** How long a driver who does nothing keeps the seat. */
  readonly seatMs: number;
  /** The person this hub belongs to. */
  readonly user: Participant;
}

type FeedChoice = Pick<FloorJoinParams, 'pane' | 'vendor' | 'conversation'>;

/** Conversations in projects, and which agent feeds which. Each change is one commit, true of what was read. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  async join(asker: Holder, project: string, params: FloorJoinParams, commit: Commit): Promise<FloorJoined> {
    const feed = feedOf(asker, params, this.#options.agentIn);
    if (!feed)
      throw new PolyError(
        'invalid_arguments',
        'you are in no pane, so that nothing would feed the session.',
        {
          hint: 'Join in the pane of the agent, or say which one with --pane; poly ls shows them.',
        },
      );
    return this.#again((tries) => this.#join(asker, project, params, feed, tries, commit));
  }

  async #join(
    asker: Holder,
    project: string,
    params: FloorJoinParams,
    feed: Feed,
    tries: number,
    commit: Commit,
  ): Promise<FloorJoined> {
    const { store, clock, book } = this.#options;
    const key = book.keyOf(project);
    const isThere = await this.#options.projects.joinable(project);
    const open = await openBinding(store, feed);
    const fed = open && (await this.#byId(open.session));
    const named = params.session === undefined ? undefined : await this.#named(key, params.session);
    const stays = params.session === undefined && fed?.project === key ? fed : undefined;
    const before = named ?? stays;
    if (before?.archived_at != null) throw archived(before);
    if (before && open?.session === before.id)
      return this.#result('again', before, await this.#feeds(before.id));
    const now = clock.now();
    const agent = agentOf(asker, params.agent, feed);
    const row = before ?? this.#newRow(asker, key, params, agent, tries);
    const speaker = { ...row, agent: agent ?? row.agent };
    const entries: readonly NewEntry[] = [
      ...(fed ? [this.#told(fed, asker, 'left', `${asker.participant} went on elsewhere.`)] : []),
      this.#told(speaker, asker, 'joined', `${speaker.agent ?? asker.participant} joined.`),
    ];
    const written = this.#options.recorder.write(asker.source, entries);
    const place = { sessionId: row.id, projectKey: key };
    const pane = feed.pane === null ? {} : { pane: feed.pane };
    const status = before ? 'joined' : 'created';
    const result = this.#result(status, row, [
      ...(await this.#feeds(row.id)),
      bindingRow(row.id, { ...feed, agent }, now),
    ]);
    await commit({
      statements: [
        ...book.meet(project, asker.participant),
        ...(before ? [] : [insertSession(row)]),
        ...(open ? [unbind(open, now, 'moved')] : []),
        bind(row.id, { ...feed, agent }, now - grainMs),
        ...written.statements,
      ],
      drafts: [
        ...(isThere ? [] : [draft(asker.source, 'project:created', { projectKey: key, name: project })]),
        ...(before ? [] : [draft(asker.source, 'floor:opened', { ...place, slug: row.slug })]),
        ...(fed
          ? [
              draft(asker.source, 'floor:left', {
                ...{ sessionId: fed.id, projectKey: fed.project, ...pane, reason: 'moved' },
              }),
            ]
          : []),
        draft(asker.source, 'floor:joined', {
          ...{ ...place, ...pane },
          ...(speaker.agent && { agent: speaker.agent }),
        }),
        ...written.drafts,
      ],
      result,
    });
    if (!isThere) book.put(key, key, project);
    return result;
  }

  async leave(asker: Holder, choice: FeedChoice, commit: Commit): Promise<FloorLeft> {
    const { store, clock, recorder } = this.#options;
    const feed = feedOf(asker, choice, this.#options.agentIn);
    const open = feed && (await openBinding(store, feed));
    const row = open && (await this.#byId(open.session));
    if (!open || !row) return {};
    const written = recorder.write(asker.source, [
      this.#told(
        { ...row, agent: open.agent ?? row.agent },
        asker,
        'left',
        `${open.agent ?? row.agent ?? asker.participant} left.`,
      ),
    ]);
    const others = (await this.#feeds(row.id)).filter(({ id }) => id !== open.id);
    const result: FloorLeft = { session: sessionOf(row, others, this.#shown(row)) };
    await commit({
      statements: [unbind(open, clock.now(), 'left'), ...written.statements],
      drafts: [
        draft(asker.source, 'floor:left', {
          ...{ sessionId: row.id, projectKey: row.project, reason: 'left' },
          ...(open.pane !== null && { pane: open.pane }),
        }),
        ...written.drafts,
      ],
      result,
    });
    return result;
  }

  /** What fed from a pane that is no more feeds no longer; its conversation may be taken up elsewhere. */
  async gone(pane: string, commit: Commit): Promise<void> {
    const { store, clock, recorder, user } = this.#options;
    await this.#again(async () => {
      const open = await openBinding(store, { pane, vendor: null, conversation: null });
      const row = open && (await this.#byId(open.session));
      if (!open || !row) return;
      const source = { participant: user, pane };
      const written = recorder.write(source, [
        {
          session: row,
          kind: 'left',
          sender: open.agent ?? row.agent ?? user,
          text: `The pane ${pane} is gone.`,
        },
      ]);
      await commit({
        statements: [unbind(open, clock.now(), 'gone'), ...written.statements],
        drafts: [
          draft(source, 'floor:left', {
            ...{ sessionId: row.id, projectKey: row.project, pane, reason: 'gone' },
          }),
          ...written.drafts,
        ],
        result: {},
      });
    });
  }

  /** Ends what feeds from panes that ended while no hub ran. */
  async start(isThere: (pane: string) => boolean, commit: Commit): Promise<void> {
    const rows = await this.#options.store.query<{ readonly pane: string }>(
      'SELECT pane FROM floor_bindings WHERE until_at IS NULL AND pane IS NOT NULL',
    );
    for (const { pane } of rows) if (!isThere(pane)) await this.gone(pane, commit);
  }

  /** The session that somebody's agent feeds now. */
  async fedBy(asker: Holder, choice: FeedChoice = {}): Promise<SessionRow | undefined> {
    const feed = feedOf(asker, choice, this.#options.agentIn);
    const open = feed && (await openBinding(this.#options.store, feed));
    return open && this.#byId(open.session);
  }

  async overview(): Promise<FloorOverview> {
    const [counts] = await this.#options.store.query<FloorOverview>(
      `SELECT (SELECT count(*) FROM projects WHERE deleted_at IS NULL AND archived_at IS NULL) AS projects,
        (SELECT count(*) FROM floor_sessions WHERE archived_at IS NULL) AS sessions,
        (SELECT count(DISTINCT session) FROM floor_bindings WHERE until_at IS NULL) AS live,
        (SELECT coalesce(sum(entries), 0) FROM floor_sessions) AS entries`,
    );
    return counts as FloorOverview;
  }

  async status(asker: Holder, choice: FeedChoice): Promise<FloorStatus> {
    const { store } = this.#options;
    const row = await this.fedBy(asker, choice);
    const { participant: you, isUser: owner } = asker;
    if (!row) return { connected: false, you, owner, line: '' };
    const [session] = await sessionsOf(store, [row], (project) => this.#options.book.shownAs(project));
    const driver = row.driver === null ? 'open seat' : row.driver;
    return {
      ...{ connected: true, you, owner, line: `${this.#shown(row)}/${row.slug} · ${driver}` },
      session: session as FloorSession,
    };
  }

  async open(asker: Holder, project: string, params: FloorOpenParams, commit: Commit): Promise<FloorSession> {
    const { book } = this.#options;
    return this.#again(async (tries) => {
      const isThere = await this.#options.projects.joinable(project);
      const key = book.keyOf(project);
      const { name: session, label } = params;
      if (session !== undefined && (await this.#named(key, session))) throw taken(session, project);
      const row = this.#newRow(asker, key, { session, label }, null, tries);
      const result = sessionOf(row, [], isThere?.name ?? project);
      const place = { sessionId: row.id, projectKey: key };
      await commit({
        statements: [...book.meet(project, asker.participant), insertSession(row)],
        drafts: [
          ...(isThere ? [] : [draft(asker.source, 'project:created', { projectKey: key, name: project })]),
          draft(asker.source, 'floor:opened', { ...place, slug: row.slug }),
        ],
        result,
      });
      if (!isThere) book.put(key, key, project);
      return result;
    });
  }

  async list(project: string | undefined, params: FloorSessionsParams): Promise<FloorSessionList> {
    const { store, book } = this.#options;
    const { archived = false, live, limit = 100 } = params;
    const fed =
      'EXISTS (SELECT 1 FROM floor_bindings b WHERE b.session = floor_sessions.id AND b.until_at IS NULL)';
    const where = [
      `archived_at IS ${archived ? 'NOT ' : ''}NULL`,
      ...(project === undefined ? [] : ['project = ?']),
      ...(live === undefined ? [] : [live ? fed : `NOT ${fed}`]),
    ];
    const rows = await store.query<SessionRow>(
      `SELECT * FROM floor_sessions WHERE ${where.join(' AND ')} ORDER BY active_at DESC, id LIMIT ?`,
      [...(project === undefined ? [] : [book.keyOf(project)]), limit + 1],
    );
    const sessions = await sessionsOf(store, rows.slice(0, limit), (key) => book.shownAs(key));
    return { sessions, has_more: rows.length > limit };
  }

  async show(row: SessionRow): Promise<FloorSession> {
    return sessionOf(row, await this.#feeds(row.id), this.#shown(row));
  }

  async label(
    asker: Holder,
    row: SessionRow,
    label: FloorLabelParams['label'],
    commit: Commit,
  ): Promise<FloorSession> {
    const result = await this.show({ ...row, label });
    await commit({
      statements: [
        { sql: 'UPDATE floor_sessions SET label = ? WHERE id = ?', values: [label, row.id], expect: 1 },
      ],
      drafts: [draft(asker.source, 'floor:changed', { sessionId: row.id, projectKey: row.project })],
      result,
    });
    return result;
  }

  /** The session that is meant: by its id, by its name in a project, or by its name where only one has it. */
  async find(session: string, project: string | undefined): Promise<SessionRow> {
    const { store, book } = this.#options;
    const key = project === undefined ? undefined : book.keyOf(project);
    if (key !== undefined || isSessionId(session)) {
      const row = isSessionId(session) ? await this.#byId(session) : await this.#named(key ?? '', session);
      if (row && (key === undefined || row.project === key)) return row;
      throw unknownSession(session, project);
    }
    const rows = await store.query<SessionRow>('SELECT * FROM floor_sessions WHERE slug_key = ? LIMIT 10', [
      foldName(session),
    ]);
    const [row, ...others] = rows;
    if (!row) throw unknownSession(session, project);
    if (others.length === 0) return row;
    throw new PolyError('conflict', `more than one project has a session "${session}".`, {
      hint: `Say which: ${rows.map((one) => this.#shown(one)).join(', ')}.`,
    });
  }

  #newRow(
    asker: Holder,
    project: string,
    { session, label }: Pick<FloorJoinParams, 'session' | 'label'>,
    agent: string | null,
    tries: number,
  ): SessionRow {
    const slug = session?.normalize('NFC') ?? drawSlug(this.#options.random, tries);
    const { user: driver } = this.#options;
    const about = { project, slug, label: label ?? null, agent, driver, created_by: asker.participant };
    return newSession(this.#options, about);
  }

  #told(row: SessionRow, asker: Holder, kind: 'joined' | 'left', text: string): NewEntry {
    return { session: row, kind, sender: row.agent ?? asker.participant, text };
  }

  #result(
    status: FloorJoined['status'],
    row: SessionRow,
    bindings: readonly Omit<BindingRow, 'id'>[],
  ): FloorJoined {
    const hint =
      row.driver === null
        ? 'Nobody drives it: poly claim takes the seat.'
        : `${row.driver} drives it; others advise, or ask for the seat.`;
    return { status, session: sessionOf(row, bindings, this.#shown(row)), hint };
  }

  #shown({ project }: Pick<SessionRow, 'project'>): string {
    return this.#options.book.shownAs(project);
  }

  #feeds(session: string): Promise<readonly BindingRow[]> {
    return this.#options.store.query<BindingRow>(
      'SELECT * FROM floor_bindings WHERE session = ? AND until_at IS NULL ORDER BY id',
      [session],
    );
  }

  async #byId(id: string): Promise<SessionRow | undefined> {
    const [row] = await this.#options.store.query<SessionRow>('SELECT * FROM floor_sessions WHERE id = ?', [
      id,
    ]);
    return row;
  }

  async #named(project: string, slug: string): Promise<SessionRow | undefined> {
    if (isSessionId(slug)) {
      const row = await this.#byId(slug);
      if (row?.project === project) return row;
      throw unknownSession(slug, project);
    }
    const [row] = await this.#options.store.query<SessionRow>(
      'SELECT * FROM floor_sessions WHERE project = ? AND slug_key = ?',
      [project, foldName(slug)],
    );
    return row;
  }

  /** Of two who do the same at once, the second reads again what there is now. */
  async #again<T>(work: (tries: number) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work(tries);
      } catch (error) {
        if (!isConflict(error) || tries >= mostTries) throw error;
      }
    }
  }
}

const mostTries = 50;
const isSessionId = (text: string): boolean => /^ses_[0-9a-f]{16}$/.test(text);

/** Whose words those of the agent are: its own name, or that of the coding agent it is. */
function agentOf(asker: Holder, named: string | undefined, feed: Feed): string | null {
  if (named !== undefined) return `agent:${foldName(named)}`;
  const registered = !asker.isUser && asker.project !== undefined;
  if (registered) return asker.participant;
  return feed.vendor === null ? null : `agent:${feed.vendor}`;
}

function bindingRow(session: string, feed: NamedFeed, at: number): Omit<BindingRow, 'id'> {
  return { session, ...feed, from_at: at, until_at: null, ended_by: null };
}

function unknownSession(session: string, project: string | undefined): PolyError {
  const where = project === undefined ? '' : ` in the project "${project}"`;
  return new PolyError('not_found', `there is no session "${session}"${where}.`, {
    hint: 'poly floor sessions shows them.',
  });
}

const taken = (slug: string, project: string): PolyError =>
  new PolyError('conflict', `the project "${project}" has a session "${slug}" already.`, {
    hint: 'Choose another name, or join that one.',
  });

const archived = ({ slug }: SessionRow): PolyError =>
  new PolyError('conflict', `the session "${slug}" is archived.`, {
    hint: `Take it out again: poly floor archive ${slug} --undo`,
  });
