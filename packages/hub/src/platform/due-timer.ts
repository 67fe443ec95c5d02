import type { Clock } from './clock.ts';

/** Looks again at least this often: clocks are set, and machines sleep. */
const longestMs = 60_000;

/** Does something when the next of several times has come, which whoever keeps them tells. */
export class DueTimer {
  readonly #clock: Clock;
  readonly #next: () => Promise<number | null>;
  readonly #due: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: {
    readonly clock: Clock;
    /** The earliest time there is something to do. */
    readonly next: () => Promise<number | null>;
    readonly due: () => Promise<unknown>;
    readonly onError: (error: unknown) => void;
  }) {
    this.#clock = options.clock;
    this.#next = options.next;
    this.#due = options.due;
    this.#onError = options.onError;
  }

  /** Looks when the next time is; to be called whenever one may have come nearer. */
  plan(): void {
    this.#running = this.#running.then(() => this.#plan()).catch(this.#onError);
  }

  async #plan(): Promise<void> {
    if (this.#closed) return;
    const next = await this.#next();
    clearTimeout(this.#timer);
    if (next === null || this.#closed) return;
    const wait = Math.min(Math.max(0, next - this.#clock.now()), longestMs);
    this.#timer = setTimeout(() => {
      this.#running = this.#running.then(async () => {
        if (this.#closed) return;
        // What fails now is tried again later, and not at once.
        await this.#due().catch(this.#onError);
        await this.#plan();
      });
      this.#running = this.#running.catch(this.#onError);
    }, wait).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
