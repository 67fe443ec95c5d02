import type { Portion } from './byte-ring.ts';
import { createFinder, type FoundLine, type Pattern } from './find-lines.ts';
import { newline, nextLine } from './line-starts.ts';
import { plainLine } from './plain-view.ts';
import { partsBetween, type Slab } from './slabs.ts';

export interface Match {
  /** Number of the line, from 0. */
  readonly line: number;
  /** The line as people read it. */
  readonly text: string;
  /** Where it begins, or where the search began in it. */
  readonly offset: number;
}

export interface RangeSearch extends Pattern {
  readonly slabs: readonly Slab[];
  readonly portions: readonly Portion[];
  readonly end: number;
  /** Only the first match, from the beginning on; otherwise the last ones, the newest first. */
  readonly first: boolean;
  readonly limit: number;
}

/** What has been found since the last news. */
export interface SearchNews {
  readonly matches: readonly Match[];
  /** Where a search for the first goes on: after its line, or at the line that is still open. */
  readonly next?: number;
}

/** The most text in one answer; a single line may be longer. */
const mostText = 1024 * 1024;

/** Searches portion by portion and tells what it finds; answers whether there are older matches than those told. */
export function searchRange(search: RangeSearch, tell: (news: SearchNews) => void): boolean {
  const find = createFinder(search);
  const look = (index: number): Looked => {
    const { from = 0, line = 0 } = search.portions[index] ?? {};
    const parts = partsBetween(search.slabs, from, search.portions[index + 1]?.from ?? search.end);
    const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    const found = find(bytes).map((at) => ({ at, line: line + at.line, offset: from + at.from }));
    return { bytes, from, found };
  };
  return search.first ? tellFirst(search, look, tell) : tellLast(search, look, tell);
}

interface Looked {
  readonly bytes: Buffer;
  readonly from: number;
  readonly found: readonly { readonly at: FoundLine; readonly line: number; readonly offset: number }[];
}

function tellLast(
  { portions, limit }: RangeSearch,
  look: (index: number) => Looked,
  tell: (news: SearchNews) => void,
): boolean {
  let [count, size] = [0, 0];
  for (let index = portions.length - 1; index >= 0; index--) {
    const { bytes, found } = look(index);
    const matches: Match[] = [];
    let isFull = false;
    for (let i = found.length - 1; i >= 0 && !isFull; i--) {
      const { at, ...place } = found[i] as Looked['found'][number];
      const text = textOf(bytes, at);
      isFull = count === limit || (count > 0 && size + text.length > mostText);
      if (isFull) break;
      matches.push({ ...place, text });
      count++;
      size += text.length;
    }
    if (matches.length > 0) tell({ matches });
    if (isFull) return true;
  }
  return false;
}

function tellFirst(
  { portions }: RangeSearch,
  look: (index: number) => Looked,
  tell: (news: SearchNews) => void,
): false {
  for (const index of portions.keys()) {
    const { bytes, from, found } = look(index);
    const [first] = found;
    if (first) {
      const { at, ...place } = first;
      tell({
        matches: [{ ...place, text: textOf(bytes, at) }],
        next: from + nextLine(bytes, at.from),
      });
      return false;
    }
    tell({ matches: [], next: from + bytes.lastIndexOf(newline) + 1 });
  }
  return false;
}

const textOf = (bytes: Buffer, { from, to }: FoundLine): string =>
  plainLine(bytes.toString('utf8', from, to));
