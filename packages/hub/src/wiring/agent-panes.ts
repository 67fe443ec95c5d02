import { agentCreate, agentResume, type Liveness, type Meta } from '@polyphony/protocol';
import type { AgentPanes } from '../agents/actions.ts';
import type { AdoptedAgents } from '../agents/adopted/adopted-agents.ts';
import { argvOf } from '../agents/processes.ts';
import type { AgentStatesOptions, StatePane } from '../agents/state/agent-states.ts';
import { type Draft, draft } from '../events/event-log.ts';
import { changeMeta } from '../panes/actions.ts';
import type { MayType } from '../panes/input-gate.ts';
import type { Panes } from '../panes/panes.ts';
import type { SeatOf } from '../panes/permit.ts';
import type { Asker } from '../registry/ask.ts';
import { isUser } from '../registry/caller.ts';

/** The panes of ours, and agents in none of them, by their id. */
function agentBook(panes: Panes, adopted: AdoptedAgents) {
  const { book } = panes;
  const find = (id: string): StatePane | undefined => book.find(id) ?? adopted.book.find(id);
  /** A pane of ours has its id for itself. */
  const isAdopted = (id: string): boolean => !book.find(id) && adopted.book.find(id) !== undefined;
  return {
    ...{ find, isAdopted },
    screen: (id: string) => (isAdopted(id) ? adopted.screen(id) : panes.screen(id)),
    note: (id: string, set: Meta, drafts: readonly Draft[] = []): Promise<unknown> =>
      isAdopted(id) ? adopted.note(id, set, drafts) : changeMeta(panes, id, set, [], drafts),
  };
}

/** Panes, and agents in none of ours, as agents need them. */
export function agentPanes(
  panes: Panes,
  adopted: AdoptedAgents,
  mayType: MayType,
  seatOf: SeatOf,
): AgentPanes {
  const { book, gate, starting } = panes;
  const { find, isAdopted, screen, note } = agentBook(panes, adopted);
  return {
    async create(params, fixedEnv, asker) {
      const options = { action: agentCreate.name, drawn: true, fixedEnv };
      return starting.describe(await starting.create(params, asker, options), params);
    },
    async restart(paneId, argv, asker) {
      if (isAdopted(paneId)) return takeIn(panes, adopted, { paneId, argv }, asker);
      if (book.get(paneId).backend === 'tmux') await panes.startSession();
      const { id, meta, backend, pid } = await starting.restart(paneId, { argv }, asker, agentResume.name);
      return { id, meta, backend, pid };
    },
    // What others have started is the user's, and no pane's or agent's; an invited person sees what feeds a session.
    visibleTo: (caller) => [
      ...panes.visibleTo(caller),
      ...adopted.book
        .list()
        .filter(({ id }) => isAdopted(id) && (isUser(caller) || (caller.person !== undefined && seatOf(id)))),
    ],
    find,
    get: (paneId) => find(paneId) ?? book.get(paneId),
    screen,
    async hold(paneId, by, work) {
      if (!isAdopted(paneId)) return gate.hold(paneId, by, (type) => work((text) => type(Buffer.from(text))));
      await mayType(paneId, by);
      return adopted.hold(paneId, work);
    },
    setMeta: note,
  };
}

/** Takes up the conversation of an agent that ran elsewhere in a pane of ours, under the same id. */
async function takeIn(
  panes: Panes,
  adopted: AdoptedAgents,
  { paneId, argv }: { readonly paneId: string; readonly argv: readonly string[] },
  asker: Asker,
): ReturnType<AgentPanes['restart']> {
  const { cwd, fixedEnv, meta } = adopted.book.get(paneId);
  const params = { id: paneId, argv, cwd, meta };
  const options = { action: agentResume.name, drawn: true, fixedEnv };
  const { id, backend, pid } = await adopted.handOver(paneId, () =>
    panes.starting.create(params, asker, options),
  );
  return { id, backend, pid, meta };
}

/** What the states of agents need of panes, and of agents in none of ours. */
export function statePanes(
  panes: Panes,
  adopted: AdoptedAgents,
): Pick<AgentStatesOptions, 'onPane' | 'find' | 'screen' | 'stirs' | 'note' | 'argvOf'> {
  const { find, isAdopted, screen, note } = agentBook(panes, adopted);
  return {
    onPane: (listener) => {
      panes.book.onChange(listener);
      adopted.book.onChange(listener);
    },
    ...{ find, screen },
    argvOf: ({ id, pid, argv }) => (isAdopted(id) ? (argvOf(pid) ?? argv) : argv),
    async *stirs(paneId, signal) {
      if (isAdopted(paneId)) return yield* adopted.stirs(paneId, signal);
      const { end } = await panes.output(paneId, (host) => host.read(paneId, { tail: 0 }));
      yield* await panes.output(paneId, async (host) => host.follow(paneId, { from: end, signal }));
    },
    note: (paneId, set, told) => note(paneId, set, told ? [draft(told.from, 'agent:state', told.state)] : []),
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
