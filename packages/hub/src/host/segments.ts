import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteRing, LineStart } from './byte-ring.ts';
import { errnoOf, HostError } from './host-error.ts';

/** A file with lines of a pane's output. */
export interface Segment {
  /** Of its file: where it begins, in which life of its pane it was written, and of which family that is. */
  readonly name: string;
  /** Its first byte and the one after its last, in the output. */
  readonly start: number;
  readonly end: number;
  /** Number of its first line, which begins with it. */
  readonly line: number;
  /** When it was begun, in milliseconds since 1970. */
  readonly begunAt: number;
}

interface Named {
  /** None in a name that an older version gave. */
  readonly family: string | undefined;
}

/** What the files of all panes share. */
export interface Disk {
  /** A file that has so many bytes is full. */
  readonly segmentBytes: number;
  /** How much is read at once, and how far apart the known beginnings of lines are. */
  readonly portionBytes: number;
  /** Writes and removes, one piece of work after the other: a disk that hangs holds one thread, and no pane. */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** Reads, beside that and one after the other: a portion for each pane in turn, however much one asks for. */
  readTurn<T>(reader: Segments, work: () => Promise<T>): Promise<T>;
  /** Removes files of whoever has most until a writer may write so many bytes; fails where the disk has no room to spare. */
  makeRoom(bytes: number, writer: Segments): Promise<void>;
  join(segments: Segments): void;
  leave(segments: Segments): void;
  /** Told how it went last. */
  worked(segments: Segments): void;
  failed(segments: Segments, error: unknown): void;
  /** Told how many bytes memory has let go of before they could be written. */
  lost(bytes: number): void;
}

/** A little output waits so long for more, before it is written. */
const gatherMs = 20;
const little = 64 * 1024;
/** How long a disk that has failed is left alone. */
const retryMs = 1_000;
const noFollow = constants.O_WRONLY | constants.O_NOFOLLOW;

const fileName = /^(\d{1,15})-(\d{1,15})(?:-[0-9a-f]{12}-([0-9a-f]{12}))?\.out$/;

/** What the name of a file says about it, if it is one of ours. */
export function segmentNamed(name: string): (Omit<Segment, 'end' | 'begunAt'> & Named) | undefined {
  const [, start, line, family] = fileName.exec(name) ?? [];
  return start === undefined ? undefined : { name, start: Number(start), line: Number(line), family };
}

/**
 * The files of one pane. They are written from its ring, at the pace of the disk: the ring is the buffer, and what it
 * lets go of before is not in any file.
 */
export class Segments {
  /** Whose share of the disk they take, as it is written in their names. */
  readonly family: string;
  readonly #dir: string;
  readonly #disk: Disk;
  /** Whoever has the name of a file, and waits, must not find there what another pane of the same id has written since. */
  readonly #life = randomBytes(6).toString('hex');
  #list: readonly Segment[];
  /** Where some lines begin, by the names of the files: whoever wants a few lines need not count from the first. */
  readonly #marks = new Map<string, LineStart[]>();
  #ring: ByteRing | null = null;
  #maxBytes = 0;
  #written: number;
  /** Whether its folder is still to be made, without what others may have left there. */
  #isNew: boolean;
  #draining = false;
  #gathering: NodeJS.Timeout | undefined;
  #removed = false;

  constructor(dir: string, disk: Disk, family: string, found: readonly Segment[] = []) {
    this.family = family;
    this.#dir = dir;
    this.#disk = disk;
    this.#list = found;
    this.#written = found.at(-1)?.end ?? 0;
    this.#isNew = found.length === 0;
  }

  /** Those with something in them, the oldest first; between two of them something may be missing. */
  get list(): readonly Segment[] {
    const last = this.#list.at(-1);
    return last && last.end === last.start ? this.#list.slice(0, -1) : this.#list;
  }

  get bytes(): number {
    return this.#list.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  get portionBytes(): number {
    return this.#disk.portionBytes;
  }

  fileOf({ name }: Segment): string {
    return join(this.#dir, name);
  }

  /** Keeps what comes into a ring from now on. */
  keep(ring: ByteRing, maxBytes: number): void {
    this.#ring = ring;
    this.#maxBytes = maxBytes;
    ring.hold(this.#written);
  }

  /** There is new output. */
  wake(): void {
    if (this.#draining || this.#ring === null) return;
    if (this.#ring.end - this.#written >= little) void this.#drain();
    else this.#gathering ??= setTimeout(() => void this.#drain(), gatherMs).unref();
  }

  async #drain(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#draining = true;
    const failed = await this.flush().catch((error: unknown) => {
      this.#disk.failed(this, error);
      return true;
    });
    if (failed) setTimeout(() => void this.#drain(), retryMs).unref();
    else this.#draining = false;
  }

  /** Writes all there is. */
  async flush(): Promise<void> {
    while (await this.#disk.turn(() => this.#fill())) {
      // Others have their turn in between.
    }
  }

  /** Fills one file with what there is; answers false when nothing is left to write. */
  async #fill(): Promise<boolean> {
    const ring = this.#ring;
    if (ring === null || this.#removed || this.#written >= ring.end) return false;
    const segment = this.#last(ring) ?? (await this.#begin(ring));
    if (!segment) return false;
    const file = await this.#openFile(segment);
    if (!file) return true;
    try {
      for (let most = this.#room(ring, segment); most > 0; most = this.#room(ring, segment)) {
        const bytes = ring.copy(this.#written, this.#written + most);
        await this.#makeRoom(bytes.length);
        await writeAll(file, bytes, this.#written - segment.start);
        this.#written += bytes.length;
        this.#grow(segment, this.#written);
        this.mark(segment, ring);
        ring.hold(this.#written);
        this.#disk.worked(this);
      }
    } finally {
      await file.close();
    }
    return true;
  }

  /** A reader may have found meanwhile that the file is gone. */
  #grow({ name }: Segment, end: number): void {
    this.#list = this.#list.map((each) => (each.name === name ? { ...each, end } : each));
  }

  /** Remembers where lines of a file begin that somebody has in memory. */
  mark({ name, start }: Segment, ring: ByteRing): void {
    const marks = this.#marks.get(name) ?? [];
    const end = this.#list.find((each) => each.name === name)?.end ?? start;
    for (;;) {
      const next = ring.lineFrom((marks.at(-1)?.offset ?? start) + this.#disk.portionBytes);
      if (!next || next.offset >= end) break;
      marks.push(next);
    }
    if (marks.length > 0) this.#marks.set(name, marks);
  }

  /** The last known beginning of a line of a file, its own at least, that fits. */
  lineStartIn({ name, start, end, line }: Segment, fits: (mark: LineStart) => boolean): LineStart {
    const known = this.#marks.get(name)?.findLast((mark) => mark.offset < end && fits(mark));
    return known ?? { line, offset: start };
  }

  /** The file that the next byte belongs to, if there is one already. */
  #last(ring: ByteRing): Segment | undefined {
    const last = this.#list.at(-1);
    return last?.end === this.#written && this.#room(ring, last) > 0 ? last : undefined;
  }

  /** How many bytes a file takes now: a full one those up to the next line, so that every file begins with one. */
  #room(ring: ByteRing, { start }: Segment): number {
    if (this.#written < ring.start || this.#removed) return 0;
    const size = Math.min(this.#disk.segmentBytes, this.#maxBytes / 4);
    const next = ring.lineFrom(Math.max(this.#written, start + size));
    return (next?.offset ?? ring.end) - this.#written;
  }

  async #begin(ring: ByteRing): Promise<Segment | undefined> {
    const next = ring.lineFrom(Math.max(this.#written, ring.start));
    if (!next || next.offset >= ring.end) return undefined;
    const failed = this.#list.at(-1);
    if (failed && failed.end === failed.start) await this.#drop(failed);
    if (this.#isNew) await rm(this.#dir, { recursive: true, force: true });
    this.#isNew = false;
    this.#disk.join(this);
    this.#disk.lost(next.offset - this.#written);
    this.#written = next.offset;
    const { offset, line } = next;
    const name = `${offset}-${line}-${this.#life}-${this.family}.out`;
    const segment = { name, start: offset, end: offset, line, begunAt: Date.now() };
    this.#list = [...this.#list, segment];
    return segment;
  }

  /** Nothing when the file is not there any more. */
  async #openFile(segment: Segment): Promise<FileHandle | undefined> {
    if (segment.end === segment.start) {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      return open(this.fileOf(segment), noFollow | constants.O_CREAT | constants.O_TRUNC, 0o600);
    }
    try {
      return await open(this.fileOf(segment), noFollow);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      this.#forget(segment);
      return undefined;
    }
  }

  async #makeRoom(bytes: number): Promise<void> {
    while (this.bytes + bytes > this.#maxBytes && this.#list.length > 1) await this.dropOldest();
    await this.#disk.makeRoom(bytes, this);
  }

  /** Removes the oldest file; only in a turn. */
  async dropOldest(): Promise<void> {
    const [oldest] = this.#list;
    if (oldest) await this.#drop(oldest);
  }

  async #drop(segment: Segment): Promise<void> {
    await rm(this.fileOf(segment), { force: true });
    this.#forget(segment);
  }

  #forget(segment: Segment): void {
    this.#marks.delete(segment.name);
    this.#clip(segment, segment.start);
  }

  #clip({ start }: Segment, end: number): void {
    this.#list = this.#list.flatMap((each) => {
      if (each.start !== start) return [each];
      return end > start ? [{ ...each, end }] : [];
    });
  }

  /** What is kept between two places of a file. What is not there is not offered again; a disk that fails may work the next time. */
  read(segment: Segment, from: number, to: number): Promise<Buffer> {
    return this.#disk.readTurn(this, async () => {
      const bytes = Buffer.allocUnsafeSlow(to - from);
      let size = 0;
      try {
        const file = await open(this.fileOf(segment), constants.O_RDONLY | constants.O_NOFOLLOW);
        try {
          for (let read = -1; read !== 0 && size < bytes.length; size += read)
            ({ bytesRead: read } = await file.read(
              bytes,
              size,
              bytes.length - size,
              from - segment.start + size,
            ));
        } finally {
          await file.close();
        }
        this.#disk.worked(this);
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT') {
          this.#disk.failed(this, error);
          throw unreadable(error);
        }
        this.#forget(segment);
        return bytes.subarray(0, 0);
      }
      if (size < bytes.length) this.#clip(segment, from + size);
      return bytes.subarray(0, size);
    });
  }

  /** Removes every file. */
  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    this.#disk.leave(this);
    await this.#disk
      .turn(() => rm(this.#dir, { recursive: true, force: true }))
      .catch((error: unknown) => console.error(new Date().toISOString(), error));
  }
}

function unreadable(error: unknown): HostError {
  const why = error instanceof Error ? error.message : String(error);
  return new HostError(
    'output_unreadable',
    `Output on the disk cannot be read: ${why}`,
    { errno: errnoOf(error) },
    error,
  );
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
