import type { RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';

const defaultTimeoutMs = 30_000;

interface Entry {
  readonly at: number;
  readonly expire: () => void;
}

/** One timer for all calls of an engine: a call that is answered in time costs none of its own. */
export class Deadlines {
  readonly #entries = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  /**
   * Runs `start` until it settles, its time is up or it is aborted; `start` answers what to do in the last two cases.
   */
  run<T>(
    argv: readonly string[],
    { signal, timeoutMs = defaultTimeoutMs }: RunOptions,
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(aborted(argv, 'was aborted before it was sent', signal));
    return new Promise<T>((resolve, reject) => {
      const over = (error: TmuxError): void => {
        cancel();
        fail(error);
      };
      const entry: Entry = {
        at: performance.now() + timeoutMs,
        expire: () =>
          over(
            new TmuxError('timed_out', `${argv[0]} was not answered within ${timeoutMs} ms.`, {
              argv,
              timeoutMs,
            }),
          ),
      };
      const onAbort = (): void => over(aborted(argv, 'was aborted', signal));
      const forget = (): void => {
        this.#entries.delete(entry);
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: unknown): void => {
        forget();
        reject(error);
      };
      this.#entries.add(entry);
      this.#arm(entry.at);
      signal?.addEventListener('abort', onAbort, { once: true });
      const cancel = start((value) => {
        forget();
        resolve(value);
      }, fail);
    });
  }

  /** Does not keep the process alive: what is waited for does. */
  #arm(at: number): void {
    if (at >= this.#armedFor) return;
    clearTimeout(this.#timer);
    this.#armedFor = at;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(0, at - performance.now())).unref();
  }

  #sweep(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const entry of [...this.#entries]) {
      if (entry.at <= now) entry.expire();
      else this.#arm(entry.at);
    }
  }
}

function aborted(argv: readonly string[], what: string, signal: AbortSignal | undefined): TmuxError {
  return new TmuxError('aborted', `${argv[0]} ${what}.`, { argv }, signal?.reason);
}
