import { type Context, createContext, Script } from 'node:vm';

/** What was done had not ended in time, though it had the processor. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

/** A machine that does not let us run at all is waited for so often. */
const mostTries = 10;

/**
 * Ends a computation that takes too long, wherever it is, also inside a regular expression: V8 stops that for a `vm`
 * script that has run out of time, and only for such a one, so that no thread is needed and the answer stays
 * synchronous. It must be pure: it may be begun anew when the machine was busy with something else meanwhile.
 */
export class TimeGuard {
  readonly #ms: number;
  readonly #room: Context & { work?: (() => unknown) | undefined } = createContext({});
  readonly #script = new Script('work()');

  constructor(ms: number) {
    this.#ms = ms;
  }

  run<T>(work: () => T): T {
    this.#room.work = work;
    try {
      for (let tries = 1; ; tries++) {
        const before = used();
        try {
          return this.#script.runInContext(this.#room, { timeout: this.#ms }) as T;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
          if (used() - before > this.#ms / 2 || tries === mostTries)
            throw new TooSlow(`it took longer than ${this.#ms} ms`, { cause: error });
        }
      }
    } finally {
      this.#room.work = undefined;
    }
  }
}

/** Milliseconds of processor; of this thread alone where Node (from 23.9 on) can tell. */
function used(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1000;
}
