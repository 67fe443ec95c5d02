import type { ServerResponse } from 'node:http';
import { EventFilter, type PolyEvent } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Caller } from '../registry/caller.ts';
import { isRevoked, type Revoked } from '../registry/credentials.ts';

export interface SseOptions {
  readonly events: EventLog;
  /** What somebody may see of an event; nothing when it is not his business. */
  readonly view: (caller: Caller, event: PolyEvent) => PolyEvent | undefined;
  readonly heartbeatMs?: number;
  /** A reader with more than this unread is dropped. */
  readonly maxUnread?: number;
}

export interface Subscription {
  readonly include: string;
  readonly caller: Caller;
  /** The last event the reader has seen; without it the stream begins now. */
  readonly after?: number;
}

/** So few events are read at a time, since each may have a megabyte. */
const page = 16;
/** How much of what a reader has missed is written before it must have read that. */
const mostAhead = 256 * 1024;
/** What readers of different things may have unread together; those of the same share it. */
const mostTogether = 32 * 1024 * 1024;
/** How long a reader may take for one page of what it missed. */
const patienceMs = 30_000;
const dropped = ': dropped, because you read too slowly; connect again with your Last-Event-ID\n\n';

/** Readers that want the same events share one encoding and one buffer a tick. */
interface Group {
  readonly caller: Revoked;
  readonly wants: (event: PolyEvent) => PolyEvent | undefined;
  readonly readers: Set<ServerResponse>;
  pending: string;
}

/** Streams the log to many readers; one that does not read costs nobody else anything. */
export class SseStreams {
  readonly #events: EventLog;
  readonly #view: SseOptions['view'];
  readonly #maxUnread: number;
  readonly #groups = new Map<string, Group>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #unlisten: () => void;
  #flushing = false;

  constructor({ events, view, heartbeatMs = 15_000, maxUnread = 1024 * 1024 }: SseOptions) {
    this.#events = events;
    this.#view = view;
    this.#maxUnread = maxUnread;
    this.#unlisten = events.listen((batch) => this.#take(batch));
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  get readers(): number {
    return [...this.#groups.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  async open(response: ServerResponse, { include, caller, after }: Subscription): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    // Where the stream begins, so that a reader who has seen nothing yet knows what to ask for after a loss.
    response.write(after === undefined ? `id: ${this.#events.head}\n: connected\n\n` : ': connected\n\n');
    const filter = new EventFilter(include);
    const wants: Group['wants'] = (event) =>
      filter.matches(event.event) ? this.#view(caller, event) : undefined;
    if (after !== undefined && !(await this.#replay(response, wants, after))) return;
    // Nothing can be committed between the last page and here: no await stands in between.
    this.#join(response, `${caller.birth ?? caller.participant}\n${filter.patterns.join()}`, {
      caller,
      wants,
    });
  }

  /** Ends the streams of somebody whose credential is no longer good. */
  drop(who: Revoked): void {
    for (const group of this.#groups.values()) {
      if (isRevoked(who, group.caller))
        for (const reader of group.readers) this.#drop(group, reader, ': closed\n\n');
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#unlisten();
    for (const { readers } of this.#groups.values()) for (const reader of readers) reader.end();
    this.#groups.clear();
  }

  /** Writes what the reader has missed; answers whether it is still there. */
  async #replay(response: ServerResponse, wants: Group['wants'], after: number): Promise<boolean> {
    const { first, last } = await this.#events.bounds();
    let cursor = after;
    if (after < first - 1 || after > last) {
      cursor = last;
      response.write(`id: ${last}\nevent: reset\ndata: ${JSON.stringify({ first, last })}\n\n`);
    }
    let limit = 1;
    while (cursor < this.#events.head) {
      const { text, ...next } = await this.#readSome(wants, cursor, limit);
      ({ cursor, limit } = next);
      if (text !== '' && !response.write(text)) await drained(response);
      if (response.destroyed) return false;
    }
    return true;
  }

  /** The next events and how many to read then. What is too much is read again later: nothing is held for who does not read. */
  async #readSome(
    wants: Group['wants'],
    after: number,
    limit: number,
  ): Promise<{ readonly text: string; readonly cursor: number; readonly limit: number }> {
    const events = await this.#events.read(after, limit);
    let text = '';
    let taken = 0;
    for (const event of events) {
      if (text.length > mostAhead) break;
      const seen = wants(event);
      if (seen) text += encode(seen);
      taken++;
    }
    const cursor = events[taken - 1]?.seq ?? this.#events.head;
    return { text, cursor, limit: taken < events.length ? taken : Math.min(page, limit * 2) };
  }

  #join(response: ServerResponse, key: string, wish: Pick<Group, 'caller' | 'wants'>): void {
    const group = this.#groups.get(key) ?? { ...wish, readers: new Set(), pending: '' };
    // What the group has not written yet, the newcomer has already read.
    if (group.pending !== '') this.#flush(group);
    this.#groups.set(key, group);
    group.readers.add(response);
    response.once('close', () => {
      group.readers.delete(response);
      if (group.readers.size === 0) this.#groups.delete(key);
    });
  }

  #take(batch: readonly PolyEvent[]): void {
    if (this.#groups.size === 0) return;
    const frames = batch.map(encode);
    for (const group of this.#groups.values()) {
      for (const [index, event] of batch.entries()) {
        const seen = group.wants(event);
        if (seen) group.pending += seen === event ? frames[index] : encode(seen);
      }
    }
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      for (const group of this.#groups.values()) if (group.pending !== '') this.#flush(group);
    });
  }

  #flush(group: Group): void {
    const chunk = Buffer.from(group.pending);
    group.pending = '';
    const most = Math.min(this.#maxUnread, mostTogether / this.#groups.size);
    for (const reader of group.readers) {
      if (reader.writableLength + chunk.length <= most || reader.writableLength === 0) reader.write(chunk);
      else this.#drop(group, reader);
    }
  }

  #drop(group: Group, reader: ServerResponse, reason = dropped): void {
    group.readers.delete(reader);
    reader.end(reason);
    setTimeout(() => reader.destroy(), 1000).unref();
  }

  #beat(): void {
    for (const { readers } of this.#groups.values())
      for (const reader of readers) reader.write(': still here\n\n');
  }
}

function encode(event: PolyEvent): string {
  return `id: ${event.seq}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
}

function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => response.destroy(), patienceMs);
  const done = (): void => {
    clearTimeout(timer);
    response.off('drain', done).off('close', done);
    resolve();
  };
  response.on('drain', done).on('close', done);
  return promise;
}
