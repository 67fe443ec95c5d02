import { agentCreate, agentResume, type Liveness } from '@polyphony/protocol';
import type { AgentPanes } from '../agents/actions.ts';
import type { AgentStatesOptions } from '../agents/state/agent-states.ts';
import { draft } from '../events/event-log.ts';
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
    async restart(paneId, argv, asker) {
      if (book.get(paneId).backend === 'tmux') await panes.startSession();
      const { id, meta, backend, pid } = await starting.restart(paneId, { argv }, asker, agentResume.name);
      return { id, meta, backend, pid };
    },
    visibleTo: (caller) => panes.visibleTo(caller),
    find: (paneId) => book.find(paneId),
    get: (paneId) => book.get(paneId),
    screen: (paneId) => panes.screen(paneId),
    hold: (paneId, work) => gate.hold(paneId, (type) => work((text) => type(Buffer.from(text)))),
    setMeta: (paneId, set) => changeMeta(panes, paneId, set, []),
  };
}

/** What the states of agents need of panes. */
export function statePanes(
  panes: Panes,
): Pick<AgentStatesOptions, 'onPane' | 'find' | 'screen' | 'stirs' | 'note'> {
  return {
    onPane: (listener) => panes.book.onChange(listener),
    find: (paneId) => panes.book.find(paneId),
    screen: (paneId) => panes.screen(paneId),
    async *stirs(paneId, signal) {
      const { end } = await panes.output(paneId, (host) => host.read(paneId, { tail: 0 }));
      yield* await panes.output(paneId, async (host) => host.follow(paneId, { from: end, signal }));
    },
    note: (paneId, set, told) =>
      changeMeta(panes, paneId, set, [], told ? [draft(told.from, 'agent:state', told.state)] : []),
  };
}

/** Whether the program of an agent runs in its pane; another pane of the same id is not its own. */
export function paneLiveness(
  book: Panes['book'],
  { id, birth }: { readonly id: string; readonly birth: string },
): Liveness {
  const record = book.find(id);
  if (record?.tokenHash !== birth || record.status !== 'running') return 'gone';
  return record.meta['agent.status'] === 'gone' ? 'gone' : 'alive';
}
