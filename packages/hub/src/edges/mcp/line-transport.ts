import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers';
import { parseJson } from '../json-body.ts';
import { LineReader } from '../line-reader.ts';
import { lineOf } from './answer-line.ts';
import { farewell, lineProtocol } from './line-protocol.ts';
import { mostCalls, tooManyCalls } from './most-calls.ts';
import type { serveStdio } from './sdk.ts';

type Transport = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>['transport']>;
type Message = Parameters<NonNullable<Transport['onmessage']>>[0];
type Id = string | number;

const welcome = `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${lineProtocol}\r\n\r\n`;
const longestLine = 1024 * 1024;
/** A client that leaves more than this unread is let go: what it does not read would be kept here. */
const mostUnread = 8 * 1024 * 1024;
const greetingMs = 10_000;
const goodbyeMs = 500;

type Farewell = (typeof farewell)[keyof typeof farewell];

/** A conversation of MCP with `poly mcp`: a greeting, then one message of JSON-RPC a line, or one for the bridge. */
export class LineTransport implements Transport {
  readonly #socket: Duplex;
  readonly #early: Message[] = [];
  readonly #running = new Set<Id>();
  #started = false;
  #deaf = false;
  /** What the client said of itself first; fails when that is nothing, or cannot be understood. */
  readonly greeting: Promise<unknown>;
  readonly #ended = new AbortController();
  /** Methods that are answered as if there were none of that name. */
  readonly unknown: Set<string> = new Set();
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];

  /** Takes over a connection on which HTTP was asked to be left; `head` is what came behind that. */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.greeting = promise;
    promise.catch(() => undefined); // Whoever waits for it hears of it, if only a little later.
    const tooLate = setTimeout(() => reject(new Error('no greeting came')), greetingMs).unref();
    let take = (line: Buffer): void => {
      clearTimeout(tooLate);
      take = (next) => this.#take(next);
      try {
        resolve(parseJson('message', line));
      } catch (error) {
        reject(error);
      }
    };
    const lines = new LineReader((line) => {
      if (this.#deaf) return;
      if (line.length > longestLine) void this.close(farewell.tooLarge, 'too large');
      else take(line);
    });
    const read = (chunk: Buffer): void => {
      // Whoever goes on talking is not kept in memory for it.
      if (this.#deaf) return;
      if (lines.push(chunk) > longestLine) void this.close(farewell.tooLarge, 'too large');
    };
    socket.write(welcome);
    socket.on('data', read);
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(tooLate);
      reject(new Error('it went without a greeting'));
      this.#ended.abort();
      this.onclose?.();
    });
    if (head.length > 0) read(head);
  }

  /** Fires when the conversation has ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  async start(): Promise<void> {
    this.#started = true;
    for (const message of this.#early.splice(0)) this.onmessage?.(message);
  }

  async send(message: Message): Promise<void> {
    if ('id' in message && !('method' in message)) this.#running.delete(message.id as Id);
    this.tell(message);
  }

  /** Says something, also what is no message of JSON-RPC: that is for `poly mcp`, which keeps it to itself. */
  tell(something: object): void {
    if (!this.isOpen) return;
    this.#socket.write(lineOf(something));
    if (this.#socket.writableLength > mostUnread) this.terminate();
  }

  /** Says why, and listens no more. */
  async close(code: Farewell = farewell.done, reason = ''): Promise<void> {
    this.#deaf = true;
    this.tell({ end: [code, reason] });
    this.#socket.end();
    // One that does not say goodbye is not waited for.
    setTimeout(() => this.terminate(), goodbyeMs).unref();
  }

  terminate(): void {
    this.#socket.destroy();
  }

  #take(line: Buffer): void {
    let message: unknown;
    try {
      message = parseJson('message', line);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close(farewell.notUnderstood, 'not understood');
      return;
    }
    if (!isMessage(message)) this.#refuse(null, -32_600, 'That is no message of JSON-RPC 2.0.');
    else if (this.#admits(message)) {
      if (this.#started) this.onmessage?.(message);
      else this.#early.push(message);
    }
  }

  /** Whether a message may go on: one call more than may run at once is refused. */
  #admits(message: Message): boolean {
    const { id, method } = message as { readonly id?: Id; readonly method?: string };
    if (method === 'notifications/cancelled') this.#running.delete(cancelledBy(message));
    if (id === undefined || method === undefined) return true;
    if (this.unknown.has(method)) {
      this.#refuse(id, -32_601, 'Method not found');
      return false;
    }
    if (this.#running.has(id)) {
      this.#refuse(
        null,
        -32_600,
        `The call ${JSON.stringify(id)} still runs: one more needs an id of its own.`,
      );
      return false;
    }
    if (this.#running.size >= mostCalls) {
      void this.send(tooManyCalls(id) as Message);
      return false;
    }
    this.#running.add(id);
    return true;
  }

  #refuse(id: Id | null, code: number, text: string): void {
    void this.send({ jsonrpc: '2.0', id, error: { code, message: text } } as Message);
  }
}

function isMessage(given: unknown): given is Message {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  const { jsonrpc, id } = given as { readonly jsonrpc?: unknown; readonly id?: unknown };
  return jsonrpc === '2.0' && (id === undefined || typeof id === 'string' || Number.isInteger(id));
}

function cancelledBy(message: Message): Id {
  return (message as { readonly params?: { readonly requestId?: Id } }).params?.requestId ?? '';
}
