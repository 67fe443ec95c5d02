import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HostError } from './host-error.ts';
import type { Match, RangeSearch } from './search-range.ts';
import type { ThreadNews } from './search-thread.ts';

export interface SearchOutcome {
  readonly matches: readonly Match[];
  /** There are older matches. */
  readonly more: boolean;
  /** Everything was searched; otherwise time ran out, or something could not be read, and these are the matches elsewhere. */
  readonly complete: boolean;
  /** Where a search for the first goes on. */
  readonly next: number;
}

export interface SearchThreadsOptions {
  /** How many searches run at once. */
  readonly threads?: number;
  /** How long a search may run, and how long it may wait for its turn. */
  readonly runMs?: number;
  readonly waitMs?: number;
  /** How long a thread is kept that has nothing to do. */
  readonly idleMs?: number;
}

interface Search {
  /** Whose it is: each gets a share of the queue, and the next turn where it has none. */
  readonly share: string;
  readonly range: RangeSearch;
  readonly matches: Match[];
  readonly result: PromiseWithResolvers<SearchOutcome>;
  next: number;
  isUnread: boolean;
  /** Cuts it short. */
  timer: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Worker;
  search: Search | null;
  idleTimer: NodeJS.Timeout | undefined;
}

const mostWaiting = 100;
const mostOfOneShare = 16;
/** Of what the thread makes itself; the output is not counted. */
const maxOldGenerationSizeMb = 128;

/** Runs searches on threads: the host goes on meanwhile, and a pattern that would take for ever can be stopped. */
export class SearchThreads {
  readonly #options: Required<SearchThreadsOptions>;
  readonly #threads = new Set<Thread>();
  readonly #waiting = new Set<Search>();

  constructor({ threads = 2, runMs = 1_000, waitMs = 5_000, idleMs = 10_000 }: SearchThreadsOptions = {}) {
    this.#options = { threads, runMs, waitMs, idleMs };
  }

  async search(share: string, range: RangeSearch): Promise<SearchOutcome> {
    const ofThisShare = [...this.#waiting].filter((search) => search.share === share).length;
    if (this.#waiting.size === mostWaiting || ofThisShare === mostOfOneShare) {
      throw new HostError(
        'search_busy',
        `${ofThisShare || mostWaiting} searches wait for their turn already.`,
      );
    }
    const search: Search = {
      share,
      range,
      matches: [],
      result: Promise.withResolvers(),
      next: range.portions[0]?.from ?? range.end,
      isUnread: false,
      timer: setTimeout(() => this.#cut(search), this.#options.waitMs),
    };
    this.#waiting.add(search);
    this.#assign();
    return search.result.promise.finally(() => clearTimeout(search.timer));
  }

  /** Gives those who wait to the threads that are free. */
  #assign(): void {
    for (let search = this.#first(); search; search = this.#first()) {
      const free = [...this.#threads].find((thread) => thread.search === null);
      if (!free && this.#threads.size === this.#options.threads) return;
      const thread = free ?? this.#start();
      this.#waiting.delete(search);
      clearTimeout(thread.idleTimer);
      thread.search = search;
      thread.worker.postMessage(search.range);
    }
  }

  /** Whose turn it is: one who has a search running stands behind those who have none. */
  #first(): Search | undefined {
    const searching = new Set([...this.#threads].map((thread) => thread.search?.share));
    const waiting = [...this.#waiting];
    return waiting.find(({ share }) => !searching.has(share)) ?? waiting[0];
  }

  #start(): Thread {
    const worker = new Worker(threadFile, { resourceLimits: { maxOldGenerationSizeMb } });
    worker.unref();
    const thread: Thread = { worker, search: null, idleTimer: undefined };
    worker.on('message', (news: ThreadNews) => this.#heed(thread, news));
    worker.on('error', (error) => this.#end(thread, error));
    this.#threads.add(thread);
    return thread;
  }

  #heed(thread: Thread, news: ThreadNews): void {
    const { search } = thread;
    if (search === null || !this.#threads.has(thread)) return;
    if ('begun' in news) {
      clearTimeout(search.timer);
      search.timer = setTimeout(() => this.#cut(search), this.#options.runMs);
    } else if ('matches' in news) {
      search.matches.push(...news.matches);
      search.next = news.next ?? search.next;
      search.isUnread ||= news.isUnread ?? false;
    } else {
      if ('failure' in news) search.result.reject(cannotRun(news.failure));
      else settle(search, { complete: !search.isUnread, more: news.more });
      thread.search = null;
      thread.idleTimer = setTimeout(() => this.#end(thread), this.#options.idleMs).unref();
      this.#assign();
    }
  }

  /** Its time is over. */
  #cut(search: Search): void {
    this.#waiting.delete(search);
    settle(search, { complete: false, more: false });
    const thread = [...this.#threads].find((each) => each.search === search);
    if (thread) this.#end(thread);
  }

  /** Another takes its place when there is something to do. */
  #end(thread: Thread, error?: Error): void {
    this.#threads.delete(thread);
    if (error) thread.search?.result.reject(cannotRun(error.message));
    void thread.worker.terminate();
    this.#assign();
  }
}

const threadFile = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);

function settle(
  { matches, next, result }: Search,
  how: { readonly complete: boolean; readonly more: boolean },
): void {
  result.resolve({ matches, next, ...how });
}

function cannotRun(why: string): HostError {
  return new HostError('invalid_parameters', `The pattern cannot be searched for: ${why}.`);
}
