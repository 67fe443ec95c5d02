import { personInvite, personList, personRemove } from '@polyphony/protocol';
import type { Registry } from '../registry/registry.ts';
import type { People } from './people.ts';

const owner = 'person';

export function registerPersonActions(registry: Registry, people: People): void {
  registry.register(owner, personInvite, (params, { caller, commit }) =>
    people.invite(caller, params, commit),
  );
  registry.register(owner, personList, () => people.list());
  registry.register(owner, personRemove, ({ name }, { caller, commit }) =>
    people.remove(caller, name, commit),
  );
}
