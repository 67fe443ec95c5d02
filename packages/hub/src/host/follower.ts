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

/** Passes a pane's output on, no more than it has credit for. What the ring has forgotten by then is told as a gap. */
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
    const { ring } = pane;
    if (this.#credit > 0 && this.#cursor < ring.start) {
      send({ event: 'gap', follower, lostFrom: this.#cursor, lostTo: ring.start });
      this.#cursor = ring.start;
    }
    const begun = this.#cursor;
    while (this.#credit > 0 && this.#cursor < ring.end) {
      const bytes = ring.some(this.#cursor, Math.min(portion, this.#credit));
      send({ event: 'output', follower, offset: this.#cursor }, bytes);
      this.#cursor += bytes.length;
      this.#credit -= bytes.length;
      this.#sentAt = performance.now();
    }
    this.#flows = this.#cursor - begun > little;
    this.#keepUp();
    if (pane.exit === null || this.#cursor < ring.end) return;
    send({ event: 'finished', follower });
    onFinished();
  }

  /** One that reads fast gets everything; one that reads slowly, or not at all, costs the program next to nothing. */
  #keepUp(): void {
    const { ring } = this.#options.pane;
    const unread = ring.end - this.#cursor;
    const kept = ring.end - ring.start;
    if (this.#holding) {
      if (unread < kept / 4) this.#letGo();
    } else if (ring.start > 0 && unread > kept / 2 && performance.now() >= this.#holdsFrom) {
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
