import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Refused, type Trouble } from './transcript.ts';

/** Longer ones are not what an agent says: they would fill the memory. */
const longestLine = 16 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** A line that is being written is whole soon. */
const writtenWithinMs = 60_000;

/** Why a file cannot be opened, in words that say more than the system's. */
const unopened: Readonly<Record<string, string>> = { ELOOP: 'it is a link', ENOENT: 'it is not there' };

/** Opens what another program wrote: no link is followed, no pipe waited for, and nothing read that is another's. */
export async function openKept(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw new Refused(unopened[error.code ?? ''] ?? error.message, { cause: error });
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Refused('it is no file');
    if (found.uid !== process.getuid?.()) throw new Refused('it belongs to another user');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Each line of a file as the JSON it is, as far as the file reached when it was opened. */
export async function* keptLines(path: string): AsyncGenerator<{ readonly value: unknown } | Trouble> {
  const file = await openKept(path);
  try {
    const { size, mtimeMs } = await file.stat();
    let [number, skipping, rest]: [number, boolean, Buffer] = [1, false, Buffer.alloc(0)];
    for (let at = 0; at < size; ) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(chunkBytes, size - at)), {
        position: at,
      });
      if (bytesRead === 0) break;
      at += bytesRead;
      let begin = 0;
      for (let end = buffer.indexOf(10); end >= 0 && end < bytesRead; end = buffer.indexOf(10, begin)) {
        if (!skipping) yield* lineOf(Buffer.concat([rest, buffer.subarray(begin, end)]), number);
        [number, skipping, rest, begin] = [number + 1, false, Buffer.alloc(0), end + 1];
      }
      if (skipping) continue;
      rest = Buffer.concat([rest, buffer.subarray(begin, bytesRead)]);
      if (rest.length <= longestLine) continue;
      yield { trouble: `line ${number} is longer than ${longestLine} bytes` };
      [skipping, rest] = [true, Buffer.alloc(0)];
    }
    if (rest.length > 0 && Date.now() - mtimeMs > writtenWithinMs)
      yield { trouble: `line ${number}, the last, is not whole` };
  } finally {
    await file.close();
  }
}

function* lineOf(bytes: Buffer, number: number): Generator<{ readonly value: unknown } | Trouble> {
  if (bytes.length === 0) return;
  try {
    yield { value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    yield { trouble: `line ${number} is no JSON` };
  }
}
