import type { ServerResponse } from 'node:http';
import { PolyError } from '@polyphony/protocol';
import type { WebSocket } from 'ws';
import type { EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';
import type { Caller } from '../registry/caller.ts';
import { isRevoked, type Revoked } from '../registry/credentials.ts';

/** One session, or all of a project, by what never changes. */
export type FloorPlace = { readonly session: string } | { readonly project: string };

/** Where what happens on the floor is read. */
interface FloorReader {
  /** The newest `seq` there is. */
  head(): Promise<number>;
  /** What follows a `seq`, as much as fits, and whether there is more. */
  after(
    place: FloorPlace,
    seq: number,
    limit: number,
  ): Promise<{ readonly events: readonly { readonly seq: number }[]; readonly more: boolean }>;
}

export interface FloorStreamsOptions {
  readonly events: EventLog;
  readonly reader: FloorReader;
  readonly log: Log;
  readonly heartbeatMs?: number;
}

/** What some readers are sent, made once for all of them. */
interface Page {
  /** The `seq` of the last; nothing where there is none. */
  readonly last: number | undefined;
  readonly more: boolean;
  /** All of them as SSE, in memory that all readers share, and each by itself as part of that. */
  readonly frames: Buffer;
  readonly texts: readonly Buffer[];
}

/** How a reader gets what it reads. */
interface Sink {
  send(page: Page): void;
  /** Resolves once it has read most of what it was sent, or is gone. */
  drained(): Promise<void>;
  beat(): void;
  end(): void;
}

interface Reader {
  readonly place: FloorPlace;
  readonly caller: Caller;
  readonly sink: Sink;
  cursor: number;
  /** Something came while it was being sent what came before. */
  again: boolean;
  busy: boolean;
  gone: boolean;
}

const pageSize = 50;
const mostUnread = 256 * 1024;
/** How long a reader may take for what it was sent. */
const patienceMs = 30_000;

/**
 * Follows timelines over SSE and WebSockets. Each reader has a cursor and is read to from the record, as fast as it
 * reads: nothing is missed, told twice or held for it. Those who are at the same place share what is read.
 */
export class FloorStreams {
  readonly #options: FloorStreamsOptions;
  readonly #readers = new Set<Reader>();
  readonly #pages = new Map<string, Promise<Page>>();
  readonly #unlisten: () => void;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: FloorStreamsOptions) {
    this.#options = options;
    this.#unlisten = options.events.listen((batch) => {
      const told = batch.filter(({ event }) => event === 'floor:recorded');
      if (told.length === 0) return;
      this.#pages.clear();
      for (const { payload } of told) this.#wake(payload as { sessionId: string; projectKey: string });
    });
    this.#heartbeat = setInterval(() => {
      for (const { sink } of this.#readers) sink.beat();
    }, options.heartbeatMs ?? 15_000);
    this.#heartbeat.unref();
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** Streams from behind a `seq`, or from now on. */
  async overSse(response: ServerResponse, place: FloorPlace, caller: Caller, after?: number): Promise<void> {
    const from = after ?? (await this.#options.reader.head());
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.write(`id: ${from}\n: connected\n\n`);
    const reader = this.#join(place, caller, from, {
      send: ({ frames }) => void response.write(frames),
      drained: () => whenDrained(response, () => response.writableLength),
      beat: () => void response.write(': still here\n\n'),
      end: () => void response.end(': closed\n\n'),
    });
    response.once('close', () => this.#leave(reader));
  }

  overWebSocket(client: WebSocket, place: FloorPlace, caller: Caller, from: number): void {
    const reader = this.#join(place, caller, from, {
      send: ({ texts }) => {
        for (const text of texts) client.send(text, { binary: false });
      },
      drained: () => whenDrained(client, () => client.bufferedAmount),
      beat: () => undefined,
      end: () => client.close(1001, 'the hub is stopping'),
    });
    client.once('close', () => this.#leave(reader));
  }

  head(): Promise<number> {
    return this.#options.reader.head();
  }

  /** Ends the streams of whoever's credential is no longer good. */
  drop(who: Revoked): void {
    for (const reader of this.#readers) if (isRevoked(who, reader.caller)) this.#end(reader);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#unlisten();
    for (const reader of this.#readers) this.#end(reader);
  }

  #join(place: FloorPlace, caller: Caller, cursor: number, sink: Sink): Reader {
    const reader: Reader = { place, caller, sink, cursor, again: false, busy: false, gone: false };
    this.#readers.add(reader);
    this.#pump(reader);
    return reader;
  }

  #leave(reader: Reader): void {
    reader.gone = true;
    this.#readers.delete(reader);
  }

  #end(reader: Reader): void {
    this.#leave(reader);
    reader.sink.end();
  }

  #wake({ sessionId, projectKey }: { readonly sessionId: string; readonly projectKey: string }): void {
    for (const reader of this.#readers) {
      const { place } = reader;
      if ('session' in place ? place.session === sessionId : place.project === projectKey) this.#pump(reader);
    }
  }

  #pump(reader: Reader): void {
    reader.again = true;
    if (reader.busy) return;
    reader.busy = true;
    // A record that cannot be read ends the stream; its reader comes again with its cursor.
    this.#send(reader)
      .catch((error: unknown) => {
        this.#options.log.error('a stream of the floor failed', { error });
        this.#end(reader);
      })
      .finally(() => (reader.busy = false));
  }

  async #send(reader: Reader): Promise<void> {
    while (reader.again && !reader.gone) {
      reader.again = false;
      const page = await this.#read(reader.place, reader.cursor);
      if (reader.gone || page.last === undefined) continue;
      reader.cursor = page.last;
      reader.sink.send(page);
      await reader.sink.drained();
      reader.again ||= page.more;
    }
  }

  #read(place: FloorPlace, after: number): Promise<Page> {
    const key = `${JSON.stringify(place)} ${after}`;
    const known = this.#pages.get(key);
    if (known) return known;
    const read = this.#options.reader.after(place, after, pageSize).then(pageOf);
    this.#pages.set(key, read);
    // Shared while it is read and no longer: what is deleted is shown to nobody afterwards.
    const forget = (): void => {
      if (this.#pages.get(key) === read) this.#pages.delete(key);
    };
    read.then(forget, forget);
    return read;
  }
}

function pageOf({ events, more }: Awaited<ReturnType<FloorReader['after']>>): Page {
  const parts = events.map((event) => {
    const [head, body] = [`id: ${event.seq}\ndata: `, Buffer.from(JSON.stringify(event))];
    return { head: Buffer.from(head), body };
  });
  const frames = Buffer.concat(parts.flatMap(({ head, body }) => [head, body, frameEnd]));
  let at = 0;
  const texts = parts.map(({ head, body }) => {
    const start = at + head.length;
    at = start + body.length + frameEnd.length;
    return frames.subarray(start, start + body.length);
  });
  return { last: events.at(-1)?.seq, more, frames, texts };
}

const frameEnd = Buffer.from('\n\n');

/** What a reader has seen last: a header, or a word of the query. */
export function cursorIn(url: URL, header: string | readonly string[] | undefined): number | undefined {
  const given = header ?? url.searchParams.get('since') ?? undefined;
  if (given === undefined) return undefined;
  if (/^\d{1,15}$/.test(String(given))) return Number(given);
  throw new PolyError(
    'invalid_arguments',
    `"${String(given).slice(0, 40)}" is no seq: Last-Event-ID and since= take a whole number.`,
  );
}

/** Waits while too much is unread; whoever does not read is let go. */
async function whenDrained(
  sink: { once(event: 'close', listener: () => void): unknown; destroy?(): void; terminate?(): void },
  unread: () => number,
): Promise<void> {
  if (unread() <= mostUnread) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const since = performance.now();
  const timer = setInterval(() => {
    if (unread() <= mostUnread) return resolve();
    if (performance.now() - since > patienceMs) (sink.terminate ?? sink.destroy)?.call(sink);
  }, 50);
  sink.once('close', resolve);
  await promise.finally(() => clearInterval(timer));
}
