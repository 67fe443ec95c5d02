import { agentCreate } from '@polyphony/protocol';
import type { AgentPanes } from '../agents/actions.ts';
import { changeMeta } from '../panes/actions.ts';
import type { Panes } from '../panes/panes.ts';

/** Panes as agents need them. */
export function agentPanes(panes: Panes): AgentPanes {
  const { book, gate, starting } = panes;
  return {
    async create(params, fixedEnv, asker) {
      const options = { action: agentCreate.name, drawn: true, fixedEnv };
      return starting.describe(await starting.create(params, asker, options), params);
    },
    visibleTo: (caller) => panes.visibleTo(caller),
    find: (paneId) => book.find(paneId),
    get: (paneId) => book.get(paneId),
    screen: (paneId) => panes.screen(paneId),
    hold: (paneId, work) => gate.hold(paneId, (type) => work((text) => type(Buffer.from(text)))),
    setMeta: (paneId, set) => changeMeta(panes, paneId, set, []),
  };
}
