import * as z from 'zod';
import { readGiven } from '../operation/given.ts';
import { eventTypes, type TmuxEvent, type TmuxEventType } from './event.ts';

export interface SubscribeOptions {
  /** Only these; all of them unless told. Gaps always come. */
  readonly types?: readonly TmuxEventType[];
  /** How many events wait for a slow reader before the oldest are dropped; 4096 unless told. */
  readonly limit?: number;
}

const subscribeSchema = z.strictObject({
  types: z.array(z.enum(eventTypes)).readonly().optional(),
  limit: z.int().min(1).optional(),
});

/**
 * One reader's own queue of events, to be read with `for await`. A reader that is too slow loses the oldest and is
 * told so by a `gap` in their place; nobody else notices.
 */
export class EventStream implements AsyncIterableIterator<TmuxEvent>, AsyncDisposable {
  readonly #types: ReadonlySet<TmuxEventType> | null;
  readonly #limit: number;
  readonly #onEnd: (stream: EventStream) => void;
  #queue: TmuxEvent[] = [];
  #head = 0;
  #missed = 0;
  #dropped = 0;
  #ended = false;
  #waiting: ((result: IteratorResult<TmuxEvent, undefined>) => void)[] = [];

  constructor(options: SubscribeOptions, onEnd: (stream: EventStream) => void) {
    const { types, limit = 4096 } = readGiven(subscribeSchema, options, 'subscribe');
    this.#types = types ? new Set([...types, 'gap']) : null;
    this.#limit = limit;
    this.#onEnd = onEnd;
  }

  /** How many events this reader has lost so far. */
  get dropped(): number {
    return this.#dropped;
  }

  wants(type: TmuxEventType): boolean {
    return this.#types === null || this.#types.has(type);
  }

  push(event: TmuxEvent): void {
    if (this.#ended || !this.wants(event.type)) return;
    const reader = this.#waiting.shift();
    if (reader) {
      reader({ done: false, value: event });
      return;
    }
    this.#queue.push(event);
    if (this.#queue.length - this.#head <= this.#limit) return;
    this.#head += 1;
    this.#missed += 1;
    this.#dropped += 1;
    this.#compact();
  }

  next(): Promise<IteratorResult<TmuxEvent, undefined>> {
    if (this.#missed > 0) {
      const gap: TmuxEvent = { type: 'gap', reason: 'overflow', dropped: this.#missed, paneId: null };
      this.#missed = 0;
      return Promise.resolve({ done: false, value: gap });
    }
    const event = this.#queue[this.#head];
    if (event) {
      this.#head += 1;
      this.#compact();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** No more events; what is queued can still be read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
    this.#onEnd(this);
  }

  async return(): Promise<IteratorResult<TmuxEvent, undefined>> {
    this.#queue = [];
    this.#head = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #compact(): void {
    if (this.#head < 1024 && this.#head < this.#queue.length) return;
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }
}
