import { PolyError, type Task, type TaskContract, type TaskStatus } from '@polyphony/protocol';
import type { Lease } from '../platform/lease.ts';
import type { Store } from '../store/store.ts';

/** A task as it is stored. */
export interface TaskRow {
  readonly seq: number;
  readonly id: string;
  readonly project_key: string;
  readonly project: string;
  readonly title: string;
  readonly description: string | null;
  readonly state: TaskStatus;
  readonly owner: string | null;
  readonly owner_name: string | null;
  readonly owner_pane: string | null;
  readonly fence: number;
  readonly lease_until: number | null;
  readonly result: string | null;
  readonly created_by: string;
  readonly created_at: number;
  readonly completed_at: number | null;
}

interface Need {
  readonly task: string;
  readonly needs: string;
  readonly state: TaskStatus;
}

interface ContractRow {
  readonly task: string;
  readonly name: string;
  readonly built_on: number;
  readonly current: number;
}

const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');
export const isoTime = (ms: number): string => new Date(ms).toISOString();

export const leaseOf = ({ owner, fence, lease_until }: TaskRow): Lease => ({
  ...{ holder: owner, fence },
  until: lease_until,
});

export async function getTask(store: Store, id: string): Promise<TaskRow> {
  const [row] = await store.query<TaskRow>('SELECT * FROM tasks WHERE id = ?', [id]);
  if (!row) throw unknownTask(id);
  return row;
}

export function unknownTask(id: string): PolyError {
  return new PolyError('not_found', `there is no task ${id}.`, {
    hint: 'poly task list shows those there are.',
    details: { reason: 'unknown_task' },
  });
}

/** Of a row of tasks: whether something that it depends on is not done. */
export const stillWaits = `EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks n ON n.id = d.needs
  WHERE d.task = tasks.id AND n.state <> 'completed')`;

/** What one waits for. */
export async function waitsOf(store: Store, id: string): Promise<readonly string[]> {
  const needs = await needsOf(store, [id]);
  return needs.filter(({ state }) => state !== 'completed').map((need) => need.needs);
}

/** What they depend on, and whether that is done. */
function needsOf(store: Store, ids: readonly string[]): Promise<readonly Need[]> {
  return store.query<Need>(
    `SELECT d.task AS task, d.needs AS needs, n.state AS state FROM task_dependencies d JOIN tasks n ON n.id = d.needs
      WHERE d.task IN (${marks(ids)}) ORDER BY n.seq`,
    ids,
  );
}

/** The contracts one is built on that have changed since. */
export async function staleOf(store: Store, id: string): Promise<readonly TaskContract[]> {
  const built = await contractsOf(store, [id]);
  return built.filter(({ stale }) => stale).map(({ task: _, ...contract }) => contract);
}

/** The contracts they are built on. */
async function contractsOf(
  store: Store,
  ids: readonly string[],
): Promise<readonly (TaskContract & { readonly task: string })[]> {
  const rows = await store.query<ContractRow>(
    `SELECT task, name, built_on, current FROM task_contracts WHERE task IN (${marks(ids)}) ORDER BY name`,
    ids,
  );
  return rows.map(({ task, name, built_on, current }) => ({
    ...{ task, name, current, version: built_on },
    stale: current > built_on,
  }));
}

/** Tasks as others see them. */
export async function tasksOf(store: Store, rows: readonly TaskRow[]): Promise<readonly Task[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const needs = Map.groupBy(await needsOf(store, ids), ({ task }) => task);
  const contracts = Map.groupBy(await contractsOf(store, ids), ({ task }) => task);
  return rows.map((row) => {
    const needed = needs.get(row.id) ?? [];
    const waits = needed.filter(({ state }) => state !== 'completed').map((need) => need.needs);
    const built = (contracts.get(row.id) ?? []).map(({ task: _, ...contract }) => contract);
    return {
      task_id: row.id,
      project: row.project,
      title: row.title,
      ...(row.description !== null && { description: row.description }),
      status: row.state,
      depends_on: needed.map((need) => need.needs),
      waits_for: waits,
      ready: row.state === 'pending' && waits.length === 0,
      contracts: built,
      stale: row.state !== 'completed' && built.some(({ stale }) => stale),
      ...(row.owner !== null && { owner: row.owner_name ?? row.owner, owner_id: row.owner }),
      fence: row.fence,
      ...(row.lease_until !== null && { lease_until: isoTime(row.lease_until) }),
      ...(row.result !== null && { result: JSON.parse(row.result) as unknown }),
      created_by: row.created_by,
      created_at: isoTime(row.created_at),
      ...(row.completed_at !== null && { completed_at: isoTime(row.completed_at) }),
    };
  });
}
