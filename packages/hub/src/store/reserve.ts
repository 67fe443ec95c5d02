import { randomFillSync } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';

const size = 8 * 1024 * 1024;
const pauseMs = 1000;

/** Space on the disk that is given up only for retention, start, shutdown and the ends of panes: a full disk refuses even a DELETE. */
export class Reserve {
  readonly #file: string;
  #held: boolean;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(database: string) {
    this.#file = `${database}.reserve`;
    this.#held = statSync(this.#file, { throwIfNoEntry: false })?.size === size;
  }

  /** Whether the space is there, after trying to get it back; at most once a second. */
  hold(): boolean {
    if (this.#held || performance.now() - this.#triedAt < pauseMs) return this.#held;
    this.#triedAt = performance.now();
    try {
      // Zeros would take no space on a file system that compresses.
      writeFileSync(this.#file, randomFillSync(Buffer.allocUnsafe(size)), { mode: 0o600 });
      this.#held = true;
    } catch {
      // There is no room: what was written so far must not fill the disk either.
      rmSync(this.#file, { force: true });
    }
    return this.#held;
  }

  /** Gives the space up; false when there was none to give. */
  release(): boolean {
    const had = this.#held;
    rmSync(this.#file, { force: true });
    this.#held = false;
    this.#triedAt = performance.now();
    return had;
  }
}
