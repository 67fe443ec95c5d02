import {
  foldName,
  PolyError,
  type Project,
  type ProjectCreateParams,
  type ProjectListParams,
  type ProjectRenameParams,
  type ProjectTagParams,
} from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import { isConflict } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';
import type { ProjectBook } from './project-book.ts';
import { isoTime } from './session-row.ts';

export interface ProjectsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly book: ProjectBook;
}

export interface ProjectRow {
  readonly key: string;
  readonly name: string;
  readonly archived_at: number | null;
  readonly deleted_at: number | null;
  readonly retention_days: number | null;
  readonly created_by: string;
  readonly created_at: number;
}

type ListedRow = ProjectRow & { readonly sessions: number; readonly active_at: number | null };

/** What people and agents share, by names that may change. */
export class Projects {
  readonly #options: ProjectsOptions;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  async create(asker: Holder, { name, tags = [] }: ProjectCreateParams, commit: Commit): Promise<Project> {
    const { clock, book } = this.#options;
    const given = name.normalize('NFC');
    const key = book.keyOf(given);
    const before = await this.#row(key);
    if (before && before.deleted_at === null) throw taken(given, before);
    const now = clock.now();
    const row: ProjectRow = {
      ...{ key, name: before?.name ?? given, archived_at: null, deleted_at: null, retention_days: null },
      ...{ created_by: before?.created_by ?? asker.participant, created_at: before?.created_at ?? now },
    };
    const kept = [...new Set(tags.map(foldName))].toSorted();
    const result = projectOf(row, [], kept);
    await commit({
      statements: [...book.meet(given, asker.participant, now), ...kept.map((tag) => addTag(key, tag))],
      drafts: [draft(asker.source, 'project:created', { projectKey: key, name: row.name })],
      result,
    });
    book.put(key, row.name, row.name);
    return result;
  }

  async list({ archived = false, tag }: ProjectListParams): Promise<readonly Project[]> {
    const where = [
      `deleted_at IS NULL AND archived_at IS ${archived ? 'NOT ' : ''}NULL`,
      ...(tag === undefined
        ? []
        : ['EXISTS (SELECT 1 FROM project_tags t WHERE t.project = key AND t.tag = ?)']),
    ];
    const values = tag === undefined ? [] : [foldName(tag)];
    return this.#shown(where.join(' AND '), values);
  }

  async show(name: string): Promise<Project> {
    const [found] = await this.#shown('key = ? AND deleted_at IS NULL', [this.#options.book.keyOf(name)]);
    if (found) return found;
    throw unknownProject(name);
  }

  /** A name that was ever a project's stays with it. */
  async rename(asker: Holder, { project, name }: ProjectRenameParams, commit: Commit): Promise<Project> {
    const { clock, book } = this.#options;
    const before = await this.show(project);
    const given = name.normalize('NFC');
    const result: Project = {
      ...before,
      name: given,
      earlier_names: [...new Set([...before.earlier_names, before.name])].filter((one) => one !== given),
    };
    if (given === before.name) return result;
    try {
      await commit({
        statements: [
          {
            sql: `INSERT INTO project_names (name_key, project, name, since) VALUES (?, ?, ?, ?)
              ON CONFLICT (name_key) DO UPDATE SET name = excluded.name WHERE project_names.project = excluded.project`,
            values: [foldName(given), before.key, given, clock.now()],
            expect: 1,
          },
          { sql: 'UPDATE projects SET name = ? WHERE key = ?', values: [given, before.key], expect: 1 },
        ],
        drafts: [
          draft(asker.source, 'project:renamed', {
            ...{ projectKey: before.key, name: given, before: before.name },
          }),
        ],
        result,
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw taken(given, await this.#row(book.keyOf(given)));
    }
    book.put(before.key, given, given);
    return result;
  }

  async tag(asker: Holder, params: ProjectTagParams, commit: Commit): Promise<Project> {
    const { project, add = [], remove = [] } = params;
    const before = await this.show(project);
    const gone = new Set(remove.map(foldName));
    const added = add.map(foldName).filter((tag) => !gone.has(tag));
    const tags = [...new Set([...before.tags.filter((tag) => !gone.has(tag)), ...added])].toSorted();
    const result: Project = { ...before, tags };
    if (tags.join() === before.tags.join()) return result;
    await commit({
      statements: [
        ...[...gone].map((tag) => ({
          sql: 'DELETE FROM project_tags WHERE project = ? AND tag = ?',
          values: [before.key, tag],
        })),
        ...added.map((tag) => addTag(before.key, tag)),
      ],
      drafts: [draft(asker.source, 'project:tagged', { projectKey: before.key, tags })],
      result,
    });
    return result;
  }

  /** The row of a project that can be joined; one that is not there yet is nothing. */
  async joinable(name: string): Promise<ProjectRow | undefined> {
    const row = await this.#row(this.#options.book.keyOf(name));
    if (row && row.deleted_at === null && row.archived_at !== null)
      throw new PolyError('conflict', `the project "${row.name}" is archived.`, {
        hint: `Take it out again: poly project archive ${row.name} --undo`,
      });
    return row?.deleted_at === null ? row : undefined;
  }

  async #row(key: string): Promise<ProjectRow | undefined> {
    const [row] = await this.#options.store.query<ProjectRow>('SELECT * FROM projects WHERE key = ?', [key]);
    return row;
  }

  async #shown(where: string, values: readonly string[]): Promise<readonly Project[]> {
    const { store } = this.#options;
    const rows = await store.query<ListedRow>(
      `SELECT projects.*,
        (SELECT count(*) FROM floor_sessions s WHERE s.project = key AND s.archived_at IS NULL) AS sessions,
        (SELECT max(active_at) FROM floor_sessions s WHERE s.project = key) AS active_at
        FROM projects WHERE ${where} ORDER BY coalesce(active_at, created_at) DESC, key LIMIT 1000`,
      values,
    );
    if (rows.length === 0) return [];
    const keys = rows.map(({ key }) => key);
    const marks = keys.map(() => '?').join(', ');
    const names = await store.query<{ readonly project: string; readonly name: string }>(
      `SELECT project, name FROM project_names WHERE project IN (${marks}) ORDER BY since, name_key`,
      keys,
    );
    const tags = await store.query<{ readonly project: string; readonly tag: string }>(
      `SELECT project, tag FROM project_tags WHERE project IN (${marks}) ORDER BY tag`,
      keys,
    );
    return rows.map((row) =>
      projectOf(
        row,
        names.filter(({ project }) => project === row.key).map(({ name }) => name),
        tags.filter(({ project }) => project === row.key).map(({ tag }) => tag),
        row,
      ),
    );
  }
}

function projectOf(
  row: ProjectRow,
  names: readonly string[],
  tags: readonly string[],
  { sessions, active_at }: Pick<ListedRow, 'sessions' | 'active_at'> = { sessions: 0, active_at: null },
): Project {
  return {
    ...{ key: row.key, name: row.name, tags, sessions },
    earlier_names: names.filter((name) => foldName(name) !== foldName(row.name)),
    ...(active_at !== null && { last_activity_at: isoTime(active_at) }),
    ...(row.archived_at !== null && { archived_at: isoTime(row.archived_at) }),
    ...(row.retention_days !== null && { retention_days: row.retention_days }),
    ...{ created_by: row.created_by, created_at: isoTime(row.created_at) },
  };
}

const addTag = (project: string, tag: string): Statement => ({
  sql: 'INSERT INTO project_tags (project, tag) VALUES (?, ?) ON CONFLICT DO NOTHING',
  values: [project, tag],
});

function unknownProject(name: string): PolyError {
  return new PolyError('not_found', `there is no project "${name}".`, {
    hint: 'poly project list shows them; poly project create makes one.',
  });
}

function taken(name: string, by: ProjectRow | undefined): PolyError {
  const now = by && foldName(by.name) !== foldName(name) ? `, which is called "${by.name}" now` : '';
  return new PolyError('conflict', `the name "${name}" belongs to a project already${now}.`, {
    hint: 'A name that a project ever had stays its own: choose another.',
  });
}
