import {
  taskAdd,
  taskClaim,
  taskComplete,
  taskDepend,
  taskHeartbeat,
  taskList,
  taskReassign,
  taskRelease,
} from '@polyphony/protocol';
import type { Holders } from '../registry/holder.ts';
import type { Registry } from '../registry/registry.ts';
import type { TaskClaims } from './task-claims.ts';
import type { Tasks } from './tasks.ts';

const owner = 'task';

export function registerTaskActions(
  registry: Registry,
  { tasks, claims }: { readonly tasks: Tasks; readonly claims: TaskClaims },
  holders: Holders,
): void {
  const shown = <T extends { readonly project: string }>(one: T): T => ({
    ...one,
    project: holders.shownAs(one.project),
  });
  registry.register(owner, taskAdd, async (params, { caller, commit }) => {
    const holder = holders.of(caller);
    return shown(await tasks.add(holder, holders.projectOf(holder, params), params, commit));
  });
  registry.register(owner, taskDepend, (params, { caller, commit }) =>
    tasks.depend(holders.of(caller), params, commit),
  );
  registry.register(owner, taskClaim, (params, { caller, commit }) =>
    claims.claim(holders.of(caller), params, commit),
  );
  registry.register(owner, taskHeartbeat, (params, { caller, commit }) =>
    claims.heartbeat(holders.of(caller), params, commit),
  );
  registry.register(owner, taskRelease, (params, { caller, commit }) =>
    claims.release(holders.of(caller), params, commit),
  );
  registry.register(owner, taskReassign, (params, { caller, commit }) =>
    claims.reassign(holders.of(caller), (project) => holders.named(project, params.to), params, commit),
  );
  registry.register(owner, taskComplete, (params, { caller, commit }) =>
    claims.complete(holders.of(caller), params, commit),
  );
  registry.register(owner, taskList, async (params, { caller }) => {
    const holder = holders.of(caller);
    const { project, team, project_dir } = params;
    // The user sees all projects where none is meant.
    const all = holder.isUser && [project, team, project_dir].every((one) => one === undefined);
    const page = await tasks.list(holder, all ? undefined : holders.projectOf(holder, params), params);
    return { ...page, tasks: page.tasks.map(shown) };
  });
}
