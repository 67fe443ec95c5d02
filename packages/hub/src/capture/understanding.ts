import { once } from 'node:events';
import { extname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Entry, Unreadable } from './journal.ts';
import { type Understood, understand } from './understand.ts';

const threadFile = new URL(`./understand-thread${extname(import.meta.url)}`, import.meta.url);

/** To look for secrets in this many bytes takes milliseconds; more at once would hold up the hub. */
const atOnceBytes = 64 * 1024;

/** Reads events: the small ones right here, some at a time, and the large ones on a thread that ends with them. */
export async function understandAll(entries: readonly Entry[]): Promise<readonly Understood[]> {
  const isLarge = ({ payload }: Entry): boolean => payload.length > atOnceBytes;
  const apart = entries.some(isLarge) ? await understandApart(entries.filter(isLarge)) : [];
  const large = apart.values();
  const understood: Understood[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (isLarge(entry)) {
      understood.push(large.next().value as Understood);
      continue;
    }
    bytes += entry.payload.length;
    if (bytes > atOnceBytes) {
      await setImmediate();
      bytes = entry.payload.length;
    }
    understood.push(understand(entry));
  }
  return understood;
}

async function understandApart(entries: readonly Entry[]): Promise<readonly Understood[]> {
  const thread = new Worker(threadFile, { workerData: entries });
  try {
    const [answer] = (await once(thread, 'message')) as [readonly Understood[]];
    return answer;
  } catch (cause) {
    throw new Unreadable(`the thread that read it ended: ${(cause as Error).message}`, { cause });
  } finally {
    void thread.terminate();
  }
}
