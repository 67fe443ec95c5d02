import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PolyError } from '@polyphony/protocol';
import { TimeGuard, TooSlow } from '../../../platform/time-guard.ts';
import { Turns } from '../../../platform/turns.ts';
import { type Grep, matchingLines } from './matching-lines.ts';

const threadFile = new URL(`./grep-thread${extname(import.meta.url)}`, import.meta.url);
interface LineSearchOptions {
  /** Most patterns are done by then; the hub waits no longer for one. */
  readonly atOnceMs?: number;
  /** How long a pattern may take on a thread. */
  readonly patienceMs?: number;
}

export interface LineQuery {
  readonly pattern: string;
  readonly ignore_case: boolean;
}

/** Looks for a pattern in what terminals show: at once, or where that takes too long on one thread, one after the other. */
export class LineSearch {
  readonly #atOnceMs: number;
  readonly #patienceMs: number;
  readonly #turns = new Turns();

  constructor({ atOnceMs = 20, patienceMs = 1000 }: LineSearchOptions = {}) {
    this.#atOnceMs = atOnceMs;
    this.#patienceMs = patienceMs;
  }

  /** The lines that match, of each of the terminals. */
  async find(
    terminals: Grep['terminals'],
    { pattern, ignore_case }: LineQuery,
    signal: AbortSignal,
  ): Promise<Grep['terminals']> {
    const { source, flags } = compile(pattern, ignore_case);
    const grep = { source, flags, terminals };
    try {
      return new TimeGuard(this.#atOnceMs).run(() => matchingLines(grep));
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error;
    }
    const found = await this.#turns.take('thread', () => findApart(grep, this.#patienceMs, signal));
    if (found) return found;
    throw new PolyError('timed_out', `the pattern ${JSON.stringify(pattern)} takes too long on this text.`, {
      hint: 'Write it without one repetition inside another.',
    });
  }
}

/** Answers undefined when the time is over. */
async function findApart(
  grep: Grep,
  patienceMs: number,
  signal: AbortSignal,
): Promise<Grep['terminals'] | undefined> {
  signal.throwIfAborted();
  const over = new AbortController();
  const thread = new Worker(threadFile, { workerData: grep });
  // Counted from when it runs: a busy machine may take long to start it.
  let timer: NodeJS.Timeout | undefined;
  thread.once('online', () => {
    timer = setTimeout(() => over.abort(), patienceMs);
  });
  try {
    const [found] = await once(thread, 'message', { signal: AbortSignal.any([signal, over.signal]) });
    return found as Grep['terminals'];
  } catch (error) {
    if (over.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    void thread.terminate();
  }
}

function compile(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch {
    // Many patterns that other programs take are refused only by the stricter reading.
    try {
      return new RegExp(pattern, ignoreCase ? 'i' : '');
    } catch (cause) {
      throw new PolyError(
        'invalid_arguments',
        `pattern is no regular expression: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }
}
