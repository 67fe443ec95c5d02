import { setTimeout } from 'node:timers';
import type { RawData, WebSocket } from 'ws';
import { parseJson } from '../json-body.ts';
import { lineOf } from './answer-line.ts';
import { mostCalls, tooManyCalls } from './most-calls.ts';
import type { serveStdio } from './sdk.ts';

type Transport = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>['transport']>;
type Message = Parameters<NonNullable<Transport['onmessage']>>[0];
type Id = string | number;

/** A client that leaves more than this unread is let go: what it does not read would be kept here. */
const mostUnread = 8 * 1024 * 1024;
const greetingMs = 10_000;

/** A conversation of MCP over a WebSocket: a greeting, then one message of JSON-RPC a frame, or one for the bridge. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #early: Message[] = [];
  readonly #running = new Set<Id>();
  #started = false;
  /** What the client said of itself first; fails when that is nothing, or cannot be understood. */
  readonly greeting: Promise<unknown>;
  readonly #ended = new AbortController();
  /** Methods that are answered as if there were none of that name. */
  readonly unknown: Set<string> = new Set();
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.greeting = promise;
    const tooLate = setTimeout(() => reject(new Error('no greeting came')), greetingMs).unref();
    socket.once('message', (data) => {
      clearTimeout(tooLate);
      socket.on('message', (more) => this.#take(more));
      try {
        resolve(read(data));
      } catch (error) {
        reject(error);
      }
    });
    socket.on('close', () => {
      clearTimeout(tooLate);
      this.#ended.abort();
      this.onclose?.();
    });
  }

  /** Fires when the conversation has ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
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
    this.#socket.send(lineOf(something));
    if (this.#socket.bufferedAmount > mostUnread) this.#socket.terminate();
  }

  async close(): Promise<void> {
    this.#socket.close(1000);
  }

  #take(data: RawData): void {
    let message: unknown;
    try {
      message = read(data);
    } catch (error) {
      this.onerror?.(error as Error);
      this.#socket.close(1007, 'not understood');
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

function read(data: RawData): unknown {
  return parseJson('message', data as Buffer);
}
