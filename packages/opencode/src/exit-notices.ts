import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Meta, PolyError } from '@polyphony/protocol';
import type { Exit } from './follow-exits.ts';
import type { Hub } from './hub.ts';
import type { OpenCodeClient } from './opencode.ts';
import { notes, ownerOf, projectPanes, unlessGone } from './project-panes.ts';
import { newMessageId, promptSession } from './session-prompt.ts';

export interface ExitNoticesOptions {
  readonly hub: Hub;
  readonly client: OpenCodeClient;
  readonly directory: string;
}

const firstMs = 500;
const mostMs = 30_000;
const mostPosts = 10;

/** Tells a session of the end of a pane it asked to be told of: once, whatever is restarted. */
export class ExitNotices {
  readonly #options: ExitNoticesOptions;
  readonly #stop = new AbortController();
  /** Tells this plugin from another in the same process. */
  readonly #self = randomUUID();
  /** Sessions that live in this process. */
  readonly #met = new Set<string>();
  /** What is told as soon as its session comes to life here. */
  readonly #waiting = new Map<string, Exit[]>();

  constructor(options: ExitNoticesOptions) {
    this.#options = options;
  }

  /** From which event on something may still have to be told. */
  async since(): Promise<number | undefined> {
    const { hub, directory } = this.#options;
    const open = (await projectPanes({ hub, client: hub.running, directory }))
      .filter(({ meta }) => meta[notes.noticed] !== true)
      .flatMap(({ meta: { [notes.since]: since } }) => (typeof since === 'number' ? [since] : []));
    return open.length === 0 ? undefined : Math.min(...open);
  }

  take(exit: Exit): void {
    if (exit.payload.notice !== undefined) void this.#tell(exit);
  }

  /** A session does something here. */
  meet(session: string): void {
    this.#met.add(session);
    const waiting = this.#waiting.get(session) ?? [];
    this.#waiting.delete(session);
    for (const exit of waiting) this.take(exit);
  }

  close(): void {
    this.#stop.abort();
  }

  async #tell(exit: Exit): Promise<void> {
    const { signal } = this.#stop;
    const progress = { claimed: undefined as string | undefined, posts: 0 };
    for (let wait = firstMs; !signal.aborted; wait = Math.min(wait * 2, mostMs)) {
      const done = await this.#step(exit, progress).catch(() => false); // Hub or session is away: it is tried again.
      if (done) return;
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined); // Closed meanwhile.
    }
  }

  /** Goes one step further; answers whether there is nothing left to do. */
  async #step(exit: Exit, progress: { claimed: string | undefined; posts: number }): Promise<boolean> {
    const { hub, client } = this.#options;
    const { paneId, notice = '' } = exit.payload;
    const meta = (await hub.running.call('pane:get-meta', { paneId }).catch(unlessGone))?.meta;
    const session = meta && this.#sessionToTell(meta, exit);
    if (!meta || session === undefined) return true;
    progress.claimed ??= await this.#claim(exit, meta);
    const { claimed: messageID } = progress;
    if (messageID === undefined) return true;

    const step = await promptSession(client, session, messageID, notice, progress.posts < mostPosts);
    if (step === 'posted') progress.posts += 1;
    if (step === 'seen') await hub.running.call('pane:set-meta', { paneId, key: notes.noticed, value: true });
    return step !== 'posted' && step !== 'waiting';
  }

  /** The session this plugin has to tell; of what a process that is gone has left, when the session comes to life. */
  #sessionToTell(meta: Meta, exit: Exit): string | undefined {
    const { hub, directory } = this.#options;
    const owner = ownerOf(hub, exit.payload.paneId, meta);
    const starter = meta[notes.process];
    if (owner?.directory !== directory || meta[notes.noticed] === true || typeof starter !== 'number')
      return undefined;
    const { session } = owner;
    if (starter === process.pid || this.#met.has(session)) {
      return starter === process.pid || !isAlive(starter) ? session : undefined;
    }
    this.#waiting.set(session, [...(this.#waiting.get(session) ?? []), exit]);
    return undefined;
  }

  /** Of several plugins in a process one gets to tell; the message has the same id whoever tells it. */
  async #claim({ seq, payload: { paneId } }: Exit, meta: Meta): Promise<string | undefined> {
    const known = meta[notes.notice];
    const messageID = typeof known === 'string' ? known.split(' ', 1)[0] : newMessageId();
    const value = `${messageID} ${this.#self}`;
    const idempotencyKey = `opencode-notice-${paneId}-${seq}-${process.pid}`;
    const claim = this.#options.hub.running.call(
      'pane:set-meta',
      { paneId, key: notes.notice, value },
      { idempotencyKey },
    );
    return claim.then(
      () => messageID,
      (error: unknown) => {
        if (error instanceof PolyError && error.code === 'conflict') return undefined;
        throw error;
      },
    );
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
