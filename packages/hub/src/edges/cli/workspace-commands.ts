import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type ErrorCode, PolyError } from '@polyphony/protocol';
import {
  type ConnectionOptions,
  createEngine,
  type Engine,
  TmuxError,
  type TmuxErrorCode,
} from '@polyphony/tmux';
import {
  freezeWorkspace,
  importTeamocil,
  importTmuxinator,
  loadWorkspace,
  type OnExists,
  planWorkspace,
  stringifyWorkspace,
  type WorkspaceWarning,
} from '@polyphony/tmux/workspace';
import { missingTmux } from '../../platform/missing-tmux.ts';
import type { Call } from './command.ts';
import { fileTrouble } from './file-trouble.ts';
import { revealedLine, revealedLines } from './revealed.ts';
import { shellWord } from './shell-word.ts';

interface ServerFlags {
  readonly 'socket-name'?: string;
  readonly 'socket-path'?: string;
}

interface LoadFlags extends ServerFlags {
  readonly 'on-exists'?: string;
}

interface OutputFlags {
  readonly output?: string;
  readonly force?: boolean;
}

export async function load({
  args: [file = ''],
  flags,
  env,
  out,
  json,
}: Call & { flags: LoadFlags }): Promise<void> {
  const loaded = await onServer(flags, (engine) =>
    out.progress(`building ${file}`, loadWorkspace(engine, file, { ...existing(flags), confirm: true })),
  );
  const { sessions, warnings, differences = [] } = loaded;
  if (json) return out.json({ sessions, warnings, differences });
  warn(out, warnings);
  for (const { path, declared, found } of differences)
    out.note(
      revealedLine(`poly: ${path} is ${JSON.stringify(found)}, not ${JSON.stringify(declared)} as declared.`),
    );
  const { where, words } = serverOf(flags);
  // Inside of that very server a terminal is switched: tmux does not attach within itself.
  const verb = env.TMUX && words.length === 0 ? 'switch-client' : 'attach';
  for (const { name, action } of sessions) {
    const see = ['tmux', ...words, verb, '-t', name].map(shellWord).join(' ');
    out.line(revealedLine(`${name}: ${done[action]}, on ${where}. See it: ${see}`));
  }
  if (out.isTerminal)
    out.note(out.paint('dim', 'The hub has no part in it: poly ls does not show its panes.'));
}

function serverOf({ 'socket-name': name, 'socket-path': path }: ServerFlags): {
  readonly where: string;
  readonly words: readonly string[];
} {
  if (path !== undefined) return { where: `the tmux server at ${path}`, words: ['-S', path] };
  if (name !== undefined) return { where: `the tmux server "${name}"`, words: ['-L', name] };
  return { where: 'your own tmux server', words: [] };
}

const done = { create: 'built', replace: 'built anew', reuse: 'left as it is' } as const;

export async function plan({
  args: [file = ''],
  flags,
  out,
  json,
}: Call & { flags: LoadFlags }): Promise<void> {
  const { text, warnings } = await onServer(flags, (engine) => planWorkspace(engine, file, existing(flags)));
  if (json) return out.json({ commands: text.split('\n').filter(Boolean), warnings });
  warn(out, warnings);
  // Whoever looks before loading a file of somebody else is shown all of it, also what the file would hide.
  out.bytes(revealedLines(text));
}

export async function freeze(call: Call & { flags: ServerFlags & OutputFlags }): Promise<void> {
  const { args, flags } = call;
  const { workspace, text, warnings } = await onServer(flags, (engine) =>
    freezeWorkspace(engine, args.length > 0 ? args : undefined),
  );
  write(call, workspace, text, warnings);
}

/** How teamocil names a window; with tmuxinator its name is the key. */
const namedWindow = /^\s*-\s+name\s*:/m;
const importers = { tmuxinator: importTmuxinator, teamocil: importTeamocil };

export async function importFile(
  call: Call & { flags: OutputFlags & { readonly from?: string } },
): Promise<void> {
  const { args, flags } = call;
  const [file = ''] = args;
  const { workspace, warnings } = await explained(async () => {
    const text = readText(file);
    const isTeamocil = file.includes('teamocil') || namedWindow.test(text);
    const from = flags.from ?? (isTeamocil ? 'teamocil' : 'tmuxinator');
    return importers[from as keyof typeof importers](text, { name: file });
  }, file);
  write(call, workspace, stringifyWorkspace(workspace), warnings);
}

/** The user's own server, or the one the flags name; let go of again whatever happens. */
async function onServer<T>(flags: ServerFlags, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { 'socket-name': socketName, 'socket-path': socketPath } = flags;
  if (socketName !== undefined && socketPath !== undefined)
    throw new PolyError('invalid_arguments', 'say either --socket-name or --socket-path.');
  const connection: ConnectionOptions = {
    ...(socketName !== undefined && { socketName }),
    ...(socketPath !== undefined && { socketPath }),
  };
  return explained(async () => {
    const engine = createEngine('control', connection);
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  });
}

function existing({ 'on-exists': onExists }: LoadFlags): { onExists?: OnExists } {
  return onExists === undefined ? {} : { onExists: onExists as OnExists };
}

const codes: Partial<Record<TmuxErrorCode, ErrorCode>> = {
  invalid_workspace: 'invalid_arguments',
  invalid_parameters: 'invalid_arguments',
  workspace_exists: 'conflict',
  no_server: 'not_found',
  timed_out: 'timed_out',
};
/** The library speaks to programs; these are the same hints for people at a command line. */
const hints: Partial<Record<TmuxErrorCode, string>> = {
  workspace_exists: 'Say --on-exists replace or --on-exists reuse, or give the session another name.',
  no_server: 'No tmux server runs there: start one with tmux, or name it with --socket-name.',
  failed_create: 'tmux says why; --socket-name and --socket-path name another server.',
  invalid_parameters: '',
};
/** What is wrong with a file, by how the library says it; the first that matches. */
const fileHints: readonly (readonly [said: RegExp, hint: string])[] = [
  [/format of tmuxp already/, 'Use it as it is: poly workspace load FILE'],
  [/^There is no file/, 'Check the path; poly workspace freeze --output FILE writes one.'],
  [/^The folder/, 'Name the file itself.'],
  [/ cannot be read\.$/, 'ls -l shows who may read it.'],
  [
    /declares no session|is no session|: is missing/,
    'It needs a session_name and windows: poly workspace freeze shows how one looks.',
  ],
  [/is no project|must hold one project/, 'Give a file of tmuxinator or teamocil; --from says whose it is.'],
  [/./, 'Correct that place of the file.'],
];
/** The file or the session that was named. */
const notThere = /^There is no (file|session named) /;
/** Advice to those who call the library, which means nothing here. */
const toPrograms =
  /; a file is read by readWorkspace\(path\)|: give the text of the file, not its path|: there is nothing to import/;

async function explained<T>(work: () => Promise<T>, file = 'FILE'): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof TmuxError)) throw cause;
    if (cause.code === 'missing_binary') throw missingTmux(cause);
    const message = cause.message.replace(toPrograms, '');
    const ofFile = fileHints.find(([said]) => cause.code === 'invalid_workspace' && said.test(message));
    const hint = ofFile?.[1].replace('FILE', () => shellWord(file)) ?? hints[cause.code] ?? cause.hint;
    const code = notThere.test(message) ? 'not_found' : (codes[cause.code] ?? 'action_failed');
    throw new PolyError(code, message, {
      ...(hint && { hint }),
      cause,
    });
  }
}

function write(
  { flags: { output, force = false }, out, json }: Call & { flags: OutputFlags },
  workspace: object,
  text: string,
  warnings: readonly WorkspaceWarning[],
): void {
  if (!json) warn(out, warnings);
  if (output !== undefined) writeText(output, text, force);
  if (json) out.json({ workspace, warnings, ...(output !== undefined && { output }) });
  else if (output === undefined) out.bytes(out.isTerminal ? revealedLines(text) : text);
  else out.line(`wrote ${output}`);
}

function writeText(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    if (isThere && statSync(file).isDirectory()) throw fileTrouble(file, 'written', { code: 'EISDIR' });
    throw isThere
      ? new PolyError('conflict', `${file} is there already.`, { hint: 'Say --force to replace it.', cause })
      : fileTrouble(file, 'written', cause);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw fileTrouble(file, 'read', cause);
  }
}

function warn(out: Call['out'], warnings: readonly WorkspaceWarning[]): void {
  for (const { message, line } of warnings)
    out.note(revealedLine(`poly: ${message}${line ? ` (line ${line})` : ''}`));
}
