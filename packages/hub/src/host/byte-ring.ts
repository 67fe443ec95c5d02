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

/** A line is broken when it reaches this length, before the next character. */
export const longestLine: number = 64 * 1024;
const largestSlab = 256 * 1024;
const smallestSlab = 4 * 1024;
const newline = 0x0a;

interface Slab {
  readonly start: number;
  readonly bytes: Buffer;
}

/** The newest output of a pane. Whole lines are forgotten when there are too many bytes or lines. */
export class ByteRing {
  readonly #limits: RingLimits;
  /** Written once and never again, so that a view of them stays true after they are forgotten here. */
  readonly #slabs: Slab[] = [];
  #start = 0;
  #end = 0;
  #lines = new LineStarts();

  constructor(limits: RingLimits = defaultLimits) {
    this.#limits = limits;
  }

  /** The oldest byte that is kept. */
  get start(): number {
    return this.#start;
  }

  /** How many bytes there have been. */
  get end(): number {
    return this.#end;
  }

  /** How many lines there have been, one without its newline included. */
  get lines(): number {
    return this.#lines.last + (this.#end > this.#lines.at(this.#lines.last) ? 1 : 0);
  }

  append(chunk: Uint8Array): void {
    this.#indexLines(chunk);
    this.#copy(chunk);
    this.#forget();
  }

  #copy(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      let slab = this.#slabs.at(-1);
      let free = slab ? slab.start + slab.bytes.length - this.#end : 0;
      if (slab === undefined || free === 0) {
        // A quiet pane costs little: slabs grow with the output.
        const size = Math.min(largestSlab, slab ? slab.bytes.length * 2 : smallestSlab);
        slab = { start: this.#end, bytes: Buffer.allocUnsafeSlow(size) };
        this.#slabs.push(slab);
        free = size;
      }
      const part = rest.subarray(0, free);
      slab.bytes.set(part, this.#end - slab.start);
      this.#end += part.length;
      rest = rest.subarray(part.length);
    }
  }

  #indexLines(chunk: Uint8Array): void {
    let lineStart = this.#lines.at(this.#lines.last);
    let i = 0;
    const begin = (at: number): void => {
      lineStart = at;
      this.#lines.push(at);
    };
    while (i < chunk.length) {
      const full = Math.min(chunk.length, lineStart + longestLine - this.#end);
      while (i < full && chunk[i] !== newline) i++;
      if (i === chunk.length) return;
      const byte = chunk[i] ?? 0;
      const length = this.#end + i - lineStart;
      if (byte === newline) begin(this.#end + ++i);
      // A character of UTF-8 is not torn apart.
      else if ((byte & 0xc0) === 0x80 && length < longestLine + 3) i++;
      else begin(this.#end + i);
    }
  }

  #forget(): void {
    const { maxBytes, maxLines } = this.#limits;
    const surplus = this.lines - maxLines;
    if (surplus > this.#lines.first) this.#lines.dropBefore(surplus);
    if (this.#end - this.#start > maxBytes)
      this.#lines.dropBefore(this.#lines.firstFrom(this.#end - maxBytes));
    this.#start = Math.max(this.#start, this.#lines.at(this.#lines.first), this.#end - maxBytes);
    while (this.#slabs[1] && this.#slabs[1].start <= this.#start) this.#slabs.shift();
  }

  /** The bytes of a range that is kept; a view where they lie together, good for reading only. */
  slice(from: number, to: number): Buffer {
    const parts: Buffer[] = [];
    for (let i = this.#slabAt(from), at = from; at < to; i++) {
      const slab = this.#slabs[i];
      if (slab === undefined) break;
      const part = slab.bytes.subarray(at - slab.start, Math.min(to - slab.start, slab.bytes.length));
      parts.push(part);
      at += part.length;
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  /** At most this many bytes from a place on, without copying. */
  view(from: number, most: number): Buffer {
    const slab = this.#slabs[this.#slabAt(from)];
    if (slab === undefined) return Buffer.alloc(0);
    const to = Math.min(from + most, this.#end, slab.start + slab.bytes.length);
    return slab.bytes.subarray(from - slab.start, to - slab.start);
  }

  #slabAt(offset: number): number {
    let low = 0;
    for (let high = this.#slabs.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((this.#slabs[middle]?.start ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  page(query: PageQuery = {}): Page {
    const { limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = query;
    const asked = this.#askedFrom(query);
    let from = Math.min(Math.max(asked, this.#start), this.#end);
    if (query.tail !== undefined && this.#end - from > maxBytes) {
      const lineStart = this.#lines.at(this.#lines.firstFrom(this.#end - maxBytes));
      from = lineStart < this.#end && lineStart >= this.#end - maxBytes ? lineStart : this.#end - maxBytes;
    }
    const firstLine = this.#lines.lineAt(from);
    const afterLimit = firstLine + limit;
    const lineEnd =
      limit <= 0 ? from : afterLimit <= this.#lines.last ? this.#lines.at(afterLimit) : this.#end;
    const next = lineEnd - from > maxBytes ? this.#wholeCharacter(from, from + maxBytes) : lineEnd;
    return {
      bytes: this.slice(from, next),
      from,
      next,
      retainedFrom: this.#start,
      firstLine,
      end: this.#end,
      more: next < this.#end,
      truncated: asked < from,
      softBreaks: this.#softBreaks(firstLine, next),
    };
  }

  #askedFrom({ tail, since, fromLine }: PageQuery): number {
    const line = tail === undefined ? fromLine : Math.max(0, this.lines - tail);
    if (line === undefined) return since ?? this.#start;
    if (line > this.#lines.last) return this.#end;
    // A line that is forgotten began before the oldest byte kept.
    return line < this.#lines.first ? this.#start - 1 : this.#lines.at(line);
  }

  /** Moves an end back to where a character of UTF-8 begins, if one is torn there. */
  #wholeCharacter(from: number, to: number): number {
    for (let at = to; at > from && at > to - 4; at--) {
      if (((this.view(at, 1)[0] ?? 0) & 0xc0) !== 0x80) return at;
    }
    return to;
  }

  #softBreaks(firstLine: number, to: number): number[] {
    const found: number[] = [];
    for (let line = firstLine + 1; line <= this.#lines.last && this.#lines.at(line) <= to; line++) {
      const at = this.#lines.at(line);
      const long = at - this.#lines.at(line - 1) >= longestLine;
      if (long && at > this.#start && this.view(at - 1, 1)[0] !== newline) found.push(at);
    }
    return found;
  }
}

/** Where the kept lines begin, by their number; the last one is still open. */
class LineStarts {
  #ring = new Float64Array(16);
  /** Number of the oldest line kept. */
  first = 0;
  /** Number of the line that the next byte belongs to. */
  last = 0;

  at(line: number): number {
    return this.#ring[line & (this.#ring.length - 1)] ?? 0;
  }

  push(start: number): void {
    if (this.last - this.first + 1 === this.#ring.length) {
      const larger = new Float64Array(this.#ring.length * 2);
      for (let line = this.first; line <= this.last; line++)
        larger[line & (larger.length - 1)] = this.at(line);
      this.#ring = larger;
    }
    this.last++;
    this.#ring[this.last & (this.#ring.length - 1)] = start;
  }

  dropBefore(line: number): void {
    this.first = Math.max(this.first, Math.min(line, this.last));
  }

  /** The first line that begins at or after an offset; the open one if none does. */
  firstFrom(offset: number): number {
    const line = this.lineAt(offset);
    return this.at(line) >= offset ? line : Math.min(line + 1, this.last);
  }

  /** The line that an offset lies in. */
  lineAt(offset: number): number {
    let low = this.first;
    for (let high = this.last; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      if (this.at(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
