import { PolyError } from '@polyphony/protocol';
import type { AdoptedAgents } from '../agents/adopted/adopted-agents.ts';
import { realPath } from '../edges/mcp/tmux/caller-place.ts';
import type { DrivenPanes } from '../edges/mcp/tmux/driven-panes.ts';
import type { SeatMap } from '../floor/seat/seat-map.ts';
import type { Seats } from '../floor/seat/seats.ts';
import type { Panes } from '../panes/panes.ts';

/** The panes of sessions as tmux knows them: those of ours on the hub's own server, adopted ones wherever they are. */
export function drivenPanes(
  { book }: Pick<Panes, 'book'>,
  adopted: Pick<AdoptedAgents, 'book'>,
  seats: Pick<Seats, 'mayType' | 'refuse'>,
  map: Pick<SeatMap, 'panes' | 'current'>,
  hubSocket: string,
): DrivenPanes {
  const placeOf = (paneId: string): { readonly socket: string; readonly pane: string | null } | undefined => {
    const own = book.find(paneId);
    return own ? { socket: hubSocket, pane: own.tmuxPane } : (adopted.book.find(paneId)?.tmux ?? undefined);
  };
  /** Panes that feed a session, by the id that tmux has for them. */
  const fedOn = (socket: string): ReadonlyMap<string, string> =>
    new Map(
      map.panes().flatMap((paneId) => {
        const place = placeOf(paneId);
        return place?.pane && realPath(place.socket) === socket ? [[place.pane, paneId] as const] : [];
      }),
    );
  const isRefused = (paneId: string, caller: Parameters<Seats['refuse']>[1]): boolean => {
    try {
      seats.refuse(paneId, caller);
      return false;
    } catch (error) {
      if (error instanceof PolyError) return true;
      throw error;
    }
  };
  return {
    async notFor(caller, socket) {
      await map.current();
      const taken = [...fedOn(socket)].filter(([, paneId]) => isRefused(paneId, caller));
      return new Set(taken.map(([pane]) => pane));
    },
    async mayType(caller, socket, pane) {
      await map.current();
      const paneId = fedOn(socket).get(pane);
      if (paneId !== undefined) await seats.mayType(paneId, caller);
    },
  };
}
