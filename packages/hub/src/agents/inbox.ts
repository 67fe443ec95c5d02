import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { privateDirectory, writePrivate } from '../platform/private-files.ts';

const bellPrefix = 'bell.';
/** In the order in which a message moves, so that one that moves meanwhile is not missed. */
const shelves = ['new', 'taken', 'woken', 'seen'] as const;

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
    return ['taken', 'woken'].flatMap((shelf) => this.#list(shelf)).sort();
  }

  /** A message appears whole, and whoever waits for one is woken. Names sort by time. */
  put(name: string, text: string | Buffer): void {
    writePrivate(this.in(join('tmp', name)), text);
    renameSync(this.in(join('tmp', name)), this.in(join('new', name)));
    this.#ring();
  }

  /** Where a message is, and since when: still to be told, told, told to wake, or seen by a turn as who told it says. */
  find(name: string): { readonly in: (typeof shelves)[number]; readonly at: number } | undefined {
    for (const shelf of shelves) {
      const stat = statSync(this.in(join(shelf, name)), { throwIfNoEntry: false });
      // A move changes nothing but this time.
      if (stat) return { in: shelf, at: stat.ctimeMs };
    }
    return undefined;
  }

  /** Takes a message away before a hook does; false when one was faster. */
  takeBack(name: string): boolean {
    try {
      renameSync(this.in(join('new', name)), this.in(join('tmp', name)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    rmSync(this.in(join('tmp', name)), { force: true });
    return true;
  }

  /** Forgets a message that was told, and those before it. */
  forget(name: string): void {
    for (const shelf of ['taken', 'woken', 'seen'])
      for (const told of this.#list(shelf).filter((one) => one <= name))
        rmSync(this.in(join(shelf, told)), { force: true });
  }

  /** Whether somebody waits here now and tells at once what comes: a hook at its bell, or a plugin that lives. */
  isAwaited(): boolean {
    try {
      const [, kind, pid = ''] =
        /^(plugin )?(\d+)$/.exec(readFileSync(this.in('waiting'), 'utf8').trim()) ?? [];
      if (kind === undefined) return this.#knock(`${bellPrefix}${pid}`, '');
      return process.kill(Number(pid), 0);
    } catch {
      return false; // Nobody has ever waited, or who did has ended.
    }
  }

  #list(name: string): readonly string[] {
    try {
      return readdirSync(this.in(name));
    } catch {
      return []; // Only some who wait make it.
    }
  }

  #ring(): void {
    for (const name of this.#list('.').filter((one) => one.startsWith(bellPrefix))) this.#knock(name, '\n');
  }

  /** Answers whether somebody holds the bell. */
  #knock(name: string, ring: string): boolean {
    const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
    try {
      const bell = openSync(this.in(name), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
      try {
        if (ring !== '') writeSync(bell, ring);
        return true;
      } finally {
        closeSync(bell);
      }
    } catch {
      // Nobody holds it, or it is full of rings: no more can be done, and whoever comes next looks by itself.
      return false;
    }
  }
}
