import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { errnoOf, HostError } from './host-error.ts';

/** Makes sure that a program can be started in a folder; says why not otherwise. Answers with its path. */
export function findProgram(program: string, cwd: string, env: Readonly<Record<string, string>>): string {
  checkFolder(cwd);
  const candidates = program.includes('/')
    ? [resolve(cwd, program)]
    : (env.PATH ?? '/usr/bin:/bin').split(delimiter).map((folder) => resolve(cwd, folder, program));
  // As execvp does: a file that may not be run is passed over while another may follow.
  let denied: string | undefined;
  for (const path of program === '' ? [] : candidates) {
    const problem = problemOf(path);
    if (problem === undefined) return checkInterpreter(path);
    if (problem === 'EACCES') denied ??= path;
  }
  if (denied !== undefined) {
    throw new HostError('program_not_executable', `${denied} may not be run.`, { program, errno: 'EACCES' });
  }
  throw new HostError('program_missing', `There is no program ${JSON.stringify(program)}.`, {
    program,
    errno: 'ENOENT',
  });
}

function checkFolder(cwd: string): void {
  const refuse = (errno: string, why: string, cause?: unknown): HostError =>
    new HostError('cwd_unusable', `${cwd} ${why}.`, { cwd, errno }, cause);
  let isFolder: boolean;
  try {
    isFolder = statSync(cwd).isDirectory();
    if (isFolder) accessSync(cwd, constants.X_OK);
  } catch (cause) {
    const errno = errnoOf(cause) ?? 'ENOENT';
    throw refuse(errno, errno === 'EACCES' ? 'may not be entered' : 'does not exist', cause);
  }
  if (!isFolder) throw refuse('ENOTDIR', 'is not a folder');
}

function problemOf(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'EACCES';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error);
  }
}

/** The kernel calls a script missing when its interpreter is. */
function checkInterpreter(path: string): string {
  const interpreter = /^#![ \t]*([^ \t\n\0]+)/.exec(firstBytes(path))?.[1];
  if (interpreter?.startsWith('/') && problemOf(interpreter) !== undefined) {
    throw new HostError(
      'program_missing',
      `${path} wants the interpreter ${interpreter}, which is not there.`,
      {
        program: path,
        errno: 'ENOENT',
      },
    );
  }
  return path;
}

function firstBytes(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return ''; // A program may be run without being read.
  }
  try {
    const bytes = Buffer.alloc(256);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
