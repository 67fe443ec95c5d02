import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { type ContractDocument, mostBytes, readDocument } from './document.ts';

/** What became of reading a file: a contract, or why there is none. */
export type FileRead = { readonly document: ContractDocument } | { readonly problem: string };

/** Reads a file as a contract. A link is followed as long as it leads to a file below the root. */
export async function readContractFile(path: string, root: string): Promise<FileRead> {
  try {
    const real = await realpath(path);
    if (!isBelow(real, await realpath(root))) return { problem: `it is a link that leads out of ${root}` };
    return { document: readDocument(await parse(await readText(real))) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep);
}

/** Neither a pipe nor a device is waited for. */
async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Unreadable('it is no file');
    if (stat.size > mostBytes)
      throw new Unreadable(`it has ${stat.size} bytes, and at most ${mostBytes} are taken`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function parse(text: string): Promise<unknown> {
  if (text.trim() === '') throw new Unreadable('it is empty');
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch (error) {
      // What begins like JSON may still be YAML.
      const problem = (error as Error).message;
      return parseYaml(text).catch(() => Promise.reject(new Unreadable(`it is not JSON: ${problem}`)));
    }
  }
  return parseYaml(text);
}

async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('./yaml.ts');
  try {
    // As JSON has it: no dates, no other things that only YAML knows.
    return JSON.parse(
      JSON.stringify(yaml.parse(text, { schema: 'core', maxAliasCount: 100, logLevel: 'error' }) ?? null),
    );
  } catch (error) {
    throw new Unreadable(`it is not YAML: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

class Unreadable extends Error {}

function problemOf(error: unknown): string {
  if (error instanceof PolyError || error instanceof Unreadable) return error.message.replace(/\.$/, '');
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'it is gone' : `it cannot be read: ${(error as Error).message}`;
}
