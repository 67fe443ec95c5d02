import {
  contractAck,
  contractDiff,
  contractGet,
  contractHistory,
  contractList,
  contractPending,
  contractRegister,
  contractSubscribe,
  contractUnwatch,
  contractWatch,
  type ProjectChoice,
} from '@polyphony/protocol';
import type { Caller } from '../registry/caller.ts';
import type { Holder, Holders } from '../registry/holder.ts';
import type { Registry } from '../registry/registry.ts';
import type { Contracts } from './contracts.ts';
import { readDocument } from './document.ts';

const owner = 'contract';

export function registerContractActions(registry: Registry, contracts: Contracts, holders: Holders): void {
  const asking = (caller: Caller, choice: ProjectChoice): readonly [Holder, string] => {
    const holder = holders.of(caller);
    return [holder, holders.projectOf(holder, choice)];
  };
  const shown = <T extends { readonly project: string }>(one: T): T => ({
    ...one,
    project: holders.shownAs(one.project),
  });
  registry.register(owner, contractRegister, async (params, { caller, commit }) => {
    const [holder, project] = asking(caller, params);
    const { name, note, schema, format } = params;
    const document = readDocument(schema, format);
    const change = { project, name, document, note, by: holder.source, author: holder.key };
    return shown(await contracts.register(change, commit));
  });
  registry.register(owner, contractGet, async (params, { caller }) =>
    shown(await contracts.get(asking(caller, params)[1], params)),
  );
  registry.register(owner, contractDiff, (params, { caller }) =>
    contracts.diff(asking(caller, params)[1], params),
  );
  registry.register(owner, contractHistory, (params, { caller }) =>
    contracts.history(asking(caller, params)[1], params.name),
  );
  registry.register(owner, contractSubscribe, (params, { caller, commit }) =>
    contracts.subscribe(...asking(caller, params), params, commit),
  );
  registry.register(owner, contractPending, (params, { caller }) =>
    contracts.notices.pending(holders.of(caller), params),
  );
  registry.register(owner, contractAck, (params, { caller, commit }) =>
    contracts.acknowledge(...asking(caller, params), params, commit),
  );
  registry.register(owner, contractWatch, (params, { caller, commit }) =>
    contracts.files.watch(...asking(caller, params), params, commit),
  );
  registry.register(owner, contractUnwatch, (params, { caller, commit }) =>
    contracts.files.unwatch(asking(caller, params)[1], params.name, commit),
  );
  registry.register(owner, contractList, async (params, { caller }) => {
    const [holder, project] = asking(caller, params);
    // The user sees all projects where none is meant.
    const all = holder.isUser && Object.values(params).every((one) => one === undefined);
    return { contracts: (await contracts.list(all ? undefined : project)).map(shown) };
  });
}
