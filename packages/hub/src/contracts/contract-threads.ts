import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ContractDiff } from '@polyphony/protocol';
import type { Jobs } from './contract-thread.ts';
import { limitReached } from './diff/changes.ts';
import { diffContracts } from './diff/diff-contracts.ts';
import type { ContractDocument, DocumentRead } from './document.ts';

const threadFile = new URL(`./contract-thread${extname(import.meta.url)}`, import.meta.url);

/** Contracts of this many letters are compared in milliseconds, whatever they say; larger ones would hold up the hub. */
const atOnce = 16 * 1024;
const longestMs = 20_000;
const nothing = { added: [], removed: [], breaking: true };
const mostMegabytes = 512;

/** What may take long, done where it holds up nobody: each job on a thread that ends with it, or when it takes too long. */
export class ContractThreads {
  readonly #longestMs: number;
  readonly #closing = new AbortController();

  constructor(limitMs: number = longestMs) {
    this.#longestMs = limitMs;
  }

  /** Reads YAML: a few letters of it can mean years of work. */
  async readYaml(text: string): Promise<DocumentRead> {
    return (await this.#run('yaml', text)) ?? { problem: 'it takes too long, or too much memory, to read' };
  }

  async diff(before: ContractDocument, after: ContractDocument): Promise<ContractDiff> {
    const letters = [before, after].map(({ value }) => JSON.stringify(value).length);
    if (Math.max(...letters) <= atOnce) return diffContracts(before, after);
    return (await this.#run('diff', before, after)) ?? { ...nothing, changed: [limitReached()] };
  }

  close(): void {
    this.#closing.abort();
  }

  /** Nothing where it did not end in time, or took too much memory. */
  async #run<Name extends keyof Jobs>(
    name: Name,
    ...given: Parameters<Jobs[Name]>
  ): Promise<ReturnType<Jobs[Name]> | undefined> {
    const thread = new Worker(threadFile, {
      workerData: { name, given },
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
    });
    const signal = AbortSignal.any([AbortSignal.timeout(this.#longestMs), this.#closing.signal]);
    try {
      const [answer] = await once(thread, 'message', { signal });
      return answer as ReturnType<Jobs[Name]>;
    } catch (error) {
      const { code, name: kind } = error as NodeJS.ErrnoException;
      if (code === 'ERR_WORKER_OUT_OF_MEMORY' || kind === 'AbortError') return undefined;
      throw error;
    } finally {
      void thread.terminate();
    }
  }
}
