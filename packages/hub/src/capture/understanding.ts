import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Entry, Unreadable } from './journal.ts';
import { type Understood, understand } from './understand.ts';

const threadFile = new URL(`./understand-thread${extname(import.meta.url)}`, import.meta.url);

/** To look for secrets in this many bytes takes milliseconds; whatever is more would hold up the hub. */
const atOnceBytes = 64 * 1024;

/** Reads events: few bytes right here, more on a thread that ends with them. */
export async function understandAll(entries: readonly Entry[]): Promise<readonly Understood[]> {
  const bytes = entries.reduce((sum, { payload }) => sum + payload.length, 0);
  return bytes <= atOnceBytes ? entries.map(understand) : understandApart(entries);
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
