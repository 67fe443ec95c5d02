import { type AgentInfo, reasonText } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { agentTones, ageOf } from '../page/pane-state.ts';

interface AdoptedListProps {
  readonly hub: HubState;
  readonly agents: readonly AgentInfo[];
  readonly now: number;
  /** Whether the hub is that of whoever looks. */
  readonly owner: boolean;
}

const rowId = (id: string): string => `agent-${id}`;

/** Goes to the row of an agent. */
export function focusAgent(id: string): void {
  document.getElementById(rowId(id))?.focus();
}

/** The agent whose row somebody has gone to. */
export function focusedAgent(): string | undefined {
  const { id = '' } = document.activeElement ?? {};
  return id.startsWith(rowId('')) ? id.slice(rowId('').length) : undefined;
}

/** Agents in no pane of the hub: what each does, and where it is found. A click says that somebody has looked there. */
export function AdoptedList({ hub, agents, now, owner }: AdoptedListProps): JSX.Element | null {
  if (agents.length === 0) return null;
  return (
    <section className="adopted" aria-label="Agents elsewhere">
      {agents.map(({ id, vendor, status, since, reason, adopted }) => {
        const tone = agentTones[status] ?? 'off';
        const place = adopted?.tmux
          ? `tmux ${adopted.tmux.pane} of ${adopted.tmux.socket}`
          : `pid ${adopted?.pid}`;
        return (
          <button
            key={id}
            id={rowId(id)}
            type="button"
            className="pane"
            title={
              owner
                ? 'It runs elsewhere, where you can go on with it. Click when you have looked at it.'
                : undefined
            }
            onClick={
              owner ? () => void hub.attempt(hub.client.call('agent:seen', { paneId: id })) : undefined
            }
          >
            <span className={`dot ${tone}`} title={status} aria-hidden="true" />
            <span className="title">
              <bdi>{id}</bdi> <bdi className="dim">{harmless(vendor)}</bdi>
            </span>
            <span className="command mono">{harmless(adopted?.cwd ?? '')}</span>
            {reason && <bdi className="reason">{harmless(reasonText(reason))}</bdi>}
            <span className="facts">
              <span className={`state ${tone}`}>
                agent {status}
                {since !== undefined && ` ${ageOf(since, now)}`}
              </span>
              <span className="place" title={harmless(place)}>
                {harmless(place)}
              </span>
            </span>
          </button>
        );
      })}
    </section>
  );
}
