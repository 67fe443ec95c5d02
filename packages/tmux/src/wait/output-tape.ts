import { setTimeout } from 'node:timers/promises';
import type { EventStream } from '../events/event-stream.ts';
import { Events } from '../events/events.ts';
import type { PaneId, SessionId } from '../operation/target.ts';
import { gap, type OutputSource, type Tmux } from './output-source.ts';

export interface OutputTapeOptions {
  /** How much of a pane's output is kept for those who come later; 1 MiB unless told. */
  readonly keepBytes?: number;
  /** Where counting begins; unless told, further than any tape before this one has come. */
  readonly firstOffset?: number;
}

/** What is read of a pane, and how far. */
export interface TapeReader extends OutputSource {
  /** What comes next has this offset. */
  readonly position: number;
}

/** How long it must be quiet for what a dead pane printed to have come. */
const quietMs = 200;
/** What is printed letter by letter takes far more memory than it has bytes. */
const mostPieces = 16_384;

/**
 * Records what the panes of a session print, so that any number of readers can begin at a moment that has passed: take
 * the cursor of a pane, send, and read from the cursor whenever it suits.
 *
 * @example
 * await using tape = await OutputTape.open(server, session.id);
 * const cursor = tape.cursor(pane.id);
 * await pane.sendText('make', { enter: true });
 * const { reason, text } = await pane.waitFor({ source: tape.read(pane.id, cursor), settleMs: 500 });
 */
export class OutputTape implements AsyncDisposable {
  readonly #events: Events;
  readonly #keep: number;
  readonly #first: number;
  readonly #panes = new Map<PaneId, PaneTape>();
  /** Settles when no more will come: it was closed, or the session has ended. */
  readonly ended: Promise<void>;
  #over = false;

  private constructor(events: Events, { keepBytes = 2 ** 20, firstOffset }: OutputTapeOptions) {
    this.#events = events;
    this.#keep = keepBytes;
    this.#first = firstOffset ?? Date.now() * 1000;
    this.ended = this.#record(events.subscribe({ types: ['output'] }));
  }

  /** Fails as `Events.open` does, also where the session would notice: it is destroyed when unattached. */
  static async open(
    { connection }: Pick<Tmux, 'connection'>,
    session: SessionId,
    options: OutputTapeOptions = {},
  ): Promise<OutputTape> {
    return new OutputTape(await Events.open(connection, { session }), options);
  }

  /** Where a pane's output has come to. */
  cursor(paneId: PaneId): number {
    return this.#tape(paneId).end;
  }

  /** What a pane has printed since a cursor, and what it prints from now on; a gap where some is no longer there. */
  read(paneId: PaneId, since: number = this.cursor(paneId)): TapeReader {
    return this.#tape(paneId).read(since);
  }

  async close(): Promise<void> {
    await this.#events.close();
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #tape(paneId: PaneId): PaneTape {
    const known = this.#panes.get(paneId) ?? new PaneTape(this.#first, this.#keep);
    this.#panes.set(paneId, known);
    if (this.#over) known.finish();
    return known;
  }

  async #record(stream: EventStream): Promise<void> {
    for await (const event of stream) {
      if (event.type === 'output') this.#tape(event.paneId).add(event.data);
      if (event.type !== 'gap') continue;
      for (const [id, tape] of this.#panes) if ((event.paneId ?? id) === id) tape.add(gap);
    }
    this.#over = true;
    for (const tape of this.#panes.values()) tape.finish();
  }
}

interface Piece {
  readonly at: number;
  readonly data: Uint8Array | typeof gap;
}

const lengthOf = (data: Piece['data']): number => (data === gap ? 0 : data.length);

/** The latest output of one pane, for any number of readers. */
class PaneTape {
  readonly #keep: number;
  #pieces: Piece[] = [];
  /** How many pieces are no longer there. */
  #dropped = 0;
  #from: number;
  end: number;
  #heardAt = 0;
  #over = false;
  readonly #waiting = new Set<() => void>();

  constructor(first: number, keep: number) {
    this.#from = first;
    this.end = first;
    this.#keep = keep;
  }

  add(data: Uint8Array | typeof gap): void {
    // Of a piece that is larger than all that is kept, its end is kept.
    const over = lengthOf(data) - this.#keep;
    const parts: readonly Piece['data'][] =
      data !== gap && over > 0 ? [data.subarray(0, over), data.subarray(over)] : [data];
    for (const part of parts) {
      this.#pieces.push({ at: this.end, data: part });
      this.end += lengthOf(part);
    }
    this.#heardAt = performance.now();
    while (this.end - this.#from > this.#keep || this.#pieces.length > mostPieces) {
      this.#pieces.shift();
      this.#dropped += 1;
      this.#from = this.#pieces[0]?.at ?? this.end;
    }
    this.#wake();
  }

  finish(): void {
    this.#over = true;
    this.#wake();
  }

  read(since: number): TapeReader {
    const left = new AbortController();
    const reader = { position: Math.min(since, this.end) };
    const bytes = this.#follow(reader, left.signal);
    const finish = async (signal: AbortSignal): Promise<void> => {
      for (
        let wait = quietMs;
        wait > 0 && !signal.aborted;
        wait = this.#heardAt + quietMs - performance.now()
      ) {
        await setTimeout(wait, undefined, { signal }).catch(() => undefined); // Aborted: the loop ends.
      }
    };
    return {
      get position() {
        return reader.position;
      },
      [Symbol.asyncIterator]: () => bytes,
      finish,
      [Symbol.asyncDispose]: async () => {
        left.abort();
        this.#wake();
      },
    };
  }

  async *#follow(
    reader: { position: number },
    left: AbortSignal,
  ): AsyncGenerator<Uint8Array | typeof gap, undefined> {
    /** How many pieces there have been before the one that is read next. */
    let next =
      this.#dropped + this.#pieces.findIndex(({ at, data }) => at + lengthOf(data) > reader.position);
    if (next < this.#dropped) next = this.#dropped + this.#pieces.length;
    if (reader.position < this.#from) next = -1;
    while (!left.aborted) {
      if (next < this.#dropped) {
        next = this.#dropped;
        reader.position = this.#from;
        yield gap;
        continue; // More may have been dropped meanwhile.
      }
      const piece = this.#pieces[next - this.#dropped];
      if (piece) {
        next += 1;
        // One who begins in the middle of a piece gets the rest of it.
        const data = piece.data === gap ? gap : piece.data.subarray(reader.position - piece.at);
        reader.position = piece.at + lengthOf(piece.data);
        yield data;
      } else if (this.#over) return;
      else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
