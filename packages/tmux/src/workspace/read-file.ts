import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TmuxError } from '../errors.ts';
import { shown } from '../operation/given.ts';
import { type ExpandedWorkspace, expandWorkspace, type Surroundings } from './expand.ts';
import { parseWorkspace, parseWorkspaceValue } from './parse.ts';

/** A file, a folder with a `.tmuxp` file in it, or the value such a file would hold. */
export type WorkspaceSource = string | object;

const namesInFolder = ['.tmuxp.yaml', '.tmuxp.yml', '.tmuxp.json'];

/**
 * Reads a workspace and makes everything in it explicit.
 *
 * @example (await readWorkspace('dev.yaml')).workspace.sessions.map((session) => session.name)
 */
export async function readWorkspace(
  source: WorkspaceSource,
  surroundings: Surroundings = {},
): Promise<ExpandedWorkspace> {
  if (typeof source !== 'string' && (typeof source !== 'object' || source === null)) {
    throw new TmuxError('invalid_workspace', `A workspace is a file or a value, not ${String(source)}.`, {
      source,
    });
  }
  if (typeof source !== 'string') return expandWorkspace(parseWorkspaceValue(source), surroundings);
  if (source.includes('\n')) {
    const message = `This is the text of a workspace, not its path: ${shown(source)}. Give the file, or the value the text holds.`;
    throw new TmuxError('invalid_workspace', message);
  }
  const file = await findFile(resolve(surroundings.cwd ?? '.', source));
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new TmuxError('invalid_workspace', `${file} cannot be read.`, { file }, cause);
  });
  return expandWorkspace(parseWorkspace(text, source), { directory: dirname(file), ...surroundings });
}

async function findFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined); // Whatever keeps us from seeing it, it cannot be read.
  if (!found) throw new TmuxError('invalid_workspace', `There is no file ${path}.`, { file: path });
  if (!found.isDirectory()) return path;
  for (const name of namesInFolder) {
    const file = join(path, name);
    if (await isFile(file)) return file;
  }
  throw new TmuxError('invalid_workspace', `The folder ${path} holds none of ${namesInFolder.join(', ')}.`, {
    file: path,
  });
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => !found.isDirectory(),
    () => false, // What cannot be seen cannot be used.
  );
}

export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // What cannot be seen cannot be used.
  );
}
