import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { TmuxError } from '../errors.ts';
import { sessionNameSchema } from '../operation/target.ts';
import { expandCommands, isMapping, milliseconds } from './expand-commands.ts';
import { expandDirectory, expandText, expandValues, type Place } from './expand-text.ts';
import { type ParsedWorkspace, type RawSession, showPath } from './parse.ts';
import { invalidWorkspace, readSession, warnAbout } from './read.ts';
import type {
  BeforeScript,
  Variables,
  Workspace,
  WorkspaceCommand,
  WorkspaceFloat,
  WorkspacePane,
  WorkspaceSession,
  WorkspaceWarning,
  WorkspaceWindow,
} from './workspace.ts';
import type { FloatFile, PaneFile, PaneKeys, SessionFile, WindowFile } from './workspace-file.ts';

/** What a workspace is read against. */
export interface Surroundings {
  /** Variables for `$NAME` and `${NAME}`; default this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** What `~` stands for; default the user's home. */
  readonly home?: string;
  /** Where relative paths start: the folder of the file. Default the current folder. */
  readonly directory?: string;
  /** Where panes start when nothing says otherwise; default the current folder. */
  readonly cwd?: string;
}

export interface ExpandedWorkspace {
  readonly workspace: Workspace;
  readonly warnings: readonly WorkspaceWarning[];
}

/**
 * Makes everything explicit: variables and `~` replaced, paths absolute, short forms written out, and what sessions and
 * windows say about their panes given to the panes.
 *
 * @example expandWorkspace(parseWorkspace('session_name: a\nwindows: [{}]')).workspace.sessions[0]?.name // 'a'
 */
export function expandWorkspace(parsed: ParsedWorkspace, surroundings: Surroundings = {}): ExpandedWorkspace {
  const place: Place = {
    env: surroundings.env ?? process.env,
    home: surroundings.home ?? homedir(),
    directory: resolve(surroundings.directory ?? '.'),
    cwd: resolve(surroundings.cwd ?? '.'),
  };
  const parts = parsed.sessions.map((raw) => expandSession(raw, place));
  const sessions = parts.map((part) => part.session);
  const twice = sessions.find(
    ({ name }, i) => sessions.findIndex((other) => other.name === name) !== i,
  )?.name;
  if (twice !== undefined) {
    throw new TmuxError('invalid_workspace', `Two sessions are named ${JSON.stringify(twice)}; rename one.`, {
      name: twice,
    });
  }
  return {
    workspace: { sessions },
    warnings: [...parsed.warnings, ...parts.flatMap((part) => part.warnings)],
  };
}

/** What a session or window hands down to its panes. */
interface Inherited {
  readonly startDirectory: string;
  /** Where relative folders start: the parent's folder if it declares one, else that of the file. */
  readonly base: string;
  readonly environment: Variables;
  readonly shell?: string | undefined;
  readonly suppressHistory: boolean;
  readonly before: readonly WorkspaceCommand[];
  readonly after: readonly WorkspaceCommand[];
}

function expandSession(
  raw: RawSession,
  place: Place,
): { session: WorkspaceSession; warnings: WorkspaceWarning[] } {
  const { file, warnings } = readSession(raw);
  const written = expandText(file.session_name, place);
  const name = written.replaceAll(/[.:]/g, '_');
  const named = sessionNameSchema.safeParse(name);
  if (!named.success)
    throw invalidWorkspace(raw, [{ path: ['session_name'], message: named.error.issues[0]?.message ?? '' }]);
  const renamed =
    name === written
      ? []
      : [warnAbout(raw, ['session_name'], 'changed_value', `tmux names it ${JSON.stringify(name)}.`)];
  const declared = expandDirectory(file.start_directory, place.directory, place);
  const startDirectory = declared ?? place.cwd;
  const options = expandValues(file.options, place);
  const globalOptions = expandValues(file.global_options, place);
  const inherited: Inherited = {
    startDirectory,
    base: declared ?? place.directory,
    environment: {},
    suppressHistory: file.suppress_history ?? true,
    before: expandCommands(file.shell_command_before, place),
    after: [],
  };
  const session: WorkspaceSession = {
    name,
    startDirectory,
    ...(file.dimensions && { size: file.dimensions }),
    environment: expandValues(file.environment, place),
    options,
    globalOptions,
    ...(file.before_script && { beforeScript: expandScript(file.before_script, startDirectory, place) }),
    onExists: file.on_exists ?? 'error',
    waitPane: waits(file, options['default-shell'] ?? globalOptions['default-shell'] ?? place.env.SHELL),
    windows: file.windows.map((window) => expandWindow(window, inherited, place)),
  };
  refuseSameIndexes(raw, session.windows);
  return { session, warnings: [...warnings, ...renamed] };
}

/** zsh draws its prompt anew over what was typed too early; other shells keep it. */
function waits(file: SessionFile, shell = ''): boolean {
  if (file.wait_pane != null) return file.wait_pane;
  const readiness = file.workspace_builder_options?.pane_readiness ?? 'auto';
  return readiness === 'auto' ? /(^|\/)zsh$/.test(shell) : readiness === 'always';
}

function expandWindow(file: WindowFile, session: Inherited, place: Place): WorkspaceWindow {
  const declared = expandDirectory(file.start_directory, session.base, place);
  const inherited: Inherited = {
    startDirectory: declared ?? session.startDirectory,
    base: declared ?? session.base,
    environment: expandValues(file.environment, place),
    shell: file.window_shell || undefined,
    suppressHistory: file.suppress_history ?? session.suppressHistory,
    before: [...session.before, ...expandCommands(file.shell_command_before, place)],
    after: expandCommands(file.shell_command_after, place),
  };
  const panes: readonly PaneFile[] = file.panes && file.panes.length > 0 ? file.panes : [null];
  return {
    ...(file.window_name && { name: expandText(file.window_name, place) }),
    ...(file.window_index != null && { index: file.window_index }),
    ...(file.layout && { layout: file.layout }),
    focus: file.focus ?? false,
    options: expandValues(file.options, place),
    optionsAfter: expandValues(file.options_after, place),
    panes: panes.map((pane) => expandPane(paneKeys(pane), inherited, place, file.clear ?? false)),
    floats: (file.floats ?? []).map((float) => expandFloat(float, inherited, place)),
  };
}

function paneKeys(pane: PaneFile): PaneKeys {
  return isMapping(pane) ? pane : { shell_command: pane };
}

/** The pane's own `enter` speaks of its own commands only: what is inherited prepares the pane and is always run. */
function expandPane(file: PaneKeys, window: Inherited, place: Place, clear: boolean): WorkspacePane {
  const shell = file.shell || window.shell;
  return {
    startDirectory: expandDirectory(file.start_directory, window.base, place) ?? window.startDirectory,
    environment: file.environment ? expandValues(file.environment, place) : window.environment,
    ...(shell && { shell: expandText(shell, place) }),
    focus: file.focus ?? false,
    suppressHistory: file.suppress_history ?? window.suppressHistory,
    sleepBeforeMs: milliseconds(file.sleep_before),
    sleepAfterMs: milliseconds(file.sleep_after),
    commands: [
      ...window.before,
      ...expandCommands(file.shell_command_before, place),
      ...expandCommands(clear ? 'clear' : null, place),
      ...expandCommands(file.shell_command ?? file.cmd, place, file.enter ?? true),
      ...window.after,
    ],
  };
}

function expandFloat(file: FloatFile, window: Inherited, place: Place): WorkspaceFloat {
  const text = (value: string | null | undefined): string | undefined =>
    value == null ? undefined : expandText(value, place);
  const shape = {
    width: file.width,
    height: file.height,
    x: file.x,
    y: file.y,
    zoom: file.zoom,
    empty: file.empty,
    style: text(file.style),
    activeBorderStyle: text(file.active_border_style),
    inactiveBorderStyle: text(file.inactive_border_style),
    message: text(file.message),
  };
  const pane = expandPane(file, { ...window, shell: undefined }, place, false);
  const attachTo = text(file.attach_to);
  return {
    ...pane,
    ...(file.empty && { commands: [] }),
    ...(attachTo !== undefined && { attachTo }),
    shape: Object.fromEntries(Object.entries(shape).filter(([, value]) => value != null)),
  };
}

/** The first word is taken apart before variables are replaced, so that a folder with a space in its name stays one word. */
function expandScript(written: string, cwd: string, place: Place): BeforeScript {
  const [, word = '', rest = ''] = /^(\S+)(.*)$/s.exec(written.trim()) ?? [];
  if (!word.includes('/') || /["'\\`;|&<>()]/.test(word))
    return { command: expandText(written.trim(), place), cwd };
  const file = resolve(word.startsWith('.') ? place.directory : cwd, expandText(word, place));
  const quoted = /^[\w@%+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
  return { command: quoted + expandText(rest, place), cwd, file };
}

function refuseSameIndexes(raw: RawSession, windows: readonly WorkspaceWindow[]): void {
  const taken = new Map<number, number>();
  for (const [i, { index }] of windows.entries()) {
    if (index === undefined) continue;
    const other = taken.get(index);
    if (other !== undefined) {
      const both = [other, i].map((at) => showPath([...raw.path, 'windows', at])).join(' and ');
      const message = `${both} both ask for window_index ${index}`;
      throw invalidWorkspace(raw, [{ path: ['windows', i, 'window_index'], message }]);
    }
    taken.set(index, i);
  }
}
