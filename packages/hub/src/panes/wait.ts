import { setTimeout } from 'node:timers/promises';
import { type PaneWaitParams, type PaneWaitResult, PolyError } from '@polyphony/protocol';
import type { Host } from '../host/client.ts';
import type { Asker } from '../registry/ask.ts';
import type { Panes } from './panes.ts';

const defaultTimeoutMs = 30_000;
/** So much of what is printed may gather before it is looked through again. */
const gatherMs = 20;
const retryMs = 200;
const longestPauseMs = 5_000;
/** Whoever only wants to know that there is more need not be sent all of it. */
const glance = 4096;

/** Waits for a pane. What is printed is kept, so that nothing can happen unseen between two looks. */
export async function waitForPane(
  panes: Panes,
  params: PaneWaitParams,
  { caller, signal: gone }: Asker,
): Promise<PaneWaitResult> {
  const over = new AbortController();
  const limit = setTimeout(params.timeoutMs ?? defaultTimeoutMs, undefined, { signal: over.signal }).catch(
    () => undefined, // Somebody else was first.
  );
  const wait = new Wait(panes, params, { caller, signal: AbortSignal.any([gone, over.signal]) });
  try {
    return await Promise.race([
      wait.result(),
      limit.then((): PaneWaitResult => ({ reason: 'timeout', next: wait.end })),
      aborted(gone),
    ]);
  } finally {
    over.abort();
  }
}

class Wait {
  readonly #panes: Panes;
  readonly #params: PaneWaitParams;
  readonly #signal: AbortSignal;
  readonly #share: string | undefined;
  /** Everything before this byte has been looked through. */
  #from = 0;
  /** Everything before this byte has been printed. */
  end = 0;
  /** Searches in a row that came no further. */
  #tries = 0;

  constructor(panes: Panes, params: PaneWaitParams, { caller, signal }: Asker) {
    this.#panes = panes;
    this.#params = params;
    this.#signal = signal;
    this.#share = caller.family;
  }

  async result(): Promise<PaneWaitResult> {
    const { since } = this.#params;
    for (let begun = false; ; ) {
      try {
        await this.#lookAtEnd();
        if (!begun) this.#from = since ?? this.end;
        begun = true;
        const { found, looked } = await this.#find();
        if (found) return found;
        if (!looked) {
          await this.#tryLater();
          continue;
        }
        this.#tries = 0;
        const news = await this.#news();
        if (news) return news;
        await setTimeout(gatherMs, undefined, { signal: this.#signal });
      } catch (error) {
        if (!isAway(error)) throw error;
        // The host is away. A pane that went with it has ended; any other goes on when the host is back.
        if (this.#hasEnded()) return this.#exit();
        await setTimeout(retryMs, undefined, { signal: this.#signal });
      }
    }
  }

  #use<T>(work: (host: Host) => Promise<T>): Promise<T> {
    return this.#panes.output(this.#params.paneId, work);
  }

  async #lookAtEnd(): Promise<void> {
    const { end } = await this.#use((host) => host.read(this.#params.paneId, { tail: 0 }));
    this.end = end;
    // A host that was started anew counts from the beginning.
    this.#from = Math.min(this.#from, end);
  }

  /** What was found, and whether all of it was looked through: a search has a time, and may have to wait for it. */
  async #find(): Promise<{ readonly found?: PaneWaitResult | undefined; readonly looked: boolean }> {
    const { paneId, text } = this.#params;
    if (text === undefined) return { looked: true };
    const query = { pattern: text, from: this.#from, first: true, share: this.#share };
    const { matches, next, complete } = await this.#use((host) => host.search(paneId, query)).catch(
      unlessBusy,
    );
    if (next > this.#from) this.#tries = 0;
    this.#from = Math.max(this.#from, next);
    const [match] = matches;
    return {
      looked: complete,
      found: match && { reason: 'text', match: { n: match.line + 1, text: match.text }, next },
    };
  }

  /** Goes on where the search was cut short, ever less often where that does not help. */
  async #tryLater(): Promise<void> {
    await setTimeout(Math.min(longestPauseMs, gatherMs * 2 ** this.#tries++), undefined, {
      signal: this.#signal,
    });
  }

  /** The first of more output, silence and the end. */
  async #news(): Promise<PaneWaitResult | undefined> {
    const { idleMs, since = 0 } = this.#params;
    const first = new AbortController();
    const signal = AbortSignal.any([this.#signal, first.signal]);
    // Silence is told only of a pane that has said something.
    const silence =
      idleMs !== undefined && this.end > since
        ? setTimeout(idleMs, 'silence' as const, { signal })
        : new Promise<never>(() => undefined);
    try {
      const news = await Promise.race([this.#more(signal), silence]);
      if (news === 'silence') return { reason: 'idle', next: this.end };
      return news === 'end' ? await this.#exit() : undefined;
    } finally {
      first.abort();
      silence.catch(() => undefined); // Aborted a line above.
    }
  }

  #more(signal: AbortSignal): Promise<'output' | 'end'> {
    return this.#use(async (host) => {
      const { paneId } = this.#params;
      for await (const _ of host.follow(paneId, { from: this.end, credit: glance, signal })) return 'output';
      return 'end';
    });
  }

  #hasEnded(): boolean {
    return this.#panes.book.get(this.#params.paneId).status === 'exited';
  }

  /** The host knows of an end a moment before it is written down. */
  async #exit(): Promise<PaneWaitResult> {
    const { book } = this.#panes;
    const { paneId } = this.#params;
    const written = Promise.withResolvers<void>();
    const unlisten = book.onChange(({ id, status }) => {
      if (id === paneId && status === 'exited') written.resolve();
    });
    try {
      if (!this.#hasEnded()) await Promise.race([written.promise, aborted(this.#signal)]);
      const { exitCode, exitSignal } = book.get(paneId);
      return { reason: 'exit', exitCode, exitSignal, next: this.end };
    } finally {
      unlisten();
    }
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof PolyError && (error.code === 'uncertain' || error.code === 'unavailable');

/** Too many search at once: nothing was looked through. */
function unlessBusy(error: unknown): {
  readonly matches: readonly never[];
  readonly next: number;
  readonly complete: false;
} {
  if (error instanceof PolyError && error.code === 'too_many_requests')
    return { matches: [], next: 0, complete: false };
  throw error;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new PolyError('timed_out', 'whoever waited has gone.')), {
      once: true,
    }),
  );
}
