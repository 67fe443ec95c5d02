import { realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { commandLine, PolyError } from '@polyphony/protocol';
import type { ToolContext } from './opencode.ts';

export interface SpawnRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it will really start. */
  readonly cwd: string;
}

/**
 * Asks OpenCode, whose `permission.bash` and `permission.external_directory` decide: allowed, denied, or asked of the
 * user. Anything but a clear yes is a no.
 */
export async function permitSpawn(
  { argv, env, cwd }: SpawnRequest,
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<void> {
  const patterns = subjectsOf(argv, env);
  const line = [...assignments(env), commandLine(argv)].join(' ');
  await showing(line, args, async () => {
    if (isOutside(cwd, [context.directory, context.worktree])) {
      const pattern = join(cwd, '*');
      await context.ask({
        permission: 'external_directory',
        patterns: [pattern],
        always: [pattern],
        metadata: { command: line, filepath: cwd, parentDir: cwd },
      });
    }
    await context.ask({
      permission: 'bash',
      patterns,
      always: patterns.map(narrow),
      metadata: { command: line },
    });
  }).catch((cause: unknown) => {
    const why = cause instanceof Error && cause.message ? `: ${cause.message}` : '';
    throw new PolyError('forbidden', `"${line}" was not allowed${why}`, { cause });
  });
}

/**
 * OpenCode 1.18.33 shows the user nothing but the argument `command`, as it is in this very object: while it asks, that
 * holds the whole line. A session that was asked keeps it so.
 */
async function showing(line: string, args: Record<string, unknown>, ask: () => Promise<void>): Promise<void> {
  const { command } = args;
  args.command = line;
  try {
    await ask();
  } finally {
    args.command = command;
  }
}

/** An approval for good is for this line: a star in it must not stand for anything. */
const narrow = (pattern: string): string => pattern.replaceAll('*', '?');

const assignments = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env).map(([name, value]) => commandLine([`${name}=${value}`]));

const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish']);
const separators = /\|\||&&|[;&|\n]|\$\(|[`()]/;

/**
 * What the rules are held against. All must be allowed, so that each addition can only make it stricter: the program
 * without its folder, what `env` or a shell is told to run, and the whole with the variables that were added.
 */
export function subjectsOf(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): readonly string[] {
  const line = argv.join(' ');
  const [program = '', ...rest] = argv;
  const subjects = [
    line,
    [basename(program), ...rest].join(' '),
    [...assignments(env), line].join(' '),
    ...carriedBy(basename(program), rest),
  ];
  return [...new Set(subjects)].filter((subject) => subject !== '');
}

/** What a program that runs others runs. A script is not understood, only cut where another command may begin. */
function carriedBy(name: string, args: readonly string[]): readonly string[] {
  if (name === 'env')
    return subjectsOf(behindOptions(lineOfEnv(args), /^-|=/, /^(-\w*[uCa]|--(unset|chdir|argv0))$/));
  const words = behindOptions(args, /^[-+]/, /^([-+]\w*o|--rcfile|--init-file)$/i);
  const isScript = args.slice(0, args.length - words.length).some((word) => /^-\w*c/.test(word));
  const [script = ''] = shells.has(name) && isScript ? words : [];
  return script.split(separators).map((part) => part.trim());
}

/** The words behind options, and behind those that some of them take with them. */
function behindOptions(words: readonly string[], option: RegExp, takesNext: RegExp): readonly string[] {
  const at = words.findIndex((word, i) => !option.test(word) && !takesNext.test(words[i - 1] ?? ''));
  return at < 0 ? [] : words.slice(at);
}

/** The words `env` goes by: one behind `-S` is a line of several. */
function lineOfEnv(args: readonly string[]): readonly string[] {
  const split = /^(?:-[iv0]*S|--split-string=?)/;
  return args.flatMap((word, i) => {
    const isLine = split.test(word) || /^(?:-[iv0]*S|--split-string)$/.test(args[i - 1] ?? '');
    return isLine ? word.replace(split, '').trim().split(/\s+/).filter(Boolean) : [word];
  });
}

/** The folder that is meant, with every link followed. */
export function realFolder(directory: string, workdir = '.'): string {
  const wanted = resolve(directory, workdir);
  try {
    const real = realpathSync(wanted);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new PolyError('invalid_arguments', `workdir "${workdir}" is not there (${wanted}).`, { cause });
  }
  throw new PolyError('invalid_arguments', `workdir "${workdir}" is no folder (${wanted}).`);
}

/** Whether a folder is in none of these; `/`, which OpenCode says where there is no repository, holds nothing. */
export function isOutside(folder: string, roots: readonly string[]): boolean {
  return roots
    .filter((root) => root !== '/')
    .every((root) => {
      const way = relative(realFolder(root), folder);
      return way === '..' || way.startsWith('../') || isAbsolute(way);
    });
}
