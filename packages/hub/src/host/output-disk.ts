import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './host-error.ts';
import { type Disk, type Segment, Segments, segmentNamed } from './segments.ts';

/** A name that stays in its folder, whatever the system. */
export const folderName: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const megabyte = 1024 * 1024;
/** What output leaves free on its disk: the hub writes its record there, and others what they must not lose. */
const leftFree = 16 * megabyte;

export interface DiskState {
  /** How many bytes of output there are in files, and how many were never written because the disk was too slow or failed. */
  readonly bytes: number;
  readonly lost: number;
  /** Why nothing can be written at the moment. */
  readonly problem: string | null;
}

/** Output in files, a folder for each pane: what all panes may take together, and whose turn it is. */
export class OutputDisk implements Disk {
  most: number = Number.POSITIVE_INFINITY;
  readonly segmentBytes: number;
  readonly #dir: string;
  readonly #all = new Set<Segments>();
  #last: Promise<unknown> = Promise.resolve();
  /** Who waits to read; whose turn it is comes first. */
  readonly #readers = new Map<Segments, (() => Promise<unknown>)[]>();
  #reading = false;
  #lost = 0;
  /** Whose files fail, and why. */
  readonly #problems = new Map<Segments, string>();

  constructor(dir: string, { segmentBytes = megabyte }: { readonly segmentBytes?: number } = {}) {
    this.#dir = dir;
    this.segmentBytes = segmentBytes;
  }

  /** The files of a pane that begins, and takes its share with others of its family. */
  filesOf(id: string, family: string = id): Segments {
    if (!folderName.test(id)) throw new RangeError(`"${id}" is no name of a folder.`);
    return new Segments(join(this.#dir, id), this, mark(family));
  }

  /** What hosts before this one have left, by the panes' ids. */
  find(): Map<string, Segments> {
    const found = new Map<string, Segments>();
    for (const { name, isFolder } of entriesOf(this.#dir)) {
      if (!isFolder || !folderName.test(name)) continue;
      const dir = join(this.#dir, name);
      const list = segmentsIn(dir);
      const family = list.find((segment) => segment.family !== undefined)?.family ?? mark(name);
      const segments = new Segments(dir, this, family, list);
      found.set(name, segments);
      this.join(segments);
    }
    return found;
  }

  get state(): DiskState {
    const [problem = null] = this.#problems.values();
    return { bytes: this.#bytes, lost: this.#lost, problem };
  }

  get #bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#all) sum += bytes;
    return sum;
  }

  turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // Whoever asked for the work hears of it.
    return turn;
  }

  get portionBytes(): number {
    return this.segmentBytes / 16;
  }

  readTurn<T>(reader: Segments, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiting = this.#readers.get(reader) ?? [];
    waiting.push(() => work().then(resolve, reject));
    this.#readers.set(reader, waiting);
    void this.#read();
    return promise;
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    for (let [next] = this.#readers; next; [next] = this.#readers) {
      const [reader, [work, ...others]] = next;
      this.#readers.delete(reader);
      if (others.length > 0) this.#readers.set(reader, others);
      await work?.();
    }
    this.#reading = false;
  }

  async makeRoom(bytes: number, writer: Segments): Promise<void> {
    while (this.#bytes + bytes > this.most) {
      const richest = this.#richest(bytes, writer);
      if (!richest) break;
      await richest.dropOldest();
    }
    await this.#spareOthers(bytes);
  }

  /** Who has the oldest file of the family that has most, so that none gets more by starting panes. */
  #richest(bytes: number, writer: Segments): Segments | undefined {
    const held = new Map([[writer.family, bytes]]);
    for (const { family, bytes: own } of this.#all) held.set(family, (held.get(family) ?? 0) + own);
    const families = [...held].sort(([, a], [, b]) => b - a);
    for (const [family] of families) {
      const oldest = this.#oldest(family, writer);
      if (oldest) return oldest;
    }
    return undefined;
  }

  async #spareOthers(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#dir);
    if (bavail * bsize - bytes < leftFree)
      throw new Error(`less than ${leftFree / megabyte} MB would be left free on its file system`);
  }

  /** Who of a family has the oldest file, other than the one that is written to. */
  #oldest(family: string, writer: Segments): Segments | undefined {
    let oldest: Segments | undefined;
    let begunAt = Number.POSITIVE_INFINITY;
    for (const segments of this.#all) {
      const [first, second] = segments.list;
      if (segments.family !== family || first === undefined || first.begunAt >= begunAt) continue;
      if (segments === writer && !second) continue;
      oldest = segments;
      begunAt = first.begunAt;
    }
    return oldest;
  }

  join(segments: Segments): void {
    this.#all.add(segments);
  }

  leave(segments: Segments): void {
    this.#all.delete(segments);
    this.#problems.delete(segments);
  }

  worked(segments: Segments): void {
    if (this.#problems.delete(segments) && this.#problems.size === 0)
      console.error(new Date().toISOString(), 'output is kept on the disk again');
  }

  /** Noted once, until everything works again. */
  failed(segments: Segments, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.#problems.size === 0)
      console.error(new Date().toISOString(), `output cannot be kept on the disk: ${why}`);
    this.#problems.set(segments, why);
  }

  lost(bytes: number): void {
    this.#lost += bytes;
  }

  /** Writes what is in memory only. */
  async flush(): Promise<void> {
    await Promise.allSettled([...this.#all].map((segments) => segments.flush()));
    await this.#last;
  }
}

/** Short enough for the name of a file, and made of nothing else. */
function mark(family: string): string {
  return createHash('sha256').update(family).digest('hex').slice(0, 12);
}

/** A folder that is not there, or cannot be read, has nothing for us. */
function entriesOf(dir: string): readonly { readonly name: string; readonly isFolder: boolean }[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') console.error(new Date().toISOString(), error);
    return [];
  }
}

/** In the order of the output; a crash of the machine may have left a file longer than it was. */
function segmentsIn(dir: string): readonly (Segment & { readonly family: string | undefined })[] {
  const found = entriesOf(dir).flatMap(({ name }) => {
    const begin = segmentNamed(name);
    const stat = begin && lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (!begin || !stat?.isFile()) return [];
    return [{ ...begin, end: begin.start + stat.size, begunAt: stat.birthtimeMs || stat.mtimeMs }];
  });
  const sorted = found.sort((a, b) => a.start - b.start);
  return sorted
    .map((segment, index) => ({
      ...segment,
      end: Math.min(segment.end, sorted[index + 1]?.start ?? segment.end),
    }))
    .filter(({ start, end }) => end > start);
}
