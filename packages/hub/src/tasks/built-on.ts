import { PolyError } from '@polyphony/protocol';
import { type Draft, draft, type Source } from '../events/event-log.ts';
import type { Holder } from '../registry/holder.ts';
import type { Statement, Store } from '../store/store.ts';

interface Built {
  readonly task: string;
  readonly name: string;
  readonly built_on: number;
  readonly project: string;
  readonly owner: string | null;
  readonly owner_name: string | null;
}

/** What a new version of a contract does to tasks that are built on it; those who know contracts write it with the version. */
export async function staleTasks(
  store: Store,
  hub: Source,
  contract: string,
  version: number,
): Promise<{
  readonly statements: readonly Statement[];
  readonly drafts: readonly Draft[];
  readonly holders: readonly { readonly key: string; readonly participant: string }[];
}> {
  const built = await store.query<Built>(
    `SELECT c.task AS task, c.name AS name, c.built_on AS built_on, t.project AS project, t.owner AS owner,
      t.owner_name AS owner_name FROM task_contracts c JOIN tasks t ON t.id = c.task
      WHERE c.contract = ? AND t.state <> 'completed' ORDER BY t.seq`,
    [contract],
  );
  const holders = new Map(
    built.flatMap(({ owner, owner_name }) => (owner ? [[owner, owner_name ?? owner]] : [])),
  );
  return {
    statements: [
      { sql: 'UPDATE task_contracts SET current = ? WHERE contract = ?', values: [version, contract] },
    ],
    drafts: built.map(({ task, project, name, built_on }) =>
      draft(hub, 'task:stale', { taskId: task, project, contract: name, builtOn: built_on, version }),
    ),
    holders: [...holders].map(([key, participant]) => ({ key, participant })),
  };
}

/** Builds the tasks of somebody, or the one that is named, on a version from now on. */
export async function rebuiltTasks(
  store: Store,
  contract: string,
  version: number,
  holder: Holder,
  only: string | undefined,
): Promise<{ readonly statements: readonly Statement[]; readonly tasks: readonly string[] }> {
  const rows = await store.query<{ readonly task: string; readonly owner: string | null }>(
    `SELECT c.task AS task, t.owner AS owner FROM task_contracts c JOIN tasks t ON t.id = c.task
      WHERE c.contract = ? AND c.built_on < ? AND t.state <> 'completed' ORDER BY t.seq`,
    [contract, version],
  );
  const mine = rows.filter(({ task, owner }) =>
    only === undefined || !holder.isUser ? owner !== null && holder.keys.includes(owner) : task === only,
  );
  const tasks = mine.map(({ task }) => task).filter((task) => only === undefined || task === only);
  if (only !== undefined && tasks.length === 0)
    throw new PolyError('not_found', `${only} is no task of yours that is built on an older version.`, {
      hint: 'poly task list shows which tasks are stale, and who holds them.',
    });
  const statements = tasks.map((task) => ({
    sql: 'UPDATE task_contracts SET built_on = ? WHERE task = ? AND contract = ? AND built_on < ?',
    values: [version, task, contract, version],
  }));
  return { statements, tasks };
}
