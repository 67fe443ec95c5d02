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
import type { Tasks } from './tasks.ts';

const owner = 'task';

export function registerTaskActions(registry: Registry, tasks: Tasks, holders: Holders): void {
  registry.register(owner, taskAdd, (params, { caller, commit }) => {
    const holder = holders.of(caller);
    return tasks.add(holder, holders.projectOf(holder, params), params, commit);
  });
  registry.register(owner, taskDepend, (params, { caller, commit }) =>
    tasks.depend(holders.of(caller), params, commit),
  );
  registry.register(owner, taskClaim, (params, { caller, commit }) =>
    tasks.claim(holders.of(caller), params, commit),
  );
  registry.register(owner, taskHeartbeat, (params, { caller, commit }) =>
    tasks.heartbeat(holders.of(caller), params, commit),
  );
  registry.register(owner, taskRelease, (params, { caller, commit }) =>
    tasks.release(holders.of(caller), params, commit),
  );
  registry.register(owner, taskReassign, (params, { caller, commit }) =>
    tasks.reassign(holders.of(caller), (project) => holders.named(project, params.to), params, commit),
  );
  registry.register(owner, taskComplete, (params, { caller, commit }) =>
    tasks.complete(holders.of(caller), params, commit),
  );
  registry.register(owner, taskList, (params, { caller }) => {
    const holder = holders.of(caller);
    const { project, team, project_dir } = params;
    // The user sees all projects where none is meant.
    const all = holder.isUser && [project, team, project_dir].every((one) => one === undefined);
    return tasks.list(holder, all ? undefined : holders.projectOf(holder, params), params);
  });
}
