import { closeSync, constants, openSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { privateDirectory, writePrivate } from '../platform/private-files.ts';

const bellPrefix = 'bell.';

/** The folder of a pane from which delivery hooks tell its agent what has come. */
export class Inbox {
  readonly #folder: string;

  /** The folder of all inboxes, and the pane. */
  constructor(inboxes: string, pane: string) {
    this.#folder = join(inboxes, pane);
    for (const path of [inboxes, this.#folder, ...['tmp', 'new', 'taken'].map((name) => this.in(name))])
      privateDirectory(path);
  }

  in(name: string): string {
    return join(this.#folder, name);
  }

  /** What no hook has told yet, in its order. */
  get waiting(): readonly string[] {
    return readdirSync(this.in('new')).sort();
  }

  /** What a hook has told, or is telling. */
  get taken(): readonly string[] {
    return readdirSync(this.in('taken')).sort();
  }

  /** A message appears whole, and whoever waits for one is woken. Names sort by time. */
  put(name: string, text: string | Buffer): void {
    writePrivate(this.in(join('tmp', name)), text);
    renameSync(this.in(join('tmp', name)), this.in(join('new', name)));
    this.#ring();
  }

  #ring(): void {
    for (const name of readdirSync(this.#folder).filter((one) => one.startsWith(bellPrefix))) {
      const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
      try {
        const bell = openSync(this.in(name), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
        try {
          writeSync(bell, '\n');
        } finally {
          closeSync(bell);
        }
      } catch {
        // Nobody holds it, or it is full of rings: no more can be done, and whoever comes next looks by itself.
      }
    }
  }
}
