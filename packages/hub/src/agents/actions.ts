import {
  type AgentStatus,
  agentCreate,
  agentMessage,
  agentSetState,
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
import type { Caller } from '../registry/caller.ts';
import type { Registry } from '../registry/registry.ts';
import { launch } from './launch.ts';
import { type Terminal, typeMessage } from './message.ts';

interface KnownPane {
  readonly argv: readonly string[];
  readonly meta: Meta;
  readonly status: PaneStatus;
}

/** What agents need of panes. */
export interface AgentPanes {
  create(params: PaneNewParams, caller: Caller): Promise<PaneNewResult>;
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
    async ({ argv, model, permissions, prompt, ...params }, { caller }) => {
      const launched = launch({ argv, model, permissions, prompt });
      const meta = { ...params.meta, ...state('starting', { 'agent.runtime': launched.vendor }) };
      const env = { ...launched.env, ...params.env };
      const pane = await panes.create({ ...params, argv: launched.argv, env, meta }, caller);
      await events.append([draft(caller, 'agent:created', { paneId: pane.id })]);
      return { ...pane, agent: { vendor: launched.vendor, status: 'starting' as const } };
    },
  );

  registry.register('agent', agentMessage, ({ paneId, text }) => {
    const { argv } = panes.get(paneId);
    const terminal: Terminal = {
      argv,
      ended: () => panes.get(paneId).status === 'exited',
      screen: () => panes.screen(paneId),
      hold: (work) => panes.hold(paneId, work),
    };
    return messages.take(paneId, () => typeMessage(terminal, text));
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
      if (event !== 'pane:exited') continue;
      const { paneId } = payload as { readonly paneId: string };
      if (panes.find(paneId)?.meta['agent.runtime'] === undefined) continue;
      const gone = async (): Promise<void> => {
        await panes.setMeta(paneId, state('gone'));
        await events.append([draft({ participant: source }, 'agent:state', { paneId, status: 'gone' })]);
      };
      gone().catch((error: unknown) => log.warn('an agent’s end could not be noted', { paneId, error }));
    }
  });
}
