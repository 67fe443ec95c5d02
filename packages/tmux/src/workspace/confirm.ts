import { realpathSync } from 'node:fs';
import type { ServerSnapshot, SessionSnapshot, WindowSnapshot } from '../snapshot/snapshot.ts';
import { followsLayout } from './layout.ts';
import type { Workspace, WorkspaceSession, WorkspaceWindow } from './workspace.ts';

/** Something of a workspace that a server shows otherwise. */
export interface Difference {
  /** Where in the declaration: `sessions[0].windows[1].layout`. */
  readonly path: string;
  readonly declared: unknown;
  readonly found: unknown;
}

/**
 * Compares a declaration with what a server shows: names, counts, indexes, focus, layouts and where first panes are.
 *
 * @example
 * const { workspace } = await readWorkspace('dev.yaml');
 * confirmWorkspace(workspace, await takeSnapshot(engine)); // [] when all is as declared
 */
export function confirmWorkspace(workspace: Workspace, snapshot: ServerSnapshot): readonly Difference[] {
  return workspace.sessions.flatMap((session, i) => {
    const path = `sessions[${i}]`;
    const live = snapshot.sessions.find(({ name }) => name === session.name);
    if (!live) return [{ path, declared: session.name, found: null }];
    return confirmSession(session, live, path);
  });
}

function confirmSession(session: WorkspaceSession, live: SessionSnapshot, path: string): Difference[] {
  const ordered = inFileOrder(session, live);
  const count = compare(`${path}.windows`, session.windows.length, live.windows.length);
  const focused = session.windows.findLastIndex((window) => window.focus);
  const active = ordered.findIndex((window) => window?.active);
  const focus = focused < 0 ? [] : compare(`${path}.windows[${focused}].focus`, true, active === focused);
  const windows = session.windows.flatMap((window, i) => {
    const found = ordered[i];
    return found ? confirmWindow(window, found, `${path}.windows[${i}]`) : [];
  });
  return [...count, ...focus, ...windows];
}

/** Windows with a declared index are found by it; the others follow in the order of their indexes. */
function inFileOrder(session: WorkspaceSession, live: SessionSnapshot): (WindowSnapshot | undefined)[] {
  const declared = new Set(session.windows.map(({ index }) => index));
  const others = live.windows.filter(({ index }) => !declared.has(index));
  return session.windows.map(({ index }) =>
    index === undefined ? others.shift() : live.windows.find((window) => window.index === index),
  );
}

function confirmWindow(window: WorkspaceWindow, live: WindowSnapshot, path: string): Difference[] {
  const tiled = live.panes.filter((pane) => !pane.floating);
  const renames = { ...window.options, ...window.optionsAfter }['automatic-rename'] === 'on';
  const focused = window.panes.findLastIndex((pane) => pane.focus);
  const [first] = window.panes;
  const arranged =
    window.layout === undefined ||
    tiled.length !== window.panes.length ||
    live.zoomed ||
    followsLayout(window.layout, tiled, live.layout);
  return [
    ...(window.name === undefined || renames ? [] : compare(`${path}.window_name`, window.name, live.name)),
    ...compare(`${path}.panes`, window.panes.length, tiled.length),
    ...(arranged ? [] : compare(`${path}.layout`, window.layout, live.layout)),
    ...(focused < 0 ? [] : compare(`${path}.panes[${focused}].focus`, true, tiled[focused]?.active ?? false)),
    ...(first && tiled[0] && !first.commands.some(({ text }) => leaves.test(text))
      ? compareFolders(`${path}.panes[0].start_directory`, first.startDirectory, tiled[0].currentPath)
      : []),
  ];
}

/** A shell that was told to go elsewhere is not where it started. */
const leaves = /(^|[\s;&|(])(cd|pushd|popd)\b/;

function compare(path: string, declared: unknown, found: unknown): Difference[] {
  return declared === found ? [] : [{ path, declared, found }];
}

function compareFolders(path: string, declared: string, found: string): Difference[] {
  return real(declared) === real(found) ? [] : [{ path, declared, found }];
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // What does not exist has no other name.
  }
}
