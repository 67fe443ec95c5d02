import {
  foldName,
  PolyError,
  type TaskAddParams,
  type TaskAddResult,
  type TaskDependParams,
  type TaskDone,
  type TaskListParams,
  type TaskListResult,
} from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Holder } from '../registry/holder.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import type { Commit } from '../registry/registry.ts';
import { isConflict, StoreError } from '../store/errors.ts';
import type { Statement, Store, Value } from '../store/store.ts';
import { refusalOf, refuseForeign } from './refusals.ts';
import { getTask, stillWaits, type TaskRow, tasksOf, unknownTask } from './task-row.ts';

/** A contract a task is built on, as those who know contracts name it. */
interface BuiltOn {
  readonly contract: string;
  readonly name: string;
  readonly version: number;
  readonly current: number;
}

/** Finds the contracts that are meant, and keeps them as they are while the work is done. */
type HoldContracts = <T>(
  project: string,
  wanted: NonNullable<TaskAddParams['contracts']>,
  work: (found: readonly BuiltOn[]) => Promise<T>,
) => Promise<T>;

export interface TasksOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly holdContracts: HoldContracts;
  readonly names: Pick<ProjectNames, 'meet'>;
}

const mostOpen = 10_000;
const keptMs = 30 * 24 * 3_600_000;

/** What there is to do, and what of it waits for what. */
export class Tasks {
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  async add(holder: Holder, project: string, params: TaskAddParams, commit: Commit): Promise<TaskAddResult> {
    const { clock, random, holdContracts, names } = this.#options;
    const projectKey = foldName(project);
    const needs = [...new Set(params.depends_on ?? [])];
    const known = await this.#known(needs, projectKey);
    await this.#refuseTooMany(projectKey);
    return holdContracts(project, params.contracts ?? [], async (built) => {
      const id = `tsk_${random.hex(4)}`;
      const ready = known.every(({ state }) => state === 'completed');
      const result: TaskAddResult = { task_id: id, project, ready };
      await commit({
        statements: [
          ...names.meet(project, holder.participant),
          {
            sql: `INSERT INTO tasks (id, project_key, project, title, description, state, created_by, created_at)
              VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)`,
            values: [
              id,
              projectKey,
              project,
              params.title,
              params.description ?? null,
              holder.participant,
              clock.now(),
            ],
          },
          ...needs.map((need) => dependency(id, need)),
          ...built.map(({ contract, name, version, current }) => ({
            sql: 'INSERT INTO task_contracts (task, contract, name, built_on, current) VALUES (?, ?, ?, ?, ?)',
            values: [id, contract, name, version, current],
          })),
        ],
        drafts: [
          draft(holder.source, 'task:added', { taskId: id, title: params.title, project, dependsOn: needs }),
        ],
        result,
      });
      return result;
    }).catch((error: unknown) => {
      // What it depends on was forgotten meanwhile.
      if (error instanceof StoreError && error.code === 'refused' && needs.length > 0)
        throw unknownTask(needs.join(' or '));
      throw error;
    });
  }

  /** Lets a task wait for others; the write itself looks whether any of them waits for it. */
  async depend(
    holder: Holder,
    { task_id: id, depends_on }: TaskDependParams,
    commit: Commit,
  ): Promise<TaskDone> {
    const row = await getTask(this.#options.store, id);
    refuseForeign(row, holder);
    const needs = [...new Set(depends_on)];
    await this.#known(needs, row.project_key);
    if (row.state === 'completed') throw refusalOf(row, holder, undefined);
    const result: TaskDone = { ok: true, task_id: id };
    try {
      await commit({
        statements: needs.map((need) => dependency(id, need)),
        drafts: [draft(holder.source, 'task:depends', { taskId: id, dependsOn: needs })],
        result,
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new PolyError(
        'invalid_arguments',
        `${id} cannot wait for ${needs.join(', ')}: that waits for ${id} itself.`,
        {
          hint: 'Tasks cannot wait for each other in a circle; leave one of them out.',
          details: { reason: 'cyclic_dependency' },
        },
      );
    }
    return result;
  }

  async list(holder: Holder, project: string | undefined, params: TaskListParams): Promise<TaskListResult> {
    const { store } = this.#options;
    const { status, ready, mine, after, limit = 100 } = params;
    const free = `(state = 'pending' AND NOT ${stillWaits})`;
    const wanted: readonly (readonly [string, readonly Value[]] | false)[] = [
      project !== undefined && ['project_key = ?', [foldName(project)]],
      status !== undefined && ['state = ?', [status]],
      ready !== undefined && [ready ? free : `NOT ${free}`, []],
      mine === true && [`owner IN (${holder.keys.map(() => '?').join(', ')})`, holder.keys],
      after !== undefined && ['seq > ?', [(await getTask(store, after)).seq]],
    ];
    const kept = wanted.filter((one) => one !== false);
    const where = kept.map(([sql]) => sql).join(' AND ') || '1 = 1';
    const values = kept.flatMap(([, given]) => given);
    const rows = await store.query<TaskRow>(`SELECT * FROM tasks WHERE ${where} ORDER BY seq LIMIT ?`, [
      ...values,
      limit + 1,
    ]);
    return { tasks: await tasksOf(store, rows.slice(0, limit)), has_more: rows.length > limit };
  }

  /** Forgets what was completed long ago and nobody waits for. */
  async forget(): Promise<void> {
    const { store, clock } = this.#options;
    const old = `SELECT t.id FROM tasks t WHERE t.state = 'completed' AND t.completed_at < ? AND NOT EXISTS (
      SELECT 1 FROM task_dependencies d JOIN tasks w ON w.id = d.task WHERE d.needs = t.id AND w.state <> 'completed')`;
    const values = [clock.now() - keptMs];
    await store.commit({
      statements: [
        { sql: `DELETE FROM task_contracts WHERE task IN (${old})`, values },
        {
          sql: `DELETE FROM task_dependencies WHERE task IN (${old}) OR needs IN (${old})`,
          values: [...values, ...values],
        },
        {
          sql: `DELETE FROM tasks WHERE state = 'completed' AND completed_at < ? AND NOT EXISTS (
          SELECT 1 FROM task_dependencies d WHERE d.needs = tasks.id OR d.task = tasks.id)`,
          values,
        },
      ],
      useReserve: true,
    });
  }

  async #known(ids: readonly string[], projectKey: string): Promise<readonly TaskRow[]> {
    const found = await Promise.all(ids.map((id) => getTask(this.#options.store, id)));
    const foreign = found.find(({ project_key }) => project_key !== projectKey);
    if (!foreign) return found;
    throw new PolyError('invalid_arguments', `${foreign.id} is a task of the project "${foreign.project}".`, {
      hint: 'A task can only wait for tasks of its own project.',
    });
  }

  async #refuseTooMany(projectKey: string): Promise<void> {
    const [row] = await this.#options.store.query<{ readonly count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM tasks WHERE project_key = ? AND state <> 'completed' LIMIT ?) open`,
      [projectKey, mostOpen],
    );
    if ((row?.count ?? 0) < mostOpen) return;
    throw new PolyError('too_many_requests', `the project has ${mostOpen} tasks that are not completed.`, {
      hint: 'Complete some of them first.',
    });
  }
}

/** That one task waits for another, unless that waits for the first, however many are in between. */
function dependency(task: string, needs: string): Statement {
  return {
    sql: `INSERT INTO task_dependencies (task, needs) SELECT ?, ? WHERE ? NOT IN (
      WITH RECURSIVE needed (id) AS (
        SELECT CAST(? AS TEXT) UNION SELECT d.needs FROM task_dependencies d JOIN needed ON d.task = needed.id
      ) SELECT id FROM needed
    ) ON CONFLICT (task, needs) DO UPDATE SET needs = excluded.needs`,
    values: [task, needs, task, needs],
    expect: 1,
  };
}
