import type {
  FloorSession,
  Project,
  ProjectArchiveParams,
  ProjectDeleted,
  ProjectRetentionParams,
} from '@polyphony/protocol';
import { draft, type EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import type { Statement, Store, Value } from '../store/store.ts';
import type { Projects } from './projects.ts';
import { isoTime, type SessionRow } from './session-row.ts';
import type { Sessions } from './sessions.ts';

export interface ForgettingOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly projects: Projects;
  readonly sessions: Sessions;
}

const dayMs = 24 * 3_600_000;
/** So many entries are forgotten in one commit: others write in between. */
const atOnce = 500;

/** What else hangs on sessions that are forgotten, to be forgotten before them. */
export type AlsoForgets = (sessions: readonly string[]) => readonly Statement[];

/** Puts projects and sessions away, and forgets them for good: in the timeline, its index and the captures. */
export class Forgetting {
  readonly #options: ForgettingOptions;
  readonly #also: AlsoForgets[] = [];

  constructor(options: ForgettingOptions) {
    this.#options = options;
  }

  /** Whoever keeps something by session says here what is to be forgotten with it. */
  also(forgets: AlsoForgets): void {
    this.#also.push(forgets);
  }

  async archiveProject(
    asker: Holder,
    { project, undo = false }: ProjectArchiveParams,
    commit: Commit,
  ): Promise<Project> {
    const { clock, projects } = this.#options;
    const { archived_at: _, ...before } = await projects.show(project);
    const now = clock.now();
    const result: Project = undo ? before : { ...before, archived_at: isoTime(now) };
    await commit({
      statements: [
        {
          sql: 'UPDATE projects SET archived_at = ? WHERE key = ?',
          values: [undo ? null : now, before.key],
          expect: 1,
        },
        ...(undo ? [] : [endFeeds('project = ?', before.key, now)]),
      ],
      drafts: [draft(asker.source, 'project:archived', { projectKey: before.key, archived: !undo })],
      result,
    });
    return result;
  }

  async archiveSession(asker: Holder, row: SessionRow, undo: boolean, commit: Commit): Promise<FloorSession> {
    const { clock, sessions } = this.#options;
    const now = clock.now();
    const archived_at = undo ? null : (row.archived_at ?? now);
    const shown = await sessions.show({ ...row, archived_at });
    const result = undo ? shown : { ...shown, bindings: [] };
    await commit({
      statements: [
        {
          sql: 'UPDATE floor_sessions SET archived_at = ? WHERE id = ?',
          values: [archived_at, row.id],
          expect: 1,
        },
        ...(undo ? [] : [endFeeds('id = ?', row.id, now)]),
      ],
      drafts: [
        draft(asker.source, 'floor:archived', {
          ...{ sessionId: row.id, projectKey: row.project, archived: !undo },
        }),
      ],
      result,
    });
    return result;
  }

  /** Forgets everything that happened in a project. Its names stay its own: what was made under them may live on. */
  async deleteProject(asker: Holder, project: string, commit: Commit): Promise<ProjectDeleted> {
    const { store, clock, projects } = this.#options;
    const { key, name } = await projects.show(project);
    const rows = await store.query<{ readonly id: string; readonly entries: number }>(
      'SELECT id, (SELECT count(*) FROM timeline WHERE session = floor_sessions.id) AS entries FROM floor_sessions WHERE project = ?',
      [key],
    );
    const result: ProjectDeleted = {
      project: name,
      sessions: rows.length,
      entries: rows.reduce((sum, { entries }) => sum + entries, 0),
    };
    await this.#forgetMost('project = ?', [key]);
    const now = clock.now();
    await commit({
      statements: [
        ...this.#forgetSessions(
          'project = ?',
          key,
          rows.map(({ id }) => id),
        ),
        { sql: 'DELETE FROM project_tags WHERE project = ?', values: [key] },
        {
          sql: 'UPDATE projects SET deleted_at = ?, archived_at = NULL, retention_days = NULL WHERE key = ?',
          values: [now, key],
        },
      ],
      drafts: [draft(asker.source, 'project:deleted', { projectKey: key })],
      result,
    });
    return result;
  }

  async deleteSession(
    asker: Holder,
    { id, project }: SessionRow,
    commit: Commit,
  ): Promise<{ readonly session_id: string; readonly entries: number }> {
    const [row] = await this.#options.store.query<{ readonly entries: number }>(
      'SELECT count(*) AS entries FROM timeline WHERE session = ?',
      [id],
    );
    const result = { session_id: id, entries: row?.entries ?? 0 };
    await this.#forgetMost('session = ?', [id]);
    await commit({
      statements: this.#forgetSessions('id = ?', id, [id]),
      drafts: [draft(asker.source, 'floor:deleted', { sessionId: id, projectKey: project })],
      result,
    });
    return result;
  }

  async retain(asker: Holder, params: ProjectRetentionParams, commit: Commit): Promise<Project> {
    const { days, project } = params;
    const { retention_days: _, ...before } = await this.#options.projects.show(project);
    const result: Project = { ...before, ...(days !== null && { retention_days: days }) };
    await commit({
      statements: [
        {
          sql: 'UPDATE projects SET retention_days = ? WHERE key = ?',
          values: [days, before.key],
          expect: 1,
        },
      ],
      drafts: [draft(asker.source, 'project:retention', { projectKey: before.key, days })],
      result,
    });
    if (days !== null) await this.#forgetOld(before.key, days);
    return result;
  }

  /** Forgets what is older than its project keeps anything. */
  async run(): Promise<void> {
    const rows = await this.#options.store.query<{ readonly key: string; readonly days: number }>(
      'SELECT key, retention_days AS days FROM projects WHERE retention_days IS NOT NULL AND deleted_at IS NULL',
    );
    for (const { key, days } of rows) await this.#forgetOld(key, days);
  }

  #forgetOld(project: string, days: number): Promise<void> {
    const before = this.#options.clock.now() - days * dayMs;
    return this.#forgetMost('project = ? AND occurred_at < ?', [project, before]);
  }

  /** Lot by lot, the oldest first; not what comes meanwhile, or it would go on for as long as an agent writes. */
  async #forgetMost(where: string, values: readonly Value[]): Promise<void> {
    const { store, events } = this.#options;
    const [newest] = await store.query<{ readonly seq: number | null }>(
      'SELECT max(seq) AS seq FROM timeline',
    );
    for (;;) {
      const rows = await store.query<{ readonly seq: number }>(
        `SELECT seq FROM timeline WHERE ${where} AND seq <= ? ORDER BY occurred_at LIMIT ${atOnce}`,
        [...values, newest?.seq ?? 0],
      );
      if (rows.length === 0) return;
      const seqs = rows.map(({ seq }) => seq);
      const marks = seqs.map(() => '?').join(', ');
      await events.append([], forgetEntries(`seq IN (${marks})`, seqs), { onFullDisk: true });
    }
  }

  #forgetSessions(where: string, value: string, ids: readonly string[]): readonly Statement[] {
    const among = `session IN (SELECT id FROM floor_sessions WHERE ${where})`;
    return [
      ...forgetEntries(among, [value]),
      ...this.#also.flatMap((forgets) => forgets(ids)),
      ...['annotations', 'floor_links', 'floor_bindings'].map((table) => ({
        sql: `DELETE FROM ${table} WHERE ${among}`,
        values: [value],
      })),
      { sql: `DELETE FROM floor_sessions WHERE ${where}`, values: [value] },
    ];
  }
}

/** Entries, what was put on them, and the captures they tell of. */
function forgetEntries(where: string, values: readonly Value[]): readonly Statement[] {
  const among = (column: string): string => `SELECT ${column} FROM timeline WHERE ${where}`;
  return [
    { sql: `DELETE FROM annotations WHERE entry IN (${among('id')})`, values },
    { sql: `DELETE FROM floor_links WHERE entry IN (${among('id')})`, values },
    { sql: `DELETE FROM capture_twins WHERE capture IN (${among('capture')})`, values },
    { sql: `DELETE FROM captures WHERE id IN (${among('capture')})`, values },
    {
      sql: `UPDATE floor_sessions SET
        entries = entries - (SELECT count(*) FROM timeline WHERE ${where} AND timeline.session = floor_sessions.id),
        prompts = prompts - (SELECT count(*) FROM timeline WHERE ${where} AND timeline.session = floor_sessions.id
          AND kind = 'prompt')
        WHERE id IN (${among('session')})`,
      values: [...values, ...values, ...values],
    },
    { sql: `DELETE FROM timeline WHERE ${where}`, values },
  ];
}

const endFeeds = (where: string, value: string, at: number): Statement => ({
  sql: `UPDATE floor_bindings SET until_at = ?, ended_by = 'archived'
    WHERE until_at IS NULL AND session IN (SELECT id FROM floor_sessions WHERE ${where})`,
  values: [at, value],
});
