import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Normalised } from '../normalise.ts';

const threadFile = new URL(`./transcript-thread${extname(import.meta.url)}`, import.meta.url);

/** More than a lot of the longest lines; a transcript that needs more ends its thread, and nothing else. */
const mostMegabytes = 512;

/** What is to be read, and of that only what is wanted, whole. */
export interface Reading {
  readonly vendor: string;
  readonly conversation: string;
  readonly path: string;
  readonly wanted?: ReadonlySet<string> | undefined;
}

export interface Lot {
  readonly events: readonly {
    readonly id: string;
    readonly at: number;
    readonly heard: Normalised;
    /** Without secrets; only of what is wanted. */
    readonly raw: Uint8Array | null;
  }[];
  /** What could not be read. */
  readonly problem: string | undefined;
}

/** What is in a transcript, lot by lot; on a thread of its own, so that neither its size nor its form holds up the hub. */
export async function* readTranscript(reading: Reading): AsyncGenerator<Lot> {
  const thread = new Worker(threadFile, {
    workerData: reading,
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  });
  // Whoever waits for its answer hears of it.
  thread.on('error', () => undefined);
  try {
    for (;;) {
      const answered = once(thread, 'message') as Promise<[Lot | null]>;
      thread.postMessage('next');
      const [lot] = await answered;
      if (lot === null) return;
      yield lot;
    }
  } catch (error) {
    yield { events: [], problem: `it could not be read on: ${(error as Error).message}` };
  } finally {
    void thread.terminate();
  }
}
