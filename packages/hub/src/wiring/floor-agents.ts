import type { AdoptedAgents } from '../agents/adopted/adopted-agents.ts';
import type { EventLog } from '../events/event-log.ts';
import type { AgentIn } from '../floor/feed.ts';
import type { Floor } from '../floor/floor.ts';
import type { Panes } from '../panes/panes.ts';
import type { Log } from '../platform/log.ts';

/** What is known of the agent in a pane, or of one in none of ours, for whoever joins a session with it. */
export function floorAgents(panes: Panes, adopted: AdoptedAgents): AgentIn {
  return (id) => {
    const place = panes.book.find(id) ?? adopted.book.find(id);
    if (!place) return undefined;
    const { 'agent.runtime': vendor, 'agent.sessionId': conversation } = place.meta;
    return {
      vendor: typeof vendor === 'string' && vendor !== 'generic' ? vendor : undefined,
      conversation: typeof conversation === 'string' ? conversation : undefined,
    };
  };
}

/** Whether a pane, or an agent in none of ours, still runs. */
export const hasFloorPane =
  (panes: Panes, adopted: AdoptedAgents) =>
  (id: string): boolean =>
    panes.book.find(id)?.status === 'running' || adopted.book.find(id)?.status === 'running';

/** Tells the floor of panes and agents that are gone. */
export function followFloorPanes({
  events,
  log,
  floor,
  panes,
  adopted,
}: {
  readonly events: EventLog;
  readonly log: Log;
  readonly floor: Floor;
  readonly panes: Panes;
  readonly adopted: AdoptedAgents;
}): () => void {
  const isThere = hasFloorPane(panes, adopted);
  return events.listen((batch) => {
    for (const { event, payload } of batch) {
      const { paneId = '', status } = payload as { readonly paneId?: string; readonly status?: string };
      const ended = ['pane:exited', 'pane:removed', 'agent:released'].includes(event);
      if (!ended && !(event === 'agent:state' && status === 'gone')) continue;
      // A shell outlives the agent that somebody has started in it.
      if (isThere(paneId)) continue;
      floor.sessions
        .gone(paneId, ({ statements, drafts = [] }) => events.append(drafts, statements))
        .catch((error: unknown) => log.error('what fed a session from a pane still does', { paneId, error }));
    }
  });
}
