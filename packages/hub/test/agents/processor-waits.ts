import { readdirSync, readFileSync } from 'node:fs';

/** Counts for how long those who draw and tell, known by a word in their environment, have waited for a processor. */
export class ProcessorWaits {
  readonly #word: string;
  /** Which processes are meant, of all that were ever seen. */
  readonly #known = new Map<string, boolean>();
  #before: ReadonlyMap<string, number> | undefined;
  #total = 0;

  constructor(word: string) {
    this.#word = word;
  }

  /**
   * In milliseconds, since the first time it was asked, by the thread that waited longest each time: what others on the
   * machine wait for is no excuse. Where the system does not tell, nobody has waited.
   */
  get ms(): number {
    const now = new Map(this.#threads().flatMap((thread) => this.#waitOf(thread)));
    const before = this.#before ?? now;
    this.#total += Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? 0)));
    this.#before = now;
    return this.#total;
  }

  #threads(): readonly string[] {
    return listed('/proc')
      .filter((pid) => /^\d+$/.test(pid) && this.#isMeant(pid))
      .flatMap((pid) => listed(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`));
  }

  #isMeant(pid: string): boolean {
    const known = this.#known.get(pid) ?? read(`/proc/${pid}/environ`).includes(this.#word);
    this.#known.set(pid, known);
    return known;
  }

  #waitOf(thread: string): readonly (readonly [string, number])[] {
    const [, waited] = read(`${thread}/schedstat`).split(' ');
    return waited === undefined ? [] : [[thread, Number(waited) / 1_000_000]];
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // It has ended, or this system does not tell.
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // It has ended, or is somebody else's.
  }
}
