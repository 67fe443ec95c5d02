import type { Pane } from './pane.ts';
import type { HostEvent } from './requests.ts';

const portion = 64 * 1024;
/** Output that comes in a stream is sent in portions of about this age; the first byte after a pause goes at once. */
const gatherMs = 2;

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
  #cancel: (() => void) | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#cursor = options.from;
    this.#credit = options.credit;
    this.#unlisten = options.pane.onChange(() => this.#schedule());
    this.#schedule();
  }

  allow(bytes: number): void {
    this.#credit += bytes;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#cancel) return;
    const wait = this.#sentAt + gatherMs - performance.now();
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
    while (this.#credit > 0 && this.#cursor < ring.end) {
      const bytes = ring.some(this.#cursor, Math.min(portion, this.#credit));
      send({ event: 'output', follower, offset: this.#cursor }, bytes);
      this.#cursor += bytes.length;
      this.#credit -= bytes.length;
      this.#sentAt = performance.now();
    }
    if (pane.exit === null || this.#cursor < ring.end) return;
    send({ event: 'finished', follower });
    onFinished();
  }

  close(): void {
    this.#cancel?.();
    this.#unlisten();
  }
}
