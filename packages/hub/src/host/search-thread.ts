// What a search thread runs: one search after the other, each in memory that the host shares with it.
import { parentPort } from 'node:worker_threads';
import { type RangeSearch, type SearchNews, searchRange } from './search-range.ts';

/** What the thread says about the search it was given: that it has begun, what it finds, and how it ended. */
export type ThreadNews =
  | { readonly begun: true }
  | SearchNews
  | { readonly more: boolean }
  | { readonly failure: string };

const say = (news: ThreadNews): void => parentPort?.postMessage(news);

parentPort?.on('message', ({ slabs, ...search }: RangeSearch) => {
  say({ begun: true });
  try {
    // A buffer arrives as a plain array of the same memory.
    const shared = slabs.map(({ start, bytes }) => ({ start, bytes: Buffer.from(bytes.buffer) }));
    say({ more: searchRange({ ...search, slabs: shared }, say) });
  } catch (error) {
    say({ failure: error instanceof Error ? error.message : String(error) });
  }
});
