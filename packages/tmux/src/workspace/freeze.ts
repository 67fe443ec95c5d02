import * as z from 'zod';
import { type Engine, execute } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
import { type OptionValue, unquoteOption } from '../operation/options.ts';
import type { PaneId } from '../operation/target.ts';
import { atLeast } from '../operation/version.ts';
import { listSessions, type SessionRow } from '../operations/list-sessions.ts';
import { showOptions } from '../operations/show-options.ts';
import type { PaneSnapshot, SessionSnapshot, WindowSnapshot } from '../snapshot/snapshot.ts';
import { takeSnapshot } from '../snapshot/take-snapshot.ts';
import { layoutText } from './layout-text.ts';
import type { WorkspaceWarning } from './workspace.ts';
import { stringifyWorkspace } from './yaml-text.ts';

export interface FrozenWorkspace {
  /** In the format of a file: one session, or several under `sessions`. */
  readonly workspace: Readonly<Record<string, unknown>>;
  /** The same as YAML. */
  readonly text: string;
  readonly warnings: readonly WorkspaceWarning[];
}

const namesSchema = z.array(z.string()).optional();

/**
 * Writes live sessions as a workspace: all of them, or those of these exact names. Loading it gives the same windows,
 * panes, layouts and folders; of a running program only its name is known.
 *
 * @example await writeFile('demo.yaml', (await freezeWorkspace(engine, ['demo'])).text)
 */
export async function freezeWorkspace(engine: Engine, names?: readonly string[]): Promise<FrozenWorkspace> {
  readGiven(namesSchema, names, 'freezeWorkspace: names');
  const rows = (await execute(engine, listSessions())).unwrap();
  const { sessions } = await takeSnapshot(engine);
  const missing = names?.filter((name) => !rows.some(({ sessionName }) => sessionName === name)) ?? [];
  if (missing.length > 0) {
    const known = rows.map(({ sessionName }) => sessionName).join(', ');
    throw new TmuxError(
      'invalid_parameters',
      `There is no session named ${missing.join(', ')}; there are ${known}.`,
      { missing },
    );
  }
  const renames = await optionsOf(engine, { global: true, window: true, name: 'automatic-rename' });
  const warnings: WorkspaceWarning[] = [];
  const frozen: Record<string, unknown>[] = [];
  for (const session of sessions) {
    const row = rows.find(({ sessionId }) => sessionId === session.id);
    if (!row || (names && !names.includes(session.name))) continue;
    const options = await Promise.all(
      session.windows.map(({ id }) => optionsOf(engine, { target: id, window: true })),
    );
    frozen.push(
      freezeSession(
        await asDeclared(engine, session),
        row,
        options.map((own) => ({ ...renames, ...own })),
        warnings,
      ),
    );
  }
  const [only] = frozen;
  const workspace = only !== undefined && frozen.length === 1 ? only : { sessions: frozen };
  return { workspace, text: stringifyWorkspace(workspace), warnings };
}

/** Panes as a file declares them: default-command is no command of a pane's own, and a float has its border in its box. */
async function asDeclared(engine: Engine, session: SessionSnapshot): Promise<SessionSnapshot> {
  const usual = await optionsOf(engine, { target: session.id, inherited: true, name: 'default-command' });
  const framed = await framedFloats(engine, session);
  const declared = (pane: PaneSnapshot): PaneSnapshot => ({
    ...pane,
    ...(unquoteOption(pane.startCommand) === usual['default-command'] && { startCommand: '' }),
    ...(framed.has(pane.id) && {
      left: pane.left - 1,
      top: pane.top - 1,
      width: pane.width + 2,
      height: pane.height + 2,
    }),
  });
  return {
    ...session,
    windows: session.windows.map((window) => ({ ...window, panes: window.panes.map(declared) })),
  };
}

/** Since 3.8 the size and place of a float are those inside its border, while new-pane is told those outside. */
async function framedFloats(engine: Engine, { windows }: SessionSnapshot): Promise<ReadonlySet<PaneId>> {
  if (!atLeast(await engine.version(), '3.8')) return new Set();
  const framed = new Set<PaneId>();
  for (const { id } of windows.flatMap(({ panes }) => panes.filter((pane) => pane.floating))) {
    const where = { target: id, pane: true, inherited: true, name: 'pane-border-lines' };
    if ((await optionsOf(engine, where))['pane-border-lines'] !== 'none') framed.add(id);
  }
  return framed;
}

type Options = Readonly<Record<string, OptionValue>>;

async function optionsOf(engine: Engine, where: Parameters<typeof showOptions>[0]): Promise<Options> {
  return (await execute(engine, showOptions(where))).unwrap().options;
}

function freezeSession(
  session: SessionSnapshot,
  row: SessionRow,
  options: readonly Options[],
  warnings: WorkspaceWarning[],
): Record<string, unknown> {
  const [first] = session.windows;
  const start = first?.index ?? 0;
  const numbered = start > 1 || session.windows.some(({ index }, i) => index !== start + i);
  const windows = session.windows.map((window, i) => {
    const own = flatten(options[i] ?? {});
    warnings.push(...warningsAbout(window, own, `windows[${i}]`));
    return {
      window_name: window.name,
      ...(numbered && { window_index: window.index }),
      ...(window.active && session.windows.length > 1 && { focus: true }),
      ...freezeWindow(window, row.path, own),
    };
  });
  return {
    session_name: session.name,
    start_directory: row.path,
    ...(first && { dimensions: [first.width, first.height] }),
    windows,
  };
}

function freezeWindow(
  window: WindowSnapshot,
  sessionPath: string,
  own: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const tiled = window.panes.filter((pane) => !pane.floating);
  const floats = window.panes.filter((pane) => pane.floating);
  const paths = new Set(tiled.map((pane) => pane.currentPath));
  const folder = paths.size === 1 ? ([...paths][0] ?? sessionPath) : sessionPath;
  const layout = tiled.length > 1 ? layoutOf(window, tiled) : undefined;
  return {
    ...(folder !== sessionPath && { start_directory: folder }),
    ...(layout !== undefined && { layout }),
    ...(Object.keys(own).length > 0 && { options: own }),
    panes: tiled.map((pane) => freezePane(pane, folder, tiled.length > 1)),
    ...(floats.length > 0 && {
      floats: floats.map((pane) => ({ ...boxOf(pane), ...freezePaneKeys(pane, folder) })),
    }),
  };
}

/** A layout with floats in it, or one that 3.8 wrote, is written anew: the first cannot be read back by any version. */
function layoutOf(window: WindowSnapshot, tiled: readonly PaneSnapshot[]): string | undefined {
  const classic = /^[0-9a-f]{4},[^<]+$/.test(window.layout);
  return classic ? window.layout : layoutText(tiled);
}

function freezePane(pane: PaneSnapshot, folder: string, several: boolean): unknown {
  const keys = { ...freezePaneKeys(pane, folder), ...(pane.active && several && { focus: true }) };
  return Object.keys(keys).length > 0 ? keys : null;
}

const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'ash',
  'zsh',
  'fish',
  'ksh',
  'mksh',
  'csh',
  'tcsh',
  'nu',
  'elvish',
  'xonsh',
  'pwsh',
  'tmux',
]);

function freezePaneKeys(pane: PaneSnapshot, folder: string): Record<string, unknown> {
  const command = pane.currentCommand.replace(/^-/, '');
  const shell = unquoteOption(pane.startCommand);
  const typed = shell === '' && command !== '' && !pane.dead && !shells.has(command);
  return {
    ...(pane.currentPath !== '' && pane.currentPath !== folder && { start_directory: pane.currentPath }),
    ...(shell !== '' && { shell }),
    ...(typed && { shell_command: command }),
  };
}

function boxOf({ width, height, left, top }: PaneSnapshot): Record<string, number> {
  return { width, height, x: left, y: top };
}

/** Naming a window stops its automatic renaming, so that only the opposite needs to be said. */
function flatten(options: Options): Record<string, string> {
  const flat = Object.entries(options).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[name, value]]
      : Object.entries(value).map(([index, item]) => [`${name}[${index}]`, item]),
  );
  const { 'automatic-rename': renames, ...rest } = Object.fromEntries(flat) as Record<string, string>;
  return renames === 'on' ? { 'automatic-rename': 'on', ...rest } : rest;
}

/** A file cannot say that a window is zoomed, nor that a `$NAME` is not a variable. */
function warningsAbout(
  window: WindowSnapshot,
  options: Readonly<Record<string, string>>,
  path: string,
): WorkspaceWarning[] {
  const texts = [
    ['window_name', window.name],
    ...Object.entries(options).map(([name, value]) => [`options.${name}`, value]),
  ];
  const expanded = texts
    .filter(([, text = '']) => /^[~.]|\$(\w|\{)/.test(text))
    .map(([key]) => `${path}.${key}`);
  return [
    ...(window.zoomed
      ? [changed(path, 'is zoomed, which a workspace cannot say; it is written unzoomed.')]
      : []),
    ...expanded.map((at) => changed(at, 'loading it will replace variables and paths in this text.')),
  ];
}

function changed(path: string, message: string): WorkspaceWarning {
  return { code: 'changed_value', path, message: `${path}: ${message}` };
}
