import { realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { findProgram } from '../host/find-program.ts';
import { fitsText, type Verdict } from '../platform/rules.ts';

/** A program about to be started. */
export interface Start {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** What is added to the user's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly user: Readonly<Record<string, string | undefined>>;
}

/** What a program may be called in a rule. */
export interface ProgramNames {
  /** The file itself, behind all links; none when there is no such program. */
  readonly file: string | undefined;
  /** Tells the file from another that has taken its place. */
  readonly identity: string | undefined;
  /** As it was given and found, and the file: each as it is and without its folder. */
  readonly any: readonly string[];
  /** Those that nobody can give to another program: the file, and the name by which the user's own PATH finds it. */
  readonly certain: readonly string[];
}

export function programNames({ argv: [given = ''], cwd, env, user }: Start): ProgramNames {
  const found = find(given, cwd, env.PATH ?? user.PATH);
  const file = found && realpathSync(found);
  const paths = [given, found, file].filter((path) => path !== undefined);
  const any = [...new Set(paths.flatMap((path) => [path, basename(path)]))];
  if (file === undefined) return { file, identity: undefined, any, certain: [] };
  const { dev, ino, size, mtimeMs } = statSync(file);
  const identity = [file, dev, ino, size, mtimeMs].join(' ');
  const own = any.filter((name) => {
    const theirs = name.includes('/') ? undefined : find(name, '/', user.PATH);
    return theirs !== undefined && realpathSync(theirs) === file;
  });
  return { file, identity, any, certain: [file, ...own] };
}

/** Whether a rule is about this program: about it alone, or about its whole line with spaces between the words. */
export function fitsProgram(
  { any, certain }: ProgramNames,
  [, ...args]: readonly string[],
  pattern: string,
  verdict: Verdict,
): boolean {
  // A name that somebody gave his own program must not open anything.
  const names = verdict === 'allow' ? certain : any;
  return (
    pattern === '*' ||
    names.some((name) => fitsText(pattern, name) || fitsText(pattern, [name, ...args].join(' ')))
  );
}

function find(program: string, cwd: string, path: string | undefined): string | undefined {
  try {
    return findProgram(program, cwd, path === undefined ? {} : { PATH: path });
  } catch {
    return undefined; // There is none: starting it will say so.
  }
}
