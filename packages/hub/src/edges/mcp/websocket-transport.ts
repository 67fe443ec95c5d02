import type { RawData, WebSocket } from 'ws';
import { parseJson } from '../json-body.ts';
import type { serveStdio } from './sdk.ts';

type Transport = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>['transport']>;
type Message = Parameters<NonNullable<Transport['onmessage']>>[0];

/** A conversation of MCP over a WebSocket: a greeting, then one message of JSON-RPC a frame. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #early: unknown[] = [];
  #started = false;
  /** What the client said of itself first. */
  readonly greeting: Promise<unknown>;
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.greeting = new Promise((resolve) => {
      socket.once('message', (data) => {
        resolve(read(data));
        socket.on('message', (more) => this.#take(more));
      });
    });
    socket.on('close', () => this.onclose?.());
  }

  async start(): Promise<void> {
    this.#started = true;
    for (const message of this.#early.splice(0)) this.onmessage?.(message as Message);
  }

  async send(message: Message): Promise<void> {
    this.#socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.#socket.close(1000);
  }

  #take(data: RawData): void {
    try {
      const message = read(data);
      if (this.#started) this.onmessage?.(message as Message);
      else this.#early.push(message);
    } catch (error) {
      this.onerror?.(error as Error);
      this.#socket.close(1007, 'not understood');
    }
  }
}

function read(data: RawData): unknown {
  return parseJson('message', data as Buffer);
}
