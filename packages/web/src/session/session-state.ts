import { type AgentInfo, type FloorSession, type PaneInfo, reasonText } from '@polyphony/protocol';
import { harmless } from '../page/harmless.ts';
import { agentTones, type PaneState, stateOf } from '../page/pane-state.ts';

/** What the agent of a session is doing, as far as the hub knows it. */
export function sessionState(
  { bindings, agent: known, archived_at }: FloorSession,
  panes: readonly PaneInfo[],
  adopted: readonly AgentInfo[],
): PaneState {
  if (archived_at !== undefined) return { label: 'archived', tone: 'off' };
  const feed = bindings.at(-1);
  if (!feed) return { label: known === undefined ? 'no agent' : 'left', tone: 'off' };
  const pane = panes.find(({ id }) => id === feed.pane);
  if (pane) {
    const state = stateOf(pane);
    return { ...state, label: state.label.replace(/^agent /, '') };
  }
  const agent = adopted.find(({ id }) => id === feed.pane);
  // Somebody else has started it, where nobody tells how it is.
  if (!agent) return { label: 'joined', tone: 'off' };
  return {
    ...{ label: agent.status, tone: agentTones[agent.status] ?? 'off' },
    ...(agent.since !== undefined && { since: agent.since }),
    ...(agent.reason && { reason: harmless(reasonText(agent.reason)) }),
  };
}

/** The pane of ours that feeds a session now. */
export function paneOf({ bindings }: FloorSession, panes: readonly PaneInfo[]): PaneInfo | undefined {
  return panes.find(({ id }) => bindings.some(({ pane }) => pane === id));
}
