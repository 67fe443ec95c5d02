import { isContinuation, LineStarts, longestLine, newline } from './line-starts.ts';
import { PlainMarks } from './plain-marks.ts';
import { type Slab, Slabs } from './slabs.ts';

/** Which part of the output to read; without a place from the oldest byte kept. */
export interface PageQuery {
  /** The last so many lines. */
  readonly tail?: number | undefined;
  /** From this byte on. */
  readonly since?: number | undefined;
  /** From this line on. */
  readonly fromLine?: number | undefined;
  /** At most so many lines. */
  readonly limit?: number | undefined;
  /** At most so many bytes; of a tail the last ones. */
  readonly maxBytes?: number | undefined;
}

/** A part of the output. Bytes and lines are counted from 0 at the pane's birth and never renumbered. */
export interface Page {
  readonly bytes: Buffer;
  /** Where `bytes` begins. */
  readonly from: number;
  /** Where to read on. */
  readonly next: number;
  /** The oldest byte that is still kept. */
  readonly retainedFrom: number;
  /** Number of the line that `from` lies in. */
  readonly firstLine: number;
  /** Where the next byte of output will be. */
  readonly end: number;
  /** There is more after `next`. */
  readonly more: boolean;
  /** Something that was asked for, before `from`, is not in this answer. */
  readonly truncated: boolean;
  /** Where in this answer a line begins only because the one before grew too long, without a newline. */
  readonly softBreaks: readonly number[];
}

export interface RingLimits {
  readonly maxBytes: number;
  readonly maxLines: number;
}

export const defaultLimits: RingLimits = { maxBytes: 16 * 1024 * 1024, maxLines: 50_000 };

/** Where a line begins. */
export interface LineStart {
  readonly line: number;
  readonly offset: number;
}

/** Whole lines that are searched in one go, but for the first, which may have begun before them. */
export interface Portion {
  readonly from: number;
  readonly to: number;
  readonly line: number;
  /** See `PlainMarks`; of a file only its reader can tell. */
  readonly isPlain: boolean;
  /** Has these bytes, from its first one on, if they are not in memory. */
  readonly file?: string | undefined;
}

/** A range of the output for another thread, which may read it until it is let go. */
export interface SharedRange {
  readonly slabs: readonly Slab[];
  readonly portions: readonly Portion[];
  readonly end: number;
  letGo(): void;
}

const portionSize = 64 * 1024;
/** How many places are known where something is missing. */
const mostGaps = 64;

export interface RingOptions {
  /** Where its first byte lies in the output. */
  readonly from?: LineStart | undefined;
  /** Whether other threads can read its memory without a copy; the collector does not see how large that is. */
  readonly shared?: boolean | undefined;
}

/** The newest output of a pane. Whole lines are forgotten when there are too many bytes or lines. */
export class ByteRing {
  readonly #limits: RingLimits;
  readonly #slabs: Slabs;
  readonly #lines: LineStarts;
  readonly #marks = new PlainMarks();
  #start: number;
  #heldFrom = Number.POSITIVE_INFINITY;
  /** The bytes that stand for something that is missing, in their order; older ones may not be kept any more. */
  #gaps: number[] = [];
  /** Whether output that was counted before this ring began is lost. */
  #isAnew = false;

  constructor(limits: RingLimits = defaultLimits, { from, shared }: RingOptions = {}) {
    this.#limits = limits;
    this.#start = from?.offset ?? 0;
    this.#slabs = new Slabs(this.#start, { shared });
    this.#lines = new LineStarts(from?.line, this.#start);
  }

  /** The oldest byte that is kept. */
  get start(): number {
    return this.#start;
  }

  /** How many bytes there have been. */
  get end(): number {
    return this.#slabs.end;
  }

  /** How much memory the output takes. */
  get held(): number {
    return this.#slabs.held;
  }

  /** How many lines there have been, one without its newline included. */
  get lines(): number {
    return this.#lines.last + (this.end > this.#lines.at(this.#lines.last) ? 1 : 0);
  }

  append(chunk: Uint8Array): void {
    this.#indexLines(chunk);
    this.#marks.note(chunk, this.end);
    this.#slabs.append(chunk);
    this.#forget();
  }

  #indexLines(chunk: Uint8Array): void {
    let lineStart = this.#lines.at(this.#lines.last);
    let i = 0;
    const begin = (at: number): void => {
      lineStart = at;
      this.#lines.push(at);
    };
    while (i < chunk.length) {
      const full = Math.min(chunk.length, lineStart + longestLine - this.end);
      while (i < full && chunk[i] !== newline) i++;
      if (i === chunk.length) return;
      const byte = chunk[i] ?? 0;
      const length = this.end + i - lineStart;
      if (byte === newline) begin(this.end + ++i);
      // A character of UTF-8 is not torn apart.
      else if (isContinuation(byte) && length < longestLine + 3) i++;
      else begin(this.end + i);
    }
  }

  #forget(): void {
    const { maxBytes, maxLines } = this.#limits;
    const surplus = Math.min(this.lines - maxLines, this.#lines.lineAt(this.#heldFrom));
    if (surplus > this.#lines.first) this.#lines.dropBefore(surplus);
    if (this.end - this.#start > maxBytes) this.#lines.dropBefore(this.#lines.firstFrom(this.end - maxBytes));
    this.#start = Math.max(this.#start, this.#lines.at(this.#lines.first), this.end - maxBytes);
    this.#slabs.dropBefore(this.#start);
    this.#marks.dropBefore(this.#start);
  }

  /** Forgets everything and goes on in a new line, behind a gap of one byte: how many are missing nobody knows. */
  leap(): void {
    this.#isAnew ||= this.end === 0;
    this.#slabs.leap(1);
    this.#lines.push(this.end);
    this.#lines.dropBefore(this.#lines.last);
    this.#start = this.end;
    this.#marks.dropBefore(this.#start);
  }

  /**
   * Goes on in a new line, behind a byte that stands for what is missing and is given to nobody. Past a number of such
   * places, what lies before the oldest is forgotten.
   */
  gap(): void {
    this.#gaps = this.#gaps.filter((gap) => gap >= this.#start);
    if (this.#gaps.at(-1) === this.end - 1) return; // Nothing has come since.
    if (this.#gaps.length === mostGaps) this.#dropBefore((this.#gaps.shift() ?? 0) + 1);
    this.#gaps.push(this.end);
    this.append(Buffer.of(newline));
  }

  #dropBefore(place: number): void {
    this.#lines.dropBefore(this.#lines.firstFrom(place));
    this.#start = place;
    this.#slabs.dropBefore(place);
    this.#marks.dropBefore(place);
  }

  /** The first byte at a place or after it that is kept. */
  keptFrom(offset: number): number {
    const from = Math.max(offset, this.#start);
    return this.#gaps.includes(from) ? from + 1 : from;
  }

  /** How far that lies together which begins at a place. */
  #togetherTo(from: number): number {
    return this.#gaps.find((gap) => gap > from) ?? this.end;
  }

  /** However many lines there are, none from this place on is forgotten; too many bytes still are. */
  hold(from: number): void {
    this.#heldFrom = from;
    this.#forget();
  }

  /** Gives back the memory of the oldest output; answers false when that would be all of it. */
  giveUp(): boolean {
    const { second } = this.#slabs;
    if (second === undefined) return false;
    this.#lines.dropBefore(this.#lines.firstFrom(second));
    this.#start = Math.max(second, this.#lines.at(this.#lines.first));
    this.#slabs.dropBefore(this.#start);
    this.#slabs.dropSpare();
    return true;
  }

  /** What lies between two places that are kept. */
  copy(from: number, to: number): Buffer {
    return this.#slabs.copy(from, to);
  }

  /** At least one and at most so many bytes from a place that is kept. */
  some(from: number, most: number): Buffer {
    return this.#slabs.some(from, Math.min(most, this.#togetherTo(from) - from));
  }

  /** What is kept between two places, for another thread. */
  share(from: number, to: number): SharedRange {
    const start = Math.min(Math.max(from, this.#start), this.end);
    const end = Math.min(Math.max(to, start), this.end);
    const portions: Portion[] = [];
    for (let at = this.keptFrom(start); at < end; at = this.keptFrom(at)) {
      const line = this.#lines.lineAt(at);
      // A first line that is not whole goes alone: the others are counted from where they begin.
      const far = this.#lines.at(line) < at ? at : at + portionSize;
      const next = Math.max(line + 1, this.#lines.lineAt(far));
      const to = Math.min(end, this.#togetherTo(at), next > this.#lines.last ? end : this.#lines.at(next));
      portions.push({ from: at, to, line, isPlain: this.#marks.isPlain(at, to) });
      at = to;
    }
    return { ...this.#slabs.share(start, end), portions, end };
  }

  /** The first line that begins at a place or after it, if one does. */
  lineFrom(offset: number): LineStart | undefined {
    const line = this.#lines.firstFrom(offset);
    const start = this.#lines.at(line);
    return start < offset ? undefined : { line, offset: start };
  }

  /** Where a line begins, or where the output is kept from, or ends, if it is not there. */
  lineStart(line: number): number {
    return Math.max(this.#start, this.#askedFrom({ fromLine: line }));
  }

  page(query: PageQuery = {}): Page {
    const { limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = query;
    const asked = this.#askedFrom(query);
    // Nobody here has counted so far: it is a place in what was lost, after which comes all that there is.
    if (this.#isAnew && query.since !== undefined && asked > this.end)
      return { ...this.page({ ...query, since: this.#start }), truncated: true };
    let from = Math.min(this.keptFrom(asked), this.end);
    // Of a tail the last bytes are given, and they lie together.
    const lastGap = this.#gaps.at(-1) ?? -1;
    if (query.tail !== undefined && from < lastGap) from = lastGap + 1;
    if (query.tail !== undefined && this.end - from > maxBytes) {
      const lineStart = this.#lines.at(this.#lines.firstFrom(this.end - maxBytes));
      from = lineStart < this.end && lineStart >= this.end - maxBytes ? lineStart : this.end - maxBytes;
    }
    const firstLine = this.#lines.lineAt(from);
    const afterLimit = firstLine + limit;
    const lastEnd = this.#togetherTo(from);
    const lineEnd =
      limit <= 0
        ? from
        : afterLimit <= this.#lines.last
          ? Math.min(this.#lines.at(afterLimit), lastEnd)
          : lastEnd;
    const next = lineEnd - from > maxBytes ? this.#pageEnd(from, from + maxBytes) : lineEnd;
    return {
      bytes: this.#slabs.copy(from, next),
      from,
      next,
      retainedFrom: this.#start,
      firstLine,
      end: this.end,
      more: next < this.end,
      truncated: asked < from,
      softBreaks: this.#softBreaks(firstLine, next),
    };
  }

  #askedFrom({ tail, since, fromLine }: PageQuery): number {
    const line = tail === undefined ? fromLine : Math.max(0, this.lines - tail);
    if (line === undefined) return since ?? this.#start;
    if (line > this.#lines.last) return this.end;
    // A line that is forgotten began before the oldest byte kept.
    return line < this.#lines.first ? this.#start - 1 : this.#lines.at(line);
  }

  /** The last place, no later than this, where a line begins; in a line that is longer, where a character does. */
  #pageEnd(from: number, to: number): number {
    const lineStart = this.#lines.at(this.#lines.lineAt(to));
    if (lineStart > from) return lineStart;
    for (let at = to; at > from && at > to - 4; at--) {
      if (!isContinuation(this.#slabs.byteAt(at))) return at;
    }
    return to;
  }

  #softBreaks(firstLine: number, to: number): number[] {
    const found: number[] = [];
    for (let line = firstLine + 1; line <= this.#lines.last && this.#lines.at(line) <= to; line++) {
      const at = this.#lines.at(line);
      const long = at - this.#lines.at(line - 1) >= longestLine;
      if (long && at > this.#start && this.#slabs.byteAt(at - 1) !== newline) found.push(at);
    }
    return found;
  }
}
