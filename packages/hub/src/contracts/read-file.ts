import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import type { ContractThreads } from './contract-threads.ts';
import { type DocumentRead, mostBytes, readDocument } from './document.ts';

/** Reads a file as a contract. A link is followed as long as it leads to a file below the root. */
export async function readContractFile(
  path: string,
  root: string,
  threads: ContractThreads,
): Promise<DocumentRead> {
  try {
    const real = await realpath(path);
    if (!isBelow(real, await realpath(root))) return { problem: `it is a link that leads out of ${root}` };
    return await parse(await readText(real), threads);
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep);
}

/** Neither a pipe nor a device is waited for, and of a file that grows no more is read than is taken. */
async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Unreadable('it is no file');
    if (stat.size > mostBytes)
      throw new Unreadable(`it has ${stat.size} bytes, and at most ${mostBytes} are taken`);
    const bytes = Buffer.alloc(mostBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      ({ bytesRead: read } = await file.read(bytes, length));
    if (length > mostBytes) throw new Unreadable(`it has more than the ${mostBytes} bytes that are taken`);
    return bytes.toString('utf8', 0, length);
  } finally {
    await file.close();
  }
}

async function parse(text: string, threads: ContractThreads): Promise<DocumentRead> {
  if (text.trim() === '') throw new Unreadable('it is empty');
  if (!/^\s*\{/.test(text)) return threads.readYaml(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // What begins like JSON may still be YAML.
    const read = await threads.readYaml(text);
    return 'document' in read ? read : { problem: `it is not JSON: ${(error as Error).message}` };
  }
  return { document: readDocument(value) };
}

class Unreadable extends Error {}

function problemOf(error: unknown): string {
  if (error instanceof PolyError || error instanceof Unreadable) return error.message.replace(/\.$/, '');
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'it is gone' : `it cannot be read: ${(error as Error).message}`;
}
