import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Portion } from './byte-ring.ts';
import { createFinder, type Line, type Pattern } from './find-lines.ts';
import { errnoOf } from './host-error.ts';
import { newline, nextLine } from './line-starts.ts';
import { isPlain } from './plain-marks.ts';
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
  /** Something was passed over that could not be read. */
  readonly isUnread?: true;
}

/** The most text in one answer; a single line may be longer. */
const mostText = 1024 * 1024;

/** Tells of each match as it finds it, and answers whether there are older ones than those it told of. */
export function searchRange(search: RangeSearch, tell: (news: SearchNews) => void): boolean {
  return search.first ? tellFirst(search, tell) : tellLast(search, tell);
}

function tellLast(search: RangeSearch, tell: (news: SearchNews) => void): boolean {
  const find = createFinder(search);
  const read = createReader(search);
  let [count, size] = [0, 0];
  for (const portion of search.portions.toReversed()) {
    const bytes = read(portion);
    if (!bytes) tell({ matches: [], isUnread: true });
    else
      for (const line of find(bytes, isPlainPortion(portion, bytes), true)) {
        const match = matchOf(bytes, portion, line);
        size += match.text.length;
        if (count === search.limit || (count > 0 && size > mostText)) return true;
        count++;
        tell({ matches: [match] });
      }
  }
  return false;
}

function tellFirst(search: RangeSearch, tell: (news: SearchNews) => void): false {
  const find = createFinder(search);
  const read = createReader(search);
  for (const portion of search.portions) {
    const bytes = read(portion);
    if (!bytes) {
      // What comes after it need not be the first.
      tell({ matches: [], isUnread: true });
      return false;
    }
    for (const line of find(bytes, isPlainPortion(portion, bytes), false)) {
      const match = matchOf(bytes, portion, line);
      tell({ matches: [match], next: portion.from + nextLine(bytes, line.from) });
      return false;
    }
    tell({ matches: [], next: portion.from + bytes.lastIndexOf(newline) + 1 });
  }
  return false;
}

/** Reads one portion after the other into the same memory; answers nothing where the disk fails. */
function createReader({ slabs, portions }: RangeSearch): (portion: Portion) => Buffer | undefined {
  const scratch = Buffer.from(new ArrayBuffer(Math.max(0, ...portions.map(({ from, to }) => to - from))));
  return ({ from, to, file }) => {
    if (file !== undefined) {
      const size = readInto(scratch.subarray(0, to - from), file);
      return size === undefined ? undefined : scratch.subarray(0, size);
    }
    let at = 0;
    for (const part of partsBetween(slabs, from, to)) {
      scratch.set(part, at);
      at += part.length;
    }
    return scratch.subarray(0, at);
  };
}

/** Reads as much of a file as there is, none of one that was removed meanwhile; answers how much, if the disk does not fail. */
function readInto(bytes: Buffer, file: string): number | undefined {
  let size = 0;
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      for (let read = -1; read !== 0 && size < bytes.length; size += read)
        read = readSync(fd, bytes, size, bytes.length - size, size);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 0 : undefined;
  }
  return size;
}

function isPlainPortion({ file, isPlain: isMarked }: Portion, bytes: Buffer): boolean {
  return file === undefined ? isMarked : isPlain(bytes);
}

function matchOf(bytes: Buffer, portion: Portion, { line, from, to }: Line): Match {
  const text = plainLine(bytes.toString('utf8', from, to));
  return { line: portion.line + line, text, offset: portion.from + from };
}
