import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';

/** How long a file must stay as it is before it is read: who writes it in pieces has time to end. */
const settledMs = 150;
/** Not every file system tells of changes, and none of those behind a link. */
const glanceMs = 2000;

interface Watched {
  readonly path: string;
  /** How the file looked when it was last read. */
  seen: string;
  looking: Promise<void> | undefined;
  again: boolean;
}

/** Files that are looked at whenever they may have changed, each once it has settled. */
export class Watches {
  readonly #look: (key: string) => Promise<void>;
  readonly #log: Log;
  readonly #watched = new Map<string, Watched>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #glance: NodeJS.Timeout;
  #closed = false;

  constructor(look: (key: string) => Promise<void>, log: Log) {
    this.#look = look;
    this.#log = log;
    this.#glance = setInterval(() => void this.#glanceAtAll(), glanceMs).unref();
  }

  /** Looks at a file from now on, and at once. */
  add(key: string, path: string): void {
    this.#watched.set(key, { path, seen: '', looking: undefined, again: false });
    this.#hearOf(dirname(path));
    this.#plan(key);
  }

  remove(key: string): void {
    this.#watched.delete(key);
    const used = new Set([...this.#watched.values()].map(({ path }) => dirname(path)));
    for (const [folder, watcher] of this.#folders)
      if (!used.has(folder)) {
        watcher.close();
        this.#folders.delete(folder);
      }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#glance);
    for (const watcher of this.#folders.values()) watcher.close();
    await Promise.all([...this.#watched.values()].map(({ looking }) => looking));
  }

  /** The folder and not the file: an editor puts another file in its place. */
  #hearOf(folder: string): void {
    if (this.#folders.has(folder) || this.#closed) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        for (const [key, { path }] of this.#watched) if (dirname(path) === folder) this.#plan(key);
      });
      // A folder that is gone is looked for again with every glance.
      watcher.on('error', () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // It is not there, or too many are watched: then glances are enough.
    }
  }

  async #glanceAtAll(): Promise<void> {
    for (const [key, { path, seen, looking }] of this.#watched) {
      if (looking) continue;
      this.#hearOf(dirname(path));
      if ((await appearance(path)) !== seen) this.#plan(key);
    }
  }

  #plan(key: string): void {
    const watched = this.#watched.get(key);
    if (!watched || this.#closed) return;
    if (watched.looking) {
      watched.again = true;
      return;
    }
    watched.looking = this.#settle(key, watched)
      .catch((error: unknown) => {
        this.#log.error('a contract could not be looked at', { path: watched.path, error });
        // The next glance tries again: nobody knows yet what the file says.
        watched.seen = '';
      })
      .finally(() => {
        watched.looking = undefined;
        if (!watched.again) return;
        watched.again = false;
        this.#plan(key);
      });
  }

  async #settle(key: string, watched: Watched): Promise<void> {
    let before = await appearance(watched.path);
    if (before === watched.seen) return;
    for (;;) {
      await setTimeout(settledMs);
      if (this.#closed) return;
      const now = await appearance(watched.path);
      if (now === before) break;
      before = now;
    }
    watched.seen = before;
    await this.#look(key);
  }
}

/** What changes whenever a file does, or the file behind a link. */
async function appearance(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return [mtimeMs, ctimeMs, size, ino].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
