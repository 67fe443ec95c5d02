import * as z from 'zod';
import { Foreign, type ImportedWorkspace, type ImportOptions, listOf, shortest } from './foreign.ts';

const text = z.union([z.string(), z.number()]).transform(String);
const commands = z.union([text, z.array(text.nullable())]).nullish();
const paneKeys = z.looseObject({ cmd: commands, commands, focus: z.boolean().nullish() });
const pane = z.union([text, paneKeys]).nullable();
const windowKeys = z.looseObject({
  name: text.nullish(),
  root: text.nullish(),
  layout: text.nullish(),
  clear: z.boolean().nullish(),
  focus: z.boolean().nullish(),
  filters: z.looseObject({ before: commands, after: commands }).nullish(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  splits: z.array(pane).nullish(),
  panes: z.array(pane).nullish(),
});
const sessionKeys = z.looseObject({
  name: text.nullish(),
  root: text.nullish(),
  windows: z.array(windowKeys),
});
const fileSchema = z.union([z.looseObject({ session: sessionKeys }), sessionKeys]);

type Layout = z.output<typeof fileSchema>;
type Session = z.output<typeof sessionKeys>;
type Window = z.output<typeof windowKeys>;
type Pane = z.output<typeof pane>;

const windowReasons: Readonly<Record<string, string>> = {
  with_env_var: 'the variable TEAMOCIL is not set',
  cmd_separator: 'every command of a pane is typed on a line of its own',
};
const paneReasons: Readonly<Record<string, string>> = {
  width: 'sizes come from the layout of the window',
  height: 'sizes come from the layout of the window',
  target: 'panes are split one after the other',
};

/**
 * Reads a layout file of teamocil, of its versions 0.4 and 1.
 *
 * @example importTeamocil('name: web\nwindows: [{ name: main, panes: [top] }]').workspace.session_name // 'web'
 */
export function importTeamocil(source: string | object, options: ImportOptions = {}): ImportedWorkspace {
  const file = new Foreign(source, fileSchema, options.name ?? 'teamocil');
  const inner = 'session' in file.value;
  const session = (inner ? file.value.session : file.value) as Session;
  const path = inner ? ['session'] : [];
  if (inner) file.leftBehind(file.value, [], ['session']);
  file.leftBehind(session, path, Object.keys(sessionKeys.shape));
  const workspace = {
    session_name: file.sessionName(session.name, path),
    ...(session.root != null && { start_directory: session.root }),
    windows: session.windows.map((window, i) => readWindow(file, window, [...path, 'windows', i])),
  };
  return { workspace, warnings: file.warnings };
}

function readWindow(
  file: Foreign<Layout>,
  window: Window,
  path: (string | number)[],
): Record<string, unknown> {
  file.leftBehind(window, path, Object.keys(windowKeys.shape), windowReasons);
  const { filters } = window;
  if (filters) file.leftBehind(filters, [...path, 'filters'], ['before', 'after']);
  const before = shortest(listOf(filters?.before));
  const after = shortest(listOf(filters?.after));
  const key = window.panes ? 'panes' : 'splits';
  const panes = (window[key] ?? []).map((one, i) => readPane(file, one, [...path, key, i]));
  return {
    ...(window.name != null && { window_name: window.name }),
    ...(window.root != null && { start_directory: window.root }),
    ...(window.layout != null && { layout: window.layout }),
    ...(window.clear != null && { clear: window.clear }),
    ...(window.focus && { focus: true }),
    ...(window.options && { options: window.options }),
    ...(before !== null && { shell_command_before: before }),
    ...(after !== null && { shell_command_after: after }),
    panes: panes.length > 0 ? panes : [null],
  };
}

function readPane(file: Foreign<Layout>, given: Pane, path: (string | number)[]): unknown {
  if (given === null || typeof given === 'string') return given;
  file.leftBehind(given, path, Object.keys(paneKeys.shape), paneReasons);
  const typed = shortest(listOf(given.cmd ?? given.commands));
  return given.focus ? { shell_command: typed, focus: true } : typed;
}
