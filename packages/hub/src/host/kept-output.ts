import {
  ByteRing,
  type LineStart,
  type Page,
  type PageQuery,
  type Portion,
  type RingLimits,
  type SharedRange,
} from './byte-ring.ts';
import type { KeptEnd } from './joint.ts';
import { longestLine, newline } from './line-starts.ts';
import { plainLines } from './plain-view.ts';
import type { Segment, Segments } from './segments.ts';
import type { Slab } from './slabs.ts';

const unlimited: RingLimits = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY };
/** How much of what a host before this one has left is taken into memory: enough to draw a screen from. */
const recalled = 512 * 1024;

/**
 * All that is kept of a pane's output: the newest in memory and, where that is wished, more of it in files. Whoever
 * reads need not know which, only that what is in files takes a while.
 */
export class KeptOutput {
  /** What is in memory. */
  readonly ring: ByteRing;
  readonly #files: Segments | null;

  constructor(ring: ByteRing, files: Segments | null) {
    this.ring = ring;
    this.#files = files;
  }

  /** What a host before this one has left; nothing if none of it can be read. */
  static async recall(files: Segments, limits: RingLimits): Promise<KeptOutput | undefined> {
    for (let run = lastRun(files.list); run.length > 0; run = lastRun(files.list)) {
      const end = run.at(-1)?.end ?? 0;
      const first = run.findLast(({ start }) => start <= end - recalled) ?? (run[0] as Segment);
      const output = new KeptOutput(new ByteRing(limits, { from: lineStartOf(first) }), files);
      await output.#fill(output.ring, first, end);
      if (output.ring.end === end) return output;
    }
    return undefined;
  }

  /** How many lines there have been, by the newest file. */
  static async countLines(files: Segments): Promise<number> {
    const last = files.list.at(-1);
    const ring = new ByteRing(unlimited, { from: last && lineStartOf(last), shared: false });
    if (last) await new KeptOutput(ring, files).#fill(ring, last, last.end);
    return ring.lines;
  }

  /** The oldest byte that is kept; between it and the end something may be missing. */
  get start(): number {
    return Math.min(this.ring.start, this.#files?.list[0]?.start ?? this.ring.start);
  }

  get end(): number {
    return this.ring.end;
  }

  get lines(): number {
    return this.ring.lines;
  }

  /** The last lines in memory, and the one that is open. */
  keptEnd(lines: number): KeptEnd {
    const page = this.ring.page({ tail: lines + 1 });
    const texts = plainLines(page).map(({ text }) => text);
    const isOpen = page.bytes.length > 0 && page.bytes.at(-1) !== newline;
    const open = isOpen ? (texts.pop() ?? '') : '';
    return { lines: texts, open, isAll: page.from === 0 && page.next > 0 };
  }

  /** Goes on in a new line, behind a gap: something may be missing. What is in no file yet is, where there are files. */
  leap(): void {
    if (this.#files || this.ring.start === this.end) this.ring.leap();
    else this.ring.gap();
  }

  append(bytes: Uint8Array): void {
    this.ring.append(bytes);
    this.#files?.wake();
  }

  /** The first byte at a place or after it that is kept; the end if there is none. */
  keptFrom(offset: number): number {
    const segment = this.#segmentAt(offset);
    return segment ? Math.max(offset, segment.start) : this.ring.keptFrom(offset);
  }

  /** The file that has the first byte kept from a place on, if memory has not. */
  #segmentAt(offset: number): Segment | undefined {
    if (offset >= this.ring.start) return undefined;
    const segment = this.#files?.list.find(({ end }) => end > offset);
    return segment && segment.start < this.ring.start ? segment : undefined;
  }

  /** The file that has a line, or what is kept before it, if memory has not. */
  #segmentOfLine(line: number): Segment | undefined {
    const inMemory = this.ring.lineFrom(this.ring.start)?.line ?? this.lines;
    if (line >= inMemory) return undefined;
    const list = this.#files?.list ?? [];
    const segment = list.findLast((each) => each.line <= line) ?? list[0];
    return segment && segment.start < this.ring.start ? segment : undefined;
  }

  /** At most so many bytes from a place that is kept; none if that has just been let go of. */
  async some(from: number, most: number): Promise<Buffer> {
    const segment = this.#segmentAt(from);
    if (!this.#files || !segment)
      return from < this.ring.start ? Buffer.alloc(0) : this.ring.some(from, most);
    return this.#files.read(segment, from, Math.min(segment.end, from + most));
  }

  async page(query: PageQuery = {}): Promise<Page> {
    const first = this.#firstOf(query);
    if (!first) return this.#told(this.ring.page(query), query);
    const to = this.#windowEnd(query, first);
    const window = await this.#window(first, to, (read) => isWhole(read, query));
    if (query.tail !== undefined && window.end < to) return this.#told(this.ring.page(query), query);
    // It could not be read, and is not kept any more.
    if (window.end === first.from.offset) return this.page(query);
    const page = window.page(query);
    if (query.fromLine !== undefined && page.from === window.end && window.end < this.end)
      return this.page({ ...query, fromLine: undefined, since: window.end });
    return this.#told(page, query);
  }

  #told(page: Page, { fromLine }: PageQuery): Page {
    const { from, next } = page;
    const { start, end } = this;
    // Whoever reads line by line would not see that something is missing between two of them.
    const isBehindGap =
      fromLine !== undefined && from > start && from < end && this.keptFrom(from - 1) === from;
    const truncated = page.truncated || isBehindGap;
    return { ...page, retainedFrom: start, end, more: next < end, truncated };
  }

  /** Where an answer is looked for, if it does not begin in memory. */
  #firstOf({ tail, since, fromLine, maxBytes = Number.POSITIVE_INFINITY }: PageQuery): Place | undefined {
    if (fromLine !== undefined) return this.#placeOfLine(fromLine);
    if (tail === undefined) return this.#placeAt(since ?? this.start);
    const first = this.#placeOfLine(Math.max(0, this.lines - tail));
    const last = this.#placeAt(this.end - maxBytes);
    const [run] = lastRun(this.#files?.list ?? []);
    if (!first || !last || !run || (this.#files?.list.at(-1)?.end ?? 0) < this.ring.start) return undefined;
    // Of a tail the last bytes are given, and they lie together.
    const places = [first, last, { segment: run, from: lineStartOf(run) }];
    return places.reduce((a, b) => (a.from.offset > b.from.offset ? a : b));
  }

  #placeAt(offset: number): Place | undefined {
    const segment = this.#segmentAt(offset);
    return segment && this.#placeIn(segment, (mark) => mark.offset <= offset);
  }

  #placeOfLine(line: number): Place | undefined {
    const segment = this.#segmentOfLine(line);
    return segment && this.#placeIn(segment, (mark) => mark.line <= line);
  }

  #placeIn(segment: Segment, fits: (mark: LineStart) => boolean): Place {
    return { segment, from: this.#files?.lineStartIn(segment, fits) ?? lineStartOf(segment) };
  }

  #windowEnd(query: PageQuery, { segment, from }: Place): number {
    const { tail, since = segment.end, limit = Number.POSITIVE_INFINITY, maxBytes } = query;
    if (tail !== undefined) return this.end;
    const first = Math.max(from.offset, Math.min(since, segment.end));
    return first + Math.min(maxBytes ?? Number.POSITIVE_INFINITY, limit * (longestLine + 4)) + 1;
  }

  /** What is kept from a line to a place, as far as it lies together and until it is enough. */
  async #window(
    { segment, from }: Place,
    to: number,
    isEnough?: (read: ByteRing) => boolean,
  ): Promise<ByteRing> {
    const window = new ByteRing(unlimited, { from, shared: false });
    await this.#fill(window, segment, to, isEnough);
    return window;
  }

  async #fill(
    window: ByteRing,
    first: Segment,
    to: number,
    isEnough: (read: ByteRing) => boolean = () => false,
  ): Promise<void> {
    for (const segment of this.#files?.list.filter(({ start }) => start >= first.start) ?? []) {
      if (segment.start > window.end) break;
      while (window.end < Math.min(to, segment.end) && !this.#hasNext(window)) {
        if (!(await this.#readOn(window, segment)) || isEnough(window)) return;
      }
    }
    if (this.#hasNext(window)) {
      window.append(this.ring.copy(window.end, Math.min(to, this.end)));
    }
  }

  /** Adds a portion of a file; answers false when there is none. */
  async #readOn(window: ByteRing, segment: Segment): Promise<boolean> {
    const files = this.#files;
    if (!files) return false;
    const to = Math.min(segment.end, window.end + files.portionBytes);
    const bytes = await files.read(segment, window.end, to);
    window.append(bytes);
    files.mark(segment, window);
    return bytes.length > 0;
  }

  /** Whether memory has what comes after a window. */
  #hasNext(window: ByteRing): boolean {
    return window !== this.ring && window.end >= this.ring.start;
  }

  /** Where a line begins, or where the output is kept from, or ends, if it is not there. */
  async lineStart(line: number): Promise<number> {
    const place = this.#placeOfLine(line);
    if (!place) return this.ring.lineStart(line);
    const { end } = place.segment;
    return (await this.#window(place, end, (read) => read.lineStart(line) < read.end)).lineStart(line);
  }

  /** What is kept between two places, for another thread, which reads the files itself. */
  async share(from: number, to: number): Promise<SharedRange> {
    const { start } = this.ring;
    const newest = this.ring.share(from, to);
    const slabs: Slab[] = [];
    const portions: Portion[] = [];
    try {
      const end = Math.min(to, start);
      for (const segment of this.#files?.list.filter((each) => each.end > from && each.start < end) ?? []) {
        if (segment.start >= from && segment.end <= end) {
          const file = this.#files?.fileOf(segment);
          portions.push({ from: segment.start, to: segment.end, line: segment.line, isPlain: false, file });
        } else {
          const place = this.#placeIn(segment, (mark) => mark.offset <= from);
          const part = (await this.#window(place, Math.min(segment.end, end))).share(from, end);
          slabs.push(...part.slabs);
          portions.push(...part.portions);
        }
      }
    } catch (error) {
      newest.letGo();
      throw error;
    }
    return { ...newest, slabs: [...slabs, ...newest.slabs], portions: [...portions, ...newest.portions] };
  }

  /** Writes from now on what comes; within so many bytes. */
  keep(maxBytes: number): void {
    this.#files?.keep(this.ring, maxBytes);
  }

  /** Drops the files. */
  async remove(): Promise<void> {
    await this.#files?.remove();
  }
}

/** A line of a file, from which on something is looked for. */
interface Place {
  readonly segment: Segment;
  readonly from: LineStart;
}

/** Whether what has been read holds an answer, whatever comes after it. */
function isWhole(read: ByteRing, query: PageQuery): boolean {
  if (query.tail !== undefined || (query.limit === undefined && query.fromLine === undefined)) return false;
  return read.page(query).next < read.end;
}

const lineStartOf = ({ start, line }: Segment): LineStart => ({ line, offset: start });

/** The newest files that lie together. */
function lastRun(list: readonly Segment[]): readonly Segment[] {
  const gap = list.findLastIndex((segment, index) => index > 0 && list[index - 1]?.end !== segment.start);
  return list.slice(Math.max(0, gap));
}
