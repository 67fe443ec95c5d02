import { type Engine, executeChain } from '../engine.ts';
import { type ClientRow, listClients, listPanes, type PaneRow } from '../operations/index.ts';
import type { PaneSnapshot, ServerSnapshot, SessionSnapshot, WindowSnapshot } from './snapshot.ts';

/**
 * The whole server from one line of two listings: sessions, windows, panes and clients that belong together.
 *
 * @example (await takeSnapshot(engine)).sessions.map((session) => session.name)
 */
export async function takeSnapshot(engine: Engine): Promise<ServerSnapshot> {
  const [panes, clients] = await executeChain(engine, [listPanes({ all: true }), listClients()]);
  return Object.freeze({
    sessions: sessionsOf(panes?.unwrap() as readonly PaneRow[]),
    clients: clients?.unwrap() as readonly ClientRow[],
  });
}

/** tmux lists panes grouped by session and window, in their order: the tree is a matter of where the keys change. */
function sessionsOf(rows: readonly PaneRow[]): readonly SessionSnapshot[] {
  return groups(rows, (row) => row.sessionId).map((session) => ({
    id: session[0].sessionId,
    name: session[0].sessionName,
    attached: session[0].sessionAttached,
    group: session[0].sessionGroup,
    created: session[0].sessionCreated,
    // By index, because one window can be linked twice into the same session.
    windows: groups(session, (row) => row.windowIndex).map(windowOf),
  }));
}

function windowOf(rows: NonEmpty<PaneRow>): WindowSnapshot {
  const {
    windowId,
    windowIndex,
    windowName,
    windowActive,
    windowFlags,
    windowLinked,
    windowWidth,
    windowHeight,
    zoomed,
    layout,
    visibleLayout,
  } = rows[0];
  return {
    id: windowId, index: windowIndex, name: windowName, active: windowActive, flags: windowFlags, linked: windowLinked,
    zoomed, width: windowWidth, height: windowHeight, layout, visibleLayout, panes: rows.map(paneOf),
  }; // biome-ignore format: a list
}

function paneOf(row: PaneRow): PaneSnapshot {
  const {
    sessionId, sessionName, sessionAttached, sessionGroup, sessionCreated, windowId, windowIndex, windowName, windowActive,
    windowFlags, windowLinked, windowWidth, windowHeight, zoomed, layout, visibleLayout, paneId, paneIndex, ...own
  } = row; // biome-ignore format: a list
  return { id: paneId, index: paneIndex, ...own };
}

type NonEmpty<T> = readonly [T, ...T[]];

function groups<T>(items: readonly T[], key: (item: T) => unknown): readonly NonEmpty<T>[] {
  return [...Map.groupBy(items, key).values()] as unknown as readonly NonEmpty<T>[];
}
