import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import { type CallerPlace, mayBeCallersServer, type ServerPlace } from './caller-place.ts';

/** What would end: panes of a server, by what they are part of. */
export type Doomed = (row: PaneRow) => boolean;

interface Server extends ServerPlace {
  readonly panes: readonly PaneRow[];
}

/**
 * Refuses what would end the program that asks for it. What is not known of the caller counts as if it were hit: an
 * agent that has ended itself can neither say so nor be asked.
 */
export function spareCaller(
  caller: CallerPlace | undefined,
  server: Server,
  doomed: Doomed,
  what: string,
): void {
  if (!mayBeCallersServer(caller, server)) return;
  const pane = caller?.pane;
  if (pane === undefined)
    throw refusal(`${what} could end the pane you run in, and which one that is is not known.`);
  if (server.panes.some((row) => row.paneId === pane && doomed(row)))
    throw refusal(`${what} would end ${pane}, the pane you run in.`);
}

function refusal(message: string): PolyError {
  return new PolyError('forbidden', message, { hint: 'If that is meant, ask your user to do it.' });
}

/** The panes of everything that ends with a pane, a window or a session, or with all others beside it. */
export const ends: Readonly<
  Record<'pane' | 'window' | 'session', (row: PaneRow, others: boolean, all: readonly PaneRow[]) => Doomed>
> = {
  pane:
    ({ paneId, windowId }, others) =>
    (row) =>
      others ? row.windowId === windowId && row.paneId !== paneId : row.paneId === paneId,
  // A window that is linked ends in every session; its siblings are those of every session it is in.
  window: ({ windowId }, others, all) => {
    if (!others) return (row) => row.windowId === windowId;
    const sessions = new Set(all.filter((row) => row.windowId === windowId).map((row) => row.sessionId));
    const siblings = new Set(all.filter((row) => sessions.has(row.sessionId)).map((row) => row.windowId));
    return (row) => siblings.has(row.windowId) && row.windowId !== windowId;
  },
  // A linked window outlives a session it is in; the caller's is spared all the same.
  session:
    ({ sessionId }, others) =>
    (row) =>
      (row.sessionId === sessionId) !== others,
};
