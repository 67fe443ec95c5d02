import type { RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';

const defaultTimeoutMs = 30_000;

/** A call on its way: the first of answer, failure, timeout and abort settles it, and the others no longer count. */
export class Call<T> {
  readonly argv: readonly string[];
  readonly at: number;
  readonly #deadlines: Deadlines;
  readonly #options: RunOptions;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  #onAbort: (() => void) | undefined;
  #isOver = false;
  /** Stops what the call has started; set by whoever can. */
  cancel: (() => void) | undefined;

  constructor(
    deadlines: Deadlines,
    argv: readonly string[],
    options: RunOptions,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.argv = argv;
    this.at = performance.now() + (options.timeoutMs ?? defaultTimeoutMs);
    this.#deadlines = deadlines;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal } = options;
    if (signal?.aborted) {
      this.fail(
        new TmuxError('aborted', `${argv[0]} was aborted before it was sent.`, { argv }, signal.reason),
      );
      return;
    }
    deadlines.add(this);
    if (signal) {
      this.#onAbort = () => this.#stop('aborted', 'was aborted', signal.reason);
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  answer(value: T): void {
    if (this.#end()) this.#resolve(value);
  }

  fail(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  /** The time is up. */
  expire(): void {
    this.#stop('timed_out', `was not answered within ${this.#options.timeoutMs ?? defaultTimeoutMs} ms`);
  }

  #stop(code: 'timed_out' | 'aborted', what: string, cause?: unknown): void {
    this.cancel?.();
    this.fail(new TmuxError(code, `${this.argv[0]} ${what}.`, { argv: this.argv }, cause));
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#deadlines.delete(this);
    if (this.#onAbort) this.#options.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

type Entry = Pick<Call<unknown>, 'at' | 'expire'>;

/** One timer for all calls of an engine: a call that is answered in time costs none of its own. */
export class Deadlines {
  readonly #entries = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  /** Makes a call and starts it; `start` answers how to stop it. */
  run<T>(
    argv: readonly string[],
    options: RunOptions,
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const call = new Call<T>(this, argv, options, resolve, reject);
      if (call.isOver) return;
      call.cancel = start(
        (value) => call.answer(value),
        (error) => call.fail(error),
      );
    });
  }

  add(entry: Entry): void {
    this.#entries.add(entry);
    this.#arm(entry.at);
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry);
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
