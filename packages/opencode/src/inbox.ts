import {
  type FSWatcher,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Env } from './find-hub.ts';
import type { OpenCodeClient } from './opencode.ts';
import { newMessageId, promptSession } from './session-prompt.ts';

export interface InboxOptions {
  readonly client: OpenCodeClient;
  readonly env: Env;
  /** A turn of a session has seen what came. */
  readonly onSeen: (session: string) => void;
}

const firstMs = 500;
const mostMs = 30_000;
const mostPosts = 10;

/**
 * Waits for the inbox of the pane that OpenCode runs in, and prompts its session with what comes; what a turn has seen
 * is moved to `seen`, by which the hub knows it. Of two plugins in a process the one that moves a message has it.
 */
export class PaneInbox {
  readonly #client: OpenCodeClient;
  readonly #onSeen: (session: string) => void;
  readonly #folder: string | undefined;
  readonly #stop = new AbortController();
  #session: string | undefined;
  #watcher: FSWatcher | undefined;

  constructor({ client, env, onSeen }: InboxOptions) {
    this.#client = client;
    this.#onSeen = onSeen;
    const { POLY_PANE: pane = '', POLY_TOKEN: token } = env;
    const home = resolve(env.POLY_HOME || join(env.HOME || homedir(), '.poly'));
    if (token && /^[\w.-]+$/.test(pane) && !/^\.{1,2}$/.test(pane)) this.#folder = join(home, 'inbox', pane);
  }

  /** The session that is prompted from now on; before the first nobody waits here. */
  meet(session: string): void {
    this.#session = session;
    if (this.#watcher || this.#folder === undefined || this.#stop.signal.aborted) return;
    try {
      for (const name of ['new', 'taken', 'seen'])
        mkdirSync(join(this.#folder, name), { recursive: true, mode: 0o700 });
      this.#watcher = watch(join(this.#folder, 'new'), () => this.#look());
      this.#watcher.on('error', () => this.close());
      writeFileSync(join(this.#folder, 'waiting'), `plugin ${process.pid}\n`, { mode: 0o600 });
      this.#look();
    } catch {
      this.#watcher = undefined; // No folder, or no more watches: the hub finds another way.
    }
  }

  close(): void {
    this.#stop.abort();
    this.#watcher?.close();
  }

  #look(): void {
    const folder = this.#folder ?? '';
    for (const name of readdirSync(join(folder, 'new')).sort()) {
      const taken = join(folder, 'taken', name);
      try {
        renameSync(join(folder, 'new', name), taken);
        void this.#tell(readFileSync(taken, 'utf8'), () => renameSync(taken, join(folder, 'seen', name)));
      } catch {
        // Somebody else was faster.
      }
    }
  }

  async #tell(text: string, onSeen: () => void): Promise<void> {
    const { signal } = this.#stop;
    const messageID = newMessageId();
    let posts = 0;
    for (let wait = firstMs; !signal.aborted; wait = Math.min(wait * 2, mostMs)) {
      const session = this.#session ?? '';
      const prompted = promptSession(this.#client, session, messageID, text, posts < mostPosts);
      const step = await prompted.catch(() => 'waiting');
      if (step === 'seen') {
        onSeen();
        this.#onSeen(session);
      }
      if (step !== 'posted' && step !== 'waiting') return;
      if (step === 'posted') posts += 1;
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined); // Closed meanwhile.
    }
  }
}
