import {
  type AgentInfo,
  type AgentStatus,
  agentCreate,
  agentList,
  agentMessage,
  agentSetState,
  agentStatuses,
  type Meta,
  type PaneNewParams,
  type PaneNewResult,
  type PaneScreen,
  type PaneStatus,
} from '@polyphony/protocol';
import { draft, type EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import type { Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Registry } from '../registry/registry.ts';
import { launch } from './launch.ts';
import { type Terminal, typeMessage } from './message.ts';
import { readScreen } from './read-screen.ts';
import { recogniseVendor } from './vendors/vendors.ts';

interface KnownPane {
  readonly id: string;
  readonly title: string;
  readonly argv: readonly string[];
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly meta: Meta;
  readonly status: PaneStatus;
}

/** What agents need of panes. */
export interface AgentPanes {
  /** The fixed variables outweigh the others, also when it is started again. */
  create(
    params: PaneNewParams,
    fixedEnv: Readonly<Record<string, string>>,
    asker: Asker,
  ): Promise<PaneNewResult>;
  /** Those that somebody may know of. */
  visibleTo(caller: Caller): readonly KnownPane[];
  find(paneId: string): KnownPane | undefined;
  get(paneId: string): KnownPane;
  screen(paneId: string): Promise<PaneScreen>;
  /** Types without anybody else's input in between. */
  hold<T>(paneId: string, work: (type: (text: string) => Promise<void>) => Promise<T>): Promise<T>;
  setMeta(paneId: string, set: Meta): Promise<unknown>;
}

export interface AgentsOptions {
  readonly registry: Registry;
  readonly panes: AgentPanes;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
}

export function registerAgentActions({ registry, panes, events, clock, log }: AgentsOptions): void {
  const messages = new Turns();
  const state = (status: AgentStatus, more: Meta = {}): Meta => ({
    'agent.status': status,
    'agent.lastEventAt': new Date(clock.now()).toISOString(),
    ...more,
  });

  registry.register(
    'agent',
    agentCreate,
    async ({ argv, model, permissions, prompt, ...params }, context) => {
      const launched = launch({ argv, model, permissions, prompt });
      const meta = { ...params.meta, ...state('starting', { 'agent.runtime': launched.vendor }) };
      // What was asked for here outweighs what the caller's environment happens to say.
      const pane = await panes.create({ ...params, argv: launched.argv, meta }, launched.env, context);
      await events.append([draft(context.caller, 'agent:created', { paneId: pane.id })]);
      return { ...pane, agent: { vendor: launched.vendor, status: 'starting' as const } };
    },
  );

  registry.register('agent', agentList, (_, { caller }) => {
    const agents = panes.visibleTo(caller).filter(({ meta }) => meta['agent.runtime'] !== undefined);
    return Promise.all(agents.map((pane) => describe(panes, pane)));
  });

  registry.register('agent', agentMessage, ({ paneId, text, timeoutMs }, { signal }) => {
    const { argv } = panes.get(paneId);
    const terminal: Terminal = {
      argv,
      ended: () => panes.get(paneId).status === 'exited',
      screen: () => panes.screen(paneId),
      hold: (work) => panes.hold(paneId, work),
    };
    return messages.take(paneId, () => typeMessage(terminal, text, { readyMs: timeoutMs, gone: signal }));
  });

  registry.register(
    'agent',
    agentSetState,
    async ({ paneId, status, sessionId, error, runtime }, { caller }) => {
      const more = {
        ...(runtime !== undefined && { 'agent.runtime': runtime }),
        ...(sessionId !== undefined && { 'agent.sessionId': sessionId }),
        'agent.error': error ?? null,
      };
      await panes.setMeta(paneId, state(status, more));
      await events.append([draft(caller, 'agent:state', { paneId, status })]);
      return { id: paneId };
    },
  );

  events.listen((batch) => {
    for (const { event, payload, source } of batch) {
      const status = lives[event];
      if (status === undefined) continue;
      const { paneId } = payload as { readonly paneId: string };
      const { 'agent.runtime': runtime, 'agent.status': before } = panes.find(paneId)?.meta ?? {};
      if (runtime === undefined || (status === 'starting' && before !== 'gone')) continue;
      const note = async (): Promise<void> => {
        await panes.setMeta(paneId, state(status));
        await events.append([draft({ participant: source }, 'agent:state', { paneId, status })]);
      };
      note().catch((error: unknown) => log.warn('an agent’s life could not be noted', { paneId, error }));
    }
  });
}

/** What becomes of the agent in a pane that ends, and in one that is started again. */
const lives: Readonly<Record<string, AgentStatus>> = { 'pane:exited': 'gone', 'pane:created': 'starting' };

/** What an agent is doing: what its screen tells, else what it last told itself; never a guess. */
async function describe(
  panes: AgentPanes,
  { id, title, argv, meta, status, exitCode, exitSignal }: KnownPane,
): Promise<AgentInfo> {
  const { name } = recogniseVendor(argv);
  const known = { id, vendor: String(meta['agent.runtime']), title };
  if (status === 'exited') return { ...known, status: 'gone', exitCode, exitSignal };
  const screen = name === 'generic' ? undefined : await panes.screen(id).catch(() => undefined); // It may be ending.
  const reading = screen && readScreen(name, screen);
  if (reading && reading.status !== 'unknown')
    return { ...known, status: reading.status, evidence: reading.evidence };
  const told = agentStatuses.find((one) => one === meta['agent.status']);
  return { ...known, status: told && told !== 'starting' ? told : 'unknown' };
}
