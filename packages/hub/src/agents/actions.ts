import {
  type AgentAdoptParams,
  type AgentAdoptResult,
  agentAdopt,
  agentCreate,
  agentExplain,
  agentList,
  agentMessage,
  agentRecord,
  agentRelease,
  agentResume,
  agentSeen,
  agentSetState,
  type Meta,
  type PaneNewParams,
  type PaneNewResult,
  type PaneScreen,
  PolyError,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { Turns } from '../platform/turns.ts';
import type { Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Registry } from '../registry/registry.ts';
import { launch, resume } from './launch.ts';
import { type Terminal, typeMessage } from './message.ts';
import { recordScreen } from './record.ts';
import type { ScreenRules } from './screens/screen-rules.ts';
import { type AgentStates, noteOf, type StatePane } from './state/agent-states.ts';
import { vendors } from './vendors/vendors.ts';

/** What agents need of panes. */
export interface AgentPanes {
  /** The fixed variables outweigh the others, also when it is started again. */
  create(
    params: PaneNewParams,
    fixedEnv: Readonly<Record<string, string>>,
    asker: Asker,
  ): Promise<PaneNewResult>;
  /** Starts the program of a pane anew with another command line; a tmux session that has gone is started before. */
  restart(paneId: string, argv: readonly string[], asker: Asker): Promise<PaneNewResult>;
  /** Those that somebody may know of. */
  visibleTo(caller: Caller): readonly StatePane[];
  find(paneId: string): StatePane | undefined;
  get(paneId: string): StatePane;
  screen(paneId: string): Promise<PaneScreen>;
  /** Types without anybody else's input in between, for whoever may. */
  hold<T>(
    paneId: string,
    by: Caller,
    work: (type: (text: string) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  setMeta(paneId: string, set: Meta): Promise<unknown>;
}

/** Agents in no pane of ours. */
interface Adopting {
  adopt(params: AgentAdoptParams, from: Source): Promise<AgentAdoptResult>;
  release(id: string, from: Source): Promise<void>;
}

export interface AgentsOptions {
  readonly registry: Registry;
  readonly panes: AgentPanes;
  readonly adopted: Adopting;
  readonly states: AgentStates;
  readonly rules: ScreenRules;
  readonly events: EventLog;
  readonly clock: Clock;
}

export function registerAgentActions(options: AgentsOptions): void {
  const { registry, panes, adopted, states, rules, events, clock } = options;
  const messages = new Turns();

  registry.register(
    'agent',
    agentCreate,
    async ({ argv, model, permissions, prompt, ...params }, context) => {
      const launched = launch({ argv, model, permissions, prompt });
      const meta = {
        ...params.meta,
        ...noteOf('starting', clock.now()),
        'agent.runtime': launched.vendor,
        ...(launched.once > 0 && { 'agent.once': launched.once }),
      };
      // Where it keeps its conversations is kept with the pane, so that it finds them when it is taken up again.
      const homes = vendors[launched.vendor].homes.flatMap((name) => {
        const value = params.env?.[name];
        return value === undefined ? [] : [[name, value] as const];
      });
      // What was asked for here outweighs what the caller's environment happens to say.
      const fixed = { ...Object.fromEntries(homes), ...launched.env };
      const pane = await panes.create({ ...params, argv: launched.argv, meta }, fixed, context);
      await events.append([draft(context.caller, 'agent:created', { paneId: pane.id })]);
      return { ...pane, agent: { vendor: launched.vendor, status: 'starting' as const } };
    },
  );

  registry.register('agent', agentAdopt, (params, { caller }) => adopted.adopt(params, caller));
  registry.register('agent', agentRelease, async ({ paneId }, { caller }) => {
    await adopted.release(paneId, caller);
    return {};
  });

  registry.register('agent', agentList, async (_, { caller }) =>
    panes
      .visibleTo(caller)
      .filter(({ meta }) => meta['agent.runtime'] !== undefined)
      .map((pane) => states.describe(pane)),
  );
  registry.register('agent', agentExplain, async ({ paneId }) => {
    const pane = panes.get(paneId);
    if (pane.meta['agent.runtime'] !== undefined) return states.explain(pane);
    throw new PolyError('invalid_arguments', `${paneId} is no agent that is known here.`, {
      hint: 'poly agent list shows the agents; poly agent create starts one.',
    });
  });
  registry.register('agent', agentResume, async ({ paneId }, context) => {
    const pane = panes.get(paneId);
    const { 'agent.sessionId': sessionId, 'agent.once': once } = pane.meta;
    if (pane.status === 'running')
      throw new PolyError('conflict', `${paneId} still runs: there is nothing to take up again.`, {
        hint: `See what it does: poly agent explain ${paneId}`,
      });
    if (typeof sessionId !== 'string')
      throw new PolyError('unavailable', `nobody knows which conversation ${paneId} was in.`, {
        hint: `Its hooks tell that: poly hooks install. To start it without: poly restart ${paneId}`,
      });
    const elsewhere = panes
      .visibleTo(context.caller)
      .find(
        ({ id, status, meta }) =>
          id !== paneId && status === 'running' && meta['agent.sessionId'] === sessionId,
      );
    if (elsewhere)
      throw new PolyError('conflict', `${elsewhere.id} is in the conversation of ${paneId} already.`, {
        hint: `See what it does: poly agent explain ${elsewhere.id}`,
      });
    const again = resume(pane.argv, Number(once ?? 0), sessionId);
    const { id, backend, pid } = await panes.restart(paneId, again.argv, context);
    const notes = { ...noteOf('starting', clock.now()), 'agent.once': again.once };
    await panes.setMeta(paneId, notes);
    const vendor = String(pane.meta['agent.runtime']);
    return {
      ...{ id, backend, pid, meta: panes.get(paneId).meta },
      agent: { vendor, status: 'starting' as const },
    };
  });
  registry.register('agent', agentSeen, async ({ paneId }) => {
    panes.get(paneId);
    states.see(paneId);
    return {};
  });

  registry.register('agent', agentMessage, ({ paneId, text, timeoutMs }, { signal, caller }) => {
    const { argv, meta } = panes.get(paneId);
    const terminal: Terminal = {
      argv,
      read: (vendor, screen) => rules.readScreen(vendor, screen, meta['agent.version']),
      ended: () => panes.get(paneId).status === 'exited',
      screen: () => panes.screen(paneId),
      hold: (work) => panes.hold(paneId, caller, work),
    };
    return messages.take(paneId, () => typeMessage(terminal, text, { readyMs: timeoutMs, gone: signal }));
  });

  registry.register('agent', agentRecord, ({ paneId }) =>
    recordScreen(panes.get(paneId), { screen: () => panes.screen(paneId), told: states.told(paneId), rules }),
  );

  registry.register(
    'agent',
    agentSetState,
    async ({ paneId, status, reason, sessionId, error, runtime }, { caller }) => {
      await panes.setMeta(paneId, {
        ...(runtime !== undefined && { 'agent.runtime': runtime }),
        ...(sessionId !== undefined && { 'agent.sessionId': sessionId }),
        'agent.error': error ?? null,
      });
      if (!(await states.tell(paneId, { status, reason, error }))) {
        // No agent, as far as anybody knows: what is said of it is all there is.
        await panes.setMeta(paneId, noteOf(status, clock.now(), reason));
        await events.append([
          draft(caller, 'agent:state', { paneId, status, ...(reason && { reason }), authority: 'protocol' }),
        ]);
      }
      return { id: paneId };
    },
  );
}
