/** How many calls of one client may run at once: one that waits holds on to memory here. */
export const mostCalls = 64;

/** What one call more is answered, in JSON-RPC. */
export function tooManyCalls(id: string | number | null): object {
  const message = `At most ${mostCalls} calls run at once: wait for one of yours, or give it up.`;
  return { jsonrpc: '2.0', id, error: { code: -32_000, message } };
}

/** Counts the calls that run, by whom they are made for. */
export class RunningCalls {
  readonly #running = new Map<string, number>();

  /** Runs a call, unless too many of that caller run already: then answers undefined, and has not begun. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T | undefined> {
    const before = this.#running.get(caller) ?? 0;
    if (before >= mostCalls) return undefined;
    this.#running.set(caller, before + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(caller) ?? 1) - 1;
      if (left > 0) this.#running.set(caller, left);
      else this.#running.delete(caller);
    }
  }
}
