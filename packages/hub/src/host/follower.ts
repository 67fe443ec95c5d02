import type { Pane } from './pane.ts';
import type { HostEvent } from './requests.ts';

const portion = 64 * 1024;
/** Output that comes in a stream is sent in portions of about this age; a little, like the echo of a key, goes at once. */
const gatherMs = 2;
const little = 1024;

/** How long a program may be held back for a reader that is about to miss something, and how long not again after that. */
const heldMs = 100;
const unheldMs = 5_000;

export interface FollowerOptions {
  readonly pane: Pane;
  readonly follower: number;
  readonly from: number;
  readonly credit: number;
  send(event: HostEvent, body?: Uint8Array): void;
  onFinished(): void;
}

/** Passes a pane's output on, no more than it has credit for. What is not kept any more by then is told as a gap. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #unlisten: () => void;
  #cursor: number;
  #credit: number;
  #sentAt = 0;
  /** Whether much was sent the last time. */
  #flows = false;
  #holding: NodeJS.Timeout | null = null;
  #holdsFrom: number;
  #cancel: (() => void) | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#cursor = options.from;
    this.#credit = options.credit;
    // Whoever asks for less than a portion wants to know that there is more, and not all of it.
    this.#holdsFrom = options.credit < portion ? Number.POSITIVE_INFINITY : 0;
    this.#unlisten = options.pane.onChange(() => this.#schedule());
    this.#schedule();
  }

  allow(bytes: number): void {
    this.#credit += bytes;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#cancel) return;
    const wait = this.#flows ? this.#sentAt + gatherMs - performance.now() : 0;
    if (wait > 0) {
      const timer = setTimeout(() => this.#pump(), wait);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(() => this.#pump());
      this.#cancel = () => clearImmediate(turn);
    }
  }

  #pump(): void {
    this.#cancel = null;
    const { pane, follower, send, onFinished } = this.#options;
    const { ring, end } = pane.output;
    const keptFrom = pane.output.keptFrom(this.#cursor);
    if (this.#credit > 0 && this.#cursor < keptFrom) {
      send({ event: 'gap', follower, lostFrom: this.#cursor, lostTo: keptFrom });
      this.#cursor = keptFrom;
    }
    if (this.#credit > 0 && this.#cursor < ring.start) this.#readFile();
    const begun = this.#cursor;
    const isKept = (): boolean =>
      this.#cursor >= ring.start && pane.output.keptFrom(this.#cursor) === this.#cursor;
    while (this.#credit > 0 && this.#cursor < end && isKept())
      this.#send(ring.some(this.#cursor, Math.min(portion, this.#credit)));
    this.#flows = this.#cursor - begun > little;
    this.#keepUp();
    if (this.#credit > 0 && pane.output.keptFrom(this.#cursor) > this.#cursor) this.#schedule();
    if (pane.exit === null || this.#cursor < end) return;
    send({ event: 'finished', follower });
    onFinished();
  }

  #send(bytes: Buffer): void {
    const { follower, send } = this.#options;
    send({ event: 'output', follower, offset: this.#cursor }, bytes);
    this.#cursor += bytes.length;
    this.#credit -= bytes.length;
    this.#sentAt = performance.now();
  }

  /** Tells of a gap of so many bytes, as far as memory has not what comes then. */
  #skip(bytes: number): void {
    const { pane, follower, send } = this.#options;
    const lostTo = Math.min(this.#cursor + bytes, pane.output.ring.start);
    if (lostTo > this.#cursor) send({ event: 'gap', follower, lostFrom: this.#cursor, lostTo });
    this.#cursor = Math.max(this.#cursor, lostTo);
  }

  /** Goes on with what is not in memory any more. */
  #readFile(): void {
    let cancelled = false;
    this.#cancel = () => {
      cancelled = true;
    };
    const most = Math.min(portion, this.#credit);
    const goOn = (bytes: Buffer | undefined): void => {
      if (cancelled) return;
      if (bytes === undefined) this.#skip(most);
      else if (bytes.length > 0) this.#send(bytes);
      this.#pump();
    };
    // A disk that fails is told as a gap: who follows wants to see what comes after it.
    void this.#options.pane.output.some(this.#cursor, most).then(goOn, () => goOn(undefined));
  }

  /** One that reads fast gets everything; one that reads slowly, or not at all, costs the program next to nothing. */
  #keepUp(): void {
    const { output } = this.#options.pane;
    const unread = output.end - this.#cursor;
    const kept = output.end - output.start;
    if (this.#holding) {
      if (unread < kept / 4) this.#letGo();
    } else if (output.start > 0 && unread > kept / 2 && performance.now() >= this.#holdsFrom) {
      this.#options.pane.hold(this);
      this.#holding = setTimeout(() => {
        this.#holdsFrom = performance.now() + unheldMs;
        this.#letGo();
      }, heldMs);
    }
  }

  #letGo(): void {
    if (this.#holding) clearTimeout(this.#holding);
    this.#holding = null;
    this.#options.pane.letGo(this);
  }

  close(): void {
    this.#letGo();
    this.#cancel?.();
    this.#unlisten();
  }
}
