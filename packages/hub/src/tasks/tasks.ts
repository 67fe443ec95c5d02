import {
  foldName,
  PolyError,
  type TaskAddParams,
  type TaskAddResult,
  type TaskClaimParams,
  type TaskCompleteParams,
  type TaskDependParams,
  type TaskDone,
  type TaskHeld,
  type TaskHoldParams,
  type TaskListParams,
  type TaskListResult,
  type TaskReleaseParams,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { DueTimer } from '../platform/due-timer.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import type { Holder } from '../registry/holder.ts';
import type { Step } from '../registry/registry.ts';
import { StoreError } from '../store/errors.ts';
import type { Committed, Statement, Store, Value } from '../store/store.ts';
import { alreadyClaimed, dependenciesPending, refusalOf, staleContract, unknownTask } from './refusals.ts';
import { contractsOf, isoTime, needsOf, type TaskRow, tasksOf } from './task-row.ts';

type Commit = (step: Step) => Promise<Committed>;

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
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Who tells that a claim has run out. */
  readonly hub: Source;
  readonly holdContracts: HoldContracts;
}

const defaultLeaseS = 3600;
const mostOpen = 10_000;
const keptMs = 30 * 24 * 3_600_000;

/**
 * Work that is claimed by one at a time. Every change is one conditional write with its event: it is true for the row
 * as it was read, or it does not happen and the row is read again.
 */
export class Tasks {
  readonly #options: TasksOptions;
  readonly #timer: DueTimer;

  constructor(options: TasksOptions) {
    this.#options = options;
    const { clock, store, log } = options;
    this.#timer = new DueTimer({
      clock,
      next: async () => {
        const [row] = await store.query<{ readonly next: number | null }>(
          `SELECT min(lease_until) AS next FROM tasks WHERE state = 'in_progress'`,
        );
        return row?.next ?? null;
      },
      due: () => this.#expire('lease', 'lease_until <= ?', [clock.now()]),
      onError: (error) => log.error('claims of tasks that ran out could not be ended', { error }),
    });
  }

  /** Lets claims run out from now on; those of panes that ended meanwhile at once. */
  async start(isGone: (pane: string, owner: string) => boolean): Promise<void> {
    const held = await this.#options.store.query<{ readonly owner_pane: string; readonly owner: string }>(
      `SELECT DISTINCT owner_pane, owner FROM tasks WHERE state = 'in_progress' AND owner_pane IS NOT NULL`,
    );
    for (const { owner_pane, owner } of held)
      if (isGone(owner_pane, owner)) await this.leave({ pane: owner_pane });
    this.#timer.plan();
  }

  /** Gives back what somebody held who is gone. */
  leave({
    pane,
    key,
  }: {
    readonly pane?: string | undefined;
    readonly key?: string | undefined;
  }): Promise<void> {
    const column = pane === undefined ? 'owner' : 'owner_pane';
    return this.#expire('gone', `${column} = ?`, [pane ?? key ?? '']);
  }

  async add(holder: Holder, project: string, params: TaskAddParams, commit: Commit): Promise<TaskAddResult> {
    const { clock, random, holdContracts } = this.#options;
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
    const row = await this.#find(id);
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

  claim(holder: Holder, { task_id: id, lease_s }: TaskClaimParams, commit: Commit): Promise<TaskHeld> {
    return this.#again(async () => {
      const row = await this.#find(id);
      const now = this.#options.clock.now();
      if (row.state === 'completed') throw refusalOf(row, holder, undefined);
      if (row.state === 'in_progress') {
        if (row.lease_until === null || row.lease_until > now) throw alreadyClaimed(row);
        await this.#end(row, 'lease');
        return undefined;
      }
      const waits = (await needsOf(this.#options.store, [id])).filter(({ state }) => state !== 'completed');
      if (waits.length > 0)
        throw dependenciesPending(
          id,
          waits.map(({ needs }) => needs),
        );
      return this.#take(row, holder, lease_s, commit);
    });
  }

  /** From whoever holds it, or from nobody, to another. */
  reassign(
    holder: Holder,
    to: (project: string) => Holder,
    params: TaskHoldParams,
    commit: Commit,
  ): Promise<TaskHeld> {
    const { task_id: id, fence, lease_s } = params;
    return this.#again(async () => {
      const row = await this.#find(id);
      const refusal = refusalOf(row, holder, fence);
      if (refusal && !(refusal.code === 'not_owner' && holder.isUser) && refusal.code !== 'not_claimed')
        throw refusal;
      const waits = (await needsOf(this.#options.store, [id])).filter(({ state }) => state !== 'completed');
      if (waits.length > 0)
        throw dependenciesPending(
          id,
          waits.map(({ needs }) => needs),
        );
      return this.#take(row, to(row.project), lease_s, commit, holder);
    });
  }

  heartbeat(
    holder: Holder,
    { task_id: id, fence, lease_s }: TaskHoldParams,
    commit: Commit,
  ): Promise<TaskHeld> {
    return this.#again(async () => {
      const row = await this.#find(id);
      const refusal = refusalOf(row, holder, fence);
      if (refusal) throw refusal;
      const until = this.#until(lease_s);
      const result = await this.#held(row, row.owner_name ?? holder.participant, row.fence, until);
      const renew = this.#change(row, 'lease_until = ?', [until]);
      await this.#write({ statements: [renew], result }, commit);
      return result;
    });
  }

  release(holder: Holder, { task_id: id, fence }: TaskReleaseParams, commit: Commit): Promise<TaskDone> {
    return this.#again(async () => {
      const row = await this.#find(id);
      const refusal = refusalOf(row, holder, fence);
      if (refusal && !(refusal.code === 'not_owner' && holder.isUser)) throw refusal;
      const result: TaskDone = { ok: true, task_id: id };
      const told = draft(holder.source, 'task:released', holding(row));
      await this.#write({ statements: [this.#change(row, freed, [])], drafts: [told], result }, commit);
      return result;
    });
  }

  complete(holder: Holder, params: TaskCompleteParams, commit: Commit): Promise<TaskDone> {
    const { task_id: id, fence, result: outcome } = params;
    return this.#again(async () => {
      const { store, clock } = this.#options;
      const row = await this.#find(id);
      const refusal = refusalOf(row, holder, fence);
      if (refusal) throw refusal;
      const stale = (await contractsOf(store, [id])).filter((contract) => contract.stale);
      if (stale.length > 0)
        throw staleContract(
          id,
          stale.map(({ task: _, ...contract }) => contract),
        );
      const result: TaskDone = { ok: true, task_id: id };
      const kept = outcome === undefined ? null : JSON.stringify(outcome);
      const finish = this.#change(
        row,
        `state = 'completed', lease_until = NULL, result = ?, completed_at = ?`,
        [kept, clock.now()],
        'AND NOT EXISTS (SELECT 1 FROM task_contracts c WHERE c.task = tasks.id AND c.current > c.built_on)',
      );
      const told = draft(holder.source, 'task:completed', holding(row));
      await this.#write({ statements: [finish], drafts: [told], result }, commit);
      return result;
    });
  }

  async list(holder: Holder, project: string | undefined, params: TaskListParams): Promise<TaskListResult> {
    const { store } = this.#options;
    const { status, ready, mine, after, limit = 100 } = params;
    const waits = `EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks n ON n.id = d.needs
      WHERE d.task = tasks.id AND n.state <> 'completed')`;
    const free = `(state = 'pending' AND NOT ${waits})`;
    const wanted: readonly (readonly [string, readonly Value[]] | false)[] = [
      project !== undefined && ['project_key = ?', [foldName(project)]],
      status !== undefined && ['state = ?', [status]],
      ready !== undefined && [ready ? free : `NOT ${free}`, []],
      mine === true && [`owner IN (${holder.keys.map(() => '?').join(', ')})`, holder.keys],
      after !== undefined && ['seq > ?', [(await this.#find(after)).seq]],
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

  close(): Promise<void> {
    return this.#timer.close();
  }

  async #find(id: string): Promise<TaskRow> {
    const [row] = await this.#options.store.query<TaskRow>('SELECT * FROM tasks WHERE id = ?', [id]);
    if (!row) throw unknownTask(id);
    return row;
  }

  async #known(ids: readonly string[], projectKey: string): Promise<readonly TaskRow[]> {
    const found = await Promise.all(ids.map((id) => this.#find(id)));
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

  async #take(
    row: TaskRow,
    owner: Holder,
    leaseS: number | undefined,
    commit: Commit,
    by?: Holder,
  ): Promise<TaskHeld> {
    const until = this.#until(leaseS);
    const fence = row.fence + 1;
    const result = await this.#held(row, owner.participant, fence, until);
    const told = { ...holding(row), owner: owner.participant, fence, leaseUntil: isoTime(until) };
    const taken = this.#change(
      row,
      `state = 'in_progress', owner = ?, owner_name = ?, owner_pane = ?, fence = fence + 1, lease_until = ?`,
      [owner.key, owner.participant, owner.pane, until],
      `AND NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks n ON n.id = d.needs
        WHERE d.task = tasks.id AND n.state <> 'completed')`,
    );
    const event = by
      ? draft(by.source, 'task:reassigned', { ...told, from: row.owner_name })
      : draft(owner.source, 'task:claimed', told);
    await this.#write({ statements: [taken], drafts: [event], result }, commit);
    return result;
  }

  async #held({ id }: TaskRow, owner: string, fence: number, until: number): Promise<TaskHeld> {
    const contracts = await contractsOf(this.#options.store, [id]);
    const stale = contracts.filter((one) => one.stale).map(({ task: _, ...contract }) => contract);
    return { ok: true, task_id: id, owner, fence, lease_until: isoTime(until), stale };
  }

  #until(leaseS = defaultLeaseS): number {
    return this.#options.clock.now() + leaseS * 1000;
  }

  /** A change of the row as it was read, and of no other. */
  #change(row: TaskRow, set: string, values: readonly Value[], more = ''): Statement {
    const owned = row.owner === null ? 'owner IS NULL' : 'owner = ?';
    return {
      sql: `UPDATE tasks SET ${set} WHERE id = ? AND state = ? AND fence = ? AND ${owned} ${more}`,
      values: [...values, row.id, row.state, row.fence, ...(row.owner === null ? [] : [row.owner])],
      expect: 1,
    };
  }

  async #write(step: Step, commit: Commit): Promise<void> {
    await commit(step);
    this.#timer.plan();
  }

  /** Reads and writes until both fit, or reading says why not. */
  async #again<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      try {
        const done = await attempt();
        if (done !== undefined) return done;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  async #expire(reason: 'lease' | 'gone', where: string, values: readonly Value[]): Promise<void> {
    const rows = await this.#options.store.query<TaskRow>(
      `SELECT * FROM tasks WHERE state = 'in_progress' AND ${where} ORDER BY seq`,
      values,
    );
    for (const row of rows) await this.#end(row, reason);
  }

  /** Unless somebody has changed it meanwhile. */
  async #end(row: TaskRow, reason: 'lease' | 'gone'): Promise<void> {
    const lease: readonly Value[] = reason === 'lease' ? [this.#options.clock.now()] : [];
    const freeing = this.#change(row, freed, [], reason === 'lease' ? 'AND lease_until <= ?' : '');
    const statement = { ...freeing, values: [...(freeing.values ?? []), ...lease] };
    const told = draft(this.#options.hub, 'task:expired', { ...holding(row), reason });
    try {
      await this.#options.events.append([told], [statement], { onFullDisk: true });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

const freed = `state = 'pending', owner = NULL, owner_name = NULL, owner_pane = NULL, lease_until = NULL`;

const holding = ({ id, project, owner, owner_name, fence }: TaskRow) => ({
  ...{ taskId: id, project, fence },
  owner: owner_name ?? owner ?? '',
});

const isConflict = (error: unknown): boolean => error instanceof StoreError && error.code === 'conflict';

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
