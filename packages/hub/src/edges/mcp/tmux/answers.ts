import { foreignLine, taggedText } from '@polyphony/protocol';
import type { ClientRow, PaneRow, SessionRow, WindowRow } from '@polyphony/tmux';
import type { ToolAnswer } from '../tool.ts';
import type { Look } from './use.ts';

/** It has happened, and this is what came of it. */
export function done(text: string, structured: Readonly<Record<string, unknown>> = {}): ToolAnswer {
  return { text, structured: { ok: true, ...structured } };
}

/** What stands in a pane; nothing a program prints can end the block. */
export function paneText(
  id: string,
  lines: readonly string[],
  more: Readonly<Record<string, string>> = {},
): ToolAnswer {
  return { text: taggedText({ tag: 'tmux_pane', attributes: { id, ...more }, lines }) };
}

/** One line an item, and the same as values. */
function list(
  name: string,
  items: readonly Readonly<Record<string, unknown>>[],
  lines: readonly string[],
): ToolAnswer {
  return {
    text: lines.map(foreignLine).join('\n') || `There are no ${name}.`,
    structured: { [name]: items },
  };
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
const you = (is: boolean): string => (is ? ' (you)' : '');

export function listPanes(rows: readonly PaneRow[], { isCaller }: Look): ToolAnswer {
  const items = rows.map((row) => ({
    pane_id: row.paneId,
    session_id: row.sessionId,
    session_name: row.sessionName,
    window_id: row.windowId,
    window_index: row.windowIndex,
    pane_index: row.paneIndex,
    active: row.active,
    width: row.width,
    height: row.height,
    title: row.title,
    current_command: row.currentCommand,
    current_path: row.currentPath,
    pid: row.pid,
    dead: row.dead,
    is_caller: isCaller(row.paneId),
  }));
  const lines = rows.map((row) => {
    const place = `${row.sessionName}:${row.windowIndex}.${row.paneIndex}`;
    const state = row.dead ? 'has ended' : row.currentCommand;
    return `${row.paneId} ${place} ${row.width}x${row.height} ${state} in ${row.currentPath}${you(isCaller(row.paneId))}`;
  });
  return list('panes', items, lines);
}

/** Where the caller is, by the ids of everything around its pane. */
function around({ panes, isCaller }: Look): (id: string) => boolean {
  const own = panes.filter((row) => isCaller(row.paneId));
  const ids = new Set(own.flatMap((row) => [row.windowId, row.sessionId]));
  return (id) => ids.has(id as never);
}

export function listWindows(rows: readonly WindowRow[], look: Look): ToolAnswer {
  const isOwn = around(look);
  const items = rows.map((row) => ({
    window_id: row.windowId,
    session_id: row.sessionId,
    session_name: row.sessionName,
    window_index: row.windowIndex,
    window_name: row.windowName,
    active: row.active,
    linked: row.linked,
    zoomed: row.zoomed,
    panes: row.panes,
    width: row.width,
    height: row.height,
    layout: row.layout,
    is_caller: isOwn(row.windowId),
  }));
  const lines = rows.map(
    (row) =>
      `${row.windowId} ${row.sessionName}:${row.windowIndex} ${row.windowName}, ${counted(row.panes, 'pane')}${you(isOwn(row.windowId))}`,
  );
  return list('windows', items, lines);
}

export function listSessions(rows: readonly SessionRow[], look: Look): ToolAnswer {
  const isOwn = around(look);
  const items = rows.map((row) => ({
    session_id: row.sessionId,
    session_name: row.sessionName,
    windows: row.windows,
    attached: row.attached,
    group: row.group,
    path: row.path,
    is_caller: isOwn(row.sessionId),
  }));
  const lines = rows.map(
    (row) =>
      `${row.sessionId} ${row.sessionName}, ${counted(row.windows, 'window')}, ${row.attached} attached${you(isOwn(row.sessionId))}`,
  );
  return list('sessions', items, lines);
}

export function listClients(rows: readonly ClientRow[]): ToolAnswer {
  const items = rows.map((row) => ({
    client_name: row.name,
    tty: row.tty,
    pid: row.pid,
    session_name: row.sessionName,
    width: row.width,
    height: row.height,
    control_mode: row.controlMode,
  }));
  return list(
    'clients',
    items,
    rows.map(
      (row) =>
        `${row.name} on ${row.sessionName} ${row.width}x${row.height}${row.controlMode ? ' (a program)' : ''}`,
    ),
  );
}
