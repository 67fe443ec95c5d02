import * as z from 'zod';
import { Foreign, type ImportedWorkspace, type ImportOptions, listOf, shortest } from './foreign.ts';

const text = z.union([z.string(), z.number()]).transform(String);
const commands = z.union([text, z.array(text.nullable())]).nullish();
const pane = z.union([commands, z.record(z.string(), commands)]);
const windowKeys = z.looseObject({
  pre: commands,
  panes: z.union([z.array(pane), text]).nullish(),
  root: text.nullish(),
  layout: text.nullish(),
  synchronize: z.union([z.boolean(), z.enum(['before', 'after'])]).nullish(),
});
const window = z.record(z.string(), z.union([commands, windowKeys]));
const projectSchema = z.looseObject({
  name: text.nullish(),
  project_name: text.nullish(),
  root: text.nullish(),
  project_root: text.nullish(),
  tmux_options: text.nullish(),
  cli_args: text.nullish(),
  socket_name: text.nullish(),
  socket_path: text.nullish(),
  on_project_start: commands,
  on_project_first_start: commands,
  pre: commands,
  pre_window: commands,
  pre_tab: commands,
  rbenv: text.nullish(),
  rvm: text.nullish(),
  startup_window: text.nullish(),
  startup_pane: text.nullish(),
  windows: z.array(window).nullish(),
  tabs: z.array(window).nullish(),
});

type Project = z.output<typeof projectSchema>;
type Window = z.output<typeof windowKeys>;
type Pane = z.output<typeof pane>;

/** What tmuxinator can do and a workspace cannot. */
const reasons: Readonly<Record<string, string>> = {
  on_project_restart: 'a workspace has no hook for a session that exists already',
  on_project_exit: 'nothing runs after a workspace is built',
  on_project_stop: 'nothing runs after a workspace is built',
  post: 'nothing runs after a workspace is built',
  tmux_command: 'the tmux program is given to the engine',
  attach: 'loading a workspace never attaches a client',
  tmux_detached: 'loading a workspace never attaches a client',
  enable_pane_titles: 'a workspace has no pane titles',
  pane_title_position: 'a workspace has no pane titles',
  pane_title_format: 'a workspace has no pane titles',
};

/**
 * Reads a project file of tmuxinator.
 *
 * @example importTmuxinator('name: web\nwindows:\n  - server: npm start').workspace.session_name // 'web'
 */
export function importTmuxinator(source: string | object, options: ImportOptions = {}): ImportedWorkspace {
  const file = new Foreign(source, projectSchema, options.name ?? 'tmuxinator');
  const project = file.value;
  file.leftBehind(project, [], Object.keys(projectSchema.shape), reasons);
  const key = project.tabs ? 'tabs' : 'windows';
  const windows = (project[key] ?? []).flatMap((entry, i) =>
    Object.entries(entry).map(([name, given]) => readWindow(file, name, given, [key, i, name])),
  );
  focusStartup(file, windows);
  // tmuxinator joins a list with `;` and goes on after a failure; so does the script, but for its last command.
  const script = [project.on_project_start, project.on_project_first_start, project.pre]
    .flatMap(listOf)
    .join('; ');
  const before = [
    ...listOf(project.pre_tab ?? project.pre_window),
    ...(project.rbenv ? [`rbenv shell ${project.rbenv}`] : []),
    ...(project.rvm ? [`rvm use ${project.rvm}`] : []),
  ];
  const workspace = {
    session_name: file.sessionName(project.project_name ?? project.name, []),
    ...serverOf(file),
    ...keep({ start_directory: project.project_root ?? project.root }),
    ...(script !== '' && { before_script: script }),
    ...(before.length > 0 && { shell_command_before: before }),
    windows,
  };
  return { workspace, warnings: file.warnings };
}

interface ImportedWindow {
  readonly window_name?: string;
  readonly panes: unknown[];
  focus?: true;
}

function readWindow(
  file: Foreign<Project>,
  name: string,
  given: unknown,
  path: (string | number)[],
): ImportedWindow {
  const named = name !== '' && name !== 'null' ? { window_name: name } : {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { ...named, panes: [shortest(listOf(given as string | (string | null)[] | null))] };
  }
  const window = given as Window;
  file.leftBehind(window, path, Object.keys(windowKeys.shape));
  const panes = listAll(window.panes).map((one, i) => readPane(file, one, [...path, 'panes', i]));
  const before = listOf(window.pre);
  const synchronized = { 'synchronize-panes': 'on' };
  return {
    ...named,
    ...keep({ start_directory: window.root }),
    ...(before.length > 0 && { shell_command_before: before }),
    // tmuxinator tiles what has no layout.
    ...keep({ layout: window.layout ?? (panes.length > 1 ? 'tiled' : undefined) }),
    ...((window.synchronize === true || window.synchronize === 'before') && { options: synchronized }),
    ...(window.synchronize === 'after' && { options_after: synchronized }),
    panes: panes.length > 0 ? panes : [null],
  };
}

function readPane(file: Foreign<Project>, given: Pane, path: (string | number)[]): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return shortest(listOf(given));
  const [[title, inner] = ['', null], ...more] = Object.entries(given);
  file.warn([...path, title], 'unsupported_key', 'was left out as a title: a workspace has no pane titles.');
  for (const [other] of more)
    file.warn([...path, other], 'unknown_key', 'was left out: a pane has one title.');
  return shortest(listOf(inner));
}

/** tmuxinator selects the named window and pane, or the first ones; a workspace would leave the last pane active. */
function focusStartup(file: Foreign<Project>, windows: ImportedWindow[]): void {
  const { startup_window: wanted, startup_pane: wantedPane } = file.value;
  const named = windows.findIndex(({ window_name: name }) => name === wanted);
  const at = named >= 0 ? named : Number(wanted ?? 0);
  const startup = windows[at];
  if (startup && wanted != null) startup.focus = true;
  if (!startup && windows.length > 0)
    file.warn(['startup_window'], 'unsupported_key', `names no window: ${wanted}.`);
  for (const window of windows) {
    const pane = window === startup ? Number(wantedPane ?? 0) : 0;
    if (window === startup && wantedPane != null && !(pane in window.panes)) {
      file.warn(['startup_pane'], 'unsupported_key', `names no pane of that window: ${wantedPane}.`);
    } else if (window.panes.length > 1) {
      window.panes[pane] = { shell_command: window.panes[pane], focus: true };
    }
  }
}

const serverFlags: Readonly<Record<string, string>> = {
  '-f': 'config',
  '-L': 'socket_name',
  '-S': 'socket_path',
};

function serverOf(file: Foreign<Project>): Record<string, string> {
  const { socket_name, socket_path } = file.value;
  const key = file.value.cli_args == null ? 'tmux_options' : 'cli_args';
  const words = (file.value[key] ?? '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const plain = words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  const found: Record<string, string> = {};
  const others: string[] = [];
  while (plain.length > 0) {
    const word = plain.shift() ?? '';
    const name = Object.hasOwn(serverFlags, word) ? serverFlags[word] : undefined;
    const value = name === undefined ? undefined : plain.shift();
    if (name !== undefined && value !== undefined) found[name] = value;
    else others.push(word);
  }
  if (others.length > 0) file.warn([key], 'unsupported_key', `was carried over without ${others.join(' ')}.`);
  return { ...found, ...keep({ socket_name, socket_path }) };
}

function listAll(given: Window['panes']): readonly Pane[] {
  return given == null ? [] : Array.isArray(given) ? given : [given];
}

function keep(values: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] != null),
  );
}
