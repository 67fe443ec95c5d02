import type { MailAgent, PaneInfo } from '@polyphony/protocol';
import { harmless } from '../page/harmless.ts';
import { needsSomebody, type PaneState, stateOf } from '../page/pane-state.ts';

/** An agent as the page knows it: by its pane, by the name it has registered, or by both. */
export interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly state: PaneState;
  readonly needsYou: boolean;
  readonly pane: PaneInfo | undefined;
  readonly mail: MailAgent | undefined;
}

/** Whether a program runs behind a name, where no pane shows what it does. */
const byLiveness: Readonly<Record<MailAgent['liveness'], PaneState>> = {
  alive: { label: 'connected', tone: 'good' },
  gone: { label: 'gone', tone: 'off' },
  unknown: { label: 'not known', tone: 'off' },
};

/** Everybody once: those who need somebody first, then those who registered, by project and name, then other panes with an agent. */
export function agentRows(panes: readonly PaneInfo[], registered: readonly MailAgent[]): readonly AgentRow[] {
  const paneOf = (agent: MailAgent): PaneInfo | undefined => panes.find(({ id }) => id === agent.pane);
  const named = registered
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))
    .map((agent): AgentRow => rowOf(agent.agent_id, agent.name, paneOf(agent), agent));
  const taken = new Set(registered.map(({ pane }) => pane));
  const others = panes
    .filter(({ id, meta }) => hasAgent(meta) && !taken.has(id))
    .map((pane) => rowOf(pane.id, pane.id, pane, undefined));
  const rows = [...named, ...others];
  return [...rows.filter(({ needsYou }) => needsYou), ...rows.filter(({ needsYou }) => !needsYou)];
}

/** Whoever tells what an agent does need not know which one it is. */
const hasAgent = (meta: PaneInfo['meta']): boolean =>
  meta['agent.runtime'] !== undefined || meta['agent.status'] !== undefined;

const orderOf = ({ project, name }: MailAgent): string => `${project}\n${name}`;

function rowOf(id: string, name: string, pane: PaneInfo | undefined, mail: MailAgent | undefined): AgentRow {
  return {
    ...{ id, pane, mail },
    name: harmless(name),
    state: stateHere(pane, mail),
    needsYou: pane !== undefined && needsSomebody(pane),
  };
}

function stateHere(pane: PaneInfo | undefined, mail: MailAgent | undefined): PaneState {
  if (!pane) return byLiveness[mail?.liveness ?? 'unknown'];
  const state = stateOf(pane);
  return { ...state, label: state.label.replace(/^agent /, '') };
}
