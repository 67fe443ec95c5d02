import { PolyError } from '@polyphony/protocol';
import type { PaneId, PaneRow, SessionId, Target, WindowId } from '@polyphony/tmux';

const forms = 'Give an id (%1, @1, $1), or exact names: session, session:window or session:window.pane.';

/**
 * A target as agents write it. Always exact: what tmux would complete to another name, or find relative to whatever
 * happens to be active, is refused.
 */
export function parseTarget(text: string): Target {
  if (/^[%@$]\d+$/.test(text)) return text as PaneId | WindowId | SessionId;
  const [, window, pane] = /^(@\d+)\.(\d+)$/.exec(text) ?? [];
  if (window !== undefined) return { window: window as WindowId, pane: Number(pane) };
  const [, session, named, index] = /^=?([^:.{}]+)(?::(?:=?([^:.{}]+)(?:\.(\d+))?)?)?$/.exec(text) ?? [];
  if (session === undefined) throw noTarget(text);
  if (named === undefined) return { session };
  return {
    session,
    window: /^\d+$/.test(named) ? Number(named) : named,
    ...(index !== undefined && { pane: Number(index) }),
  };
}

function noTarget(text: string): PolyError {
  return new PolyError('invalid_arguments', `"${text.slice(0, 80)}" is no target.`, { hint: forms });
}

/** What a target stands for now, among all panes of a server; of what it does not say, what is active there. */
export function resolveTarget(rows: readonly PaneRow[], text: string): PaneRow {
  const target = parseTarget(text);
  const meant = rows.filter((row) => fits(row, target));
  const places = new Set(meant.map((row) => row.windowId));
  const named = typeof target === 'object' && 'session' in target && typeof target.window === 'string';
  if (named && places.size > 1)
    throw new PolyError('conflict', `${places.size} windows are named "${text}".`, { hint: 'Give an id.' });
  const current = meant.filter((row) => row.windowActive);
  const among = current.length > 0 ? current : meant;
  const row = among.find(({ active }) => active) ?? among[0];
  if (row) return row;
  throw new PolyError('not_found', `there is no "${text}" on this tmux server.`, {
    hint: 'list_sessions, list_windows and list_panes show what there is.',
  });
}

function fits(row: PaneRow, target: Target): boolean {
  if (typeof target === 'string') return [row.paneId, row.windowId, row.sessionId].includes(target as never);
  if ('slot' in target) return false;
  if (!('session' in target)) return row.windowId === target.window && row.paneIndex === target.pane;
  const { session, window, pane } = target;
  if (session !== row.sessionName && session !== row.sessionId) return false;
  if (window !== undefined && window !== row.windowIndex && window !== row.windowName) return false;
  return pane === undefined || pane === row.paneIndex;
}
