const longestMs = 2_000;

/** Waits longer after every failure in a row, and not at all once told that things went well. */
export class Backoff {
  #failures = 0;

  reset(): void {
    this.#failures = 0;
  }

  async wait(signal: AbortSignal): Promise<void> {
    const ms = Math.min(longestMs, 100 * 2 ** this.#failures++);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}
