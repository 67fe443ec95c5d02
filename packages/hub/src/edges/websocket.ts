import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorKinds, type PaneInfo, PolyError } from '@polyphony/protocol';
import type { WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod';
import type { Log } from '../platform/log.ts';
import type { Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';

/** Bytes of a pane from an absolute offset on; what is no longer kept is a gap. */
interface OutputChunk {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** What the socket does with panes; who may is asked first. */
export interface PaneStreams {
  list(caller: Caller): Promise<readonly PaneInfo[]>;
  /** Throws unless the caller may do this with the pane; the user may have to be asked. */
  permit(action: 'pane:read' | 'pane:write' | 'pane:resize', params: object, asker: Asker): Promise<void>;
  follow(paneId: string, from: number, signal: AbortSignal): AsyncIterable<OutputChunk>;
  type(paneId: string, data: string): Promise<void>;
  resize(paneId: string, cols: number, rows: number): Promise<void>;
  /** Hears of every pane the caller may see that changed. */
  onUpdate(caller: Caller, listener: (pane: PaneInfo) => void): () => void;
}

export interface WebSocketEdgeOptions {
  readonly panes: PaneStreams;
  readonly log: Log;
}

const sessionId = z.string();
const incoming = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('session_list') }),
  z.strictObject({
    type: z.literal('subscribe'),
    sessionId,
    from: z.int().min(0).optional(),
    binary: z.literal(true),
  }),
  z.strictObject({ type: z.literal('unsubscribe'), sessionId }),
  z.strictObject({ type: z.literal('input'), sessionId, data: z.string() }),
  z.strictObject({ type: z.literal('resize'), sessionId, cols: z.int(), rows: z.int() }),
]);
type Incoming = z.infer<typeof incoming>;

const largestMessage = 1024 * 1024;
/** A reader with more than this unread makes its own stream wait, and nobody else's. */
const mostUnread = 1024 * 1024;
const headerBytes = 12;

/** Terminals over WebSocket: output as resumable binary frames, input as it is typed. */
export class WebSocketEdge {
  readonly #options: WebSocketEdgeOptions;
  #sockets: Promise<WebSocketServer> | undefined;
  readonly #callers = new Map<WebSocket, Caller>();

  constructor(options: WebSocketEdgeOptions) {
    this.#options = options;
  }

  /** Takes the upgrades of a server, once `identify` has said who asks. */
  serve(server: Server, identify: (request: IncomingMessage, url: URL) => Caller): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.#take(request, socket, head, identify).catch((error: unknown) => refuse(socket, error));
    });
  }

  async #take(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    identify: (request: IncomingMessage, url: URL) => Caller,
  ): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://poly');
    const caller = identify(request, url);
    if (url.pathname !== '/ws')
      throw new PolyError('unknown_route', `there is no WebSocket at ${url.pathname}.`);
    this.#sockets ??= createServer();
    const sockets = await this.#sockets;
    sockets.handleUpgrade(request, socket, head, (client) => {
      this.#callers.set(client, caller);
      client.on('close', () => this.#callers.delete(client));
      new Connection(client, caller, this.#options);
    });
  }

  /** Ends the connections of a pane whose credential is no longer good. */
  drop(pane: string): void {
    for (const [client, caller] of this.#callers)
      if (caller.pane === pane) client.close(1008, 'the credential was revoked');
  }

  close(): void {
    for (const client of this.#callers.keys()) client.close(1001, 'the hub is stopping');
  }
}

/** Not before somebody comes: a hub that nobody looks at should not carry it. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, maxPayload: largestMessage, perMessageDeflate: false });
}

class Connection {
  readonly #client: WebSocket;
  readonly #caller: Caller;
  readonly #panes: PaneStreams;
  readonly #log: Log;
  readonly #followed = new Map<string, AbortController>();
  readonly #gone = new AbortController();
  #handles = 0;

  constructor(client: WebSocket, caller: Caller, { panes, log }: WebSocketEdgeOptions) {
    this.#client = client;
    this.#caller = caller;
    this.#panes = panes;
    this.#log = log;
    const unlisten = panes.onUpdate(caller, (session) => this.#send({ type: 'session_update', session }));
    let turn = Promise.resolve();
    client.on('message', (data, binary) => {
      turn = turn.then(() => this.#take(binary ? undefined : String(data)));
    });
    client.on('close', () => {
      unlisten();
      this.#gone.abort();
      for (const following of this.#followed.values()) following.abort();
    });
    client.on('error', (error) => log.info('a WebSocket failed', { error }));
    turn = turn.then(() => this.#take('{"type":"session_list"}'));
  }

  async #take(text: string | undefined): Promise<void> {
    try {
      await this.#handle(parse(text));
    } catch (error) {
      const info =
        error instanceof PolyError
          ? error.info
          : { code: 'internal', message: 'something went wrong inside the hub.' };
      if (info.code === 'internal') this.#log.error('a WebSocket message failed', { error });
      this.#send({ type: 'error', ...info });
    }
  }

  async #handle(message: Incoming): Promise<void> {
    if (message.type === 'session_list') {
      return this.#send({ type: 'session_list', sessions: await this.#panes.list(this.#caller) });
    }
    const paneId = message.sessionId;
    const asker: Asker = { caller: this.#caller, signal: this.#gone.signal };
    switch (message.type) {
      case 'subscribe':
        await this.#panes.permit('pane:read', { paneId }, asker);
        return this.#subscribe(paneId, message.from ?? 0);
      case 'unsubscribe':
        this.#followed.get(paneId)?.abort();
        this.#followed.delete(paneId);
        return this.#send({ type: 'unsubscribed', sessionId: paneId });
      case 'input':
        await this.#panes.permit('pane:write', { paneId, data: message.data }, asker);
        return this.#panes.type(paneId, message.data);
      case 'resize': {
        const { cols, rows } = message;
        await this.#panes.permit('pane:resize', { paneId, cols, rows }, asker);
        return this.#panes.resize(paneId, cols, rows);
      }
    }
  }

  #subscribe(paneId: string, from: number): void {
    this.#followed.get(paneId)?.abort();
    const following = new AbortController();
    this.#followed.set(paneId, following);
    const handle = ++this.#handles;
    this.#send({ type: 'subscribed', sessionId: paneId, handle });
    void this.#pump(paneId, handle, from, following.signal);
  }

  async #pump(paneId: string, handle: number, from: number, signal: AbortSignal): Promise<void> {
    try {
      for await (const { offset, bytes } of this.#panes.follow(paneId, from, signal)) {
        const frame = Buffer.allocUnsafe(headerBytes + bytes.length);
        frame.writeUInt32BE(handle, 0);
        frame.writeBigUInt64BE(BigInt(offset), 4);
        frame.set(bytes, headerBytes);
        await this.#sendBytes(frame);
      }
    } catch (error) {
      if (!signal.aborted)
        this.#send({
          type: 'error',
          code: 'internal',
          message: String((error as Error).message),
          sessionId: paneId,
        });
    }
  }

  async #sendBytes(frame: Buffer): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#client.send(frame, () => resolve()); // A closed socket ends the stream by its own event.
    if (this.#client.bufferedAmount > mostUnread) await promise;
  }

  #send(message: object): void {
    if (this.#client.bufferedAmount > mostUnread)
      this.#client.close(1013, 'you read too slowly; connect again');
    else this.#client.send(JSON.stringify(message), () => undefined);
  }
}

function parse(text: string | undefined): Incoming {
  if (text === undefined) throw new PolyError('invalid_request', 'a message is JSON text, not bytes.');
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    throw new PolyError('invalid_request', 'the message is not JSON.', { cause });
  }
  const parsed = incoming.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new PolyError('invalid_arguments', `the message is not understood: ${z.prettifyError(parsed.error)}`);
}

function refuse(socket: Duplex, error: unknown): void {
  const info =
    error instanceof PolyError
      ? error.info
      : { code: 'invalid_request' as const, message: 'not understood.' };
  const body = JSON.stringify({ error: info });
  const head = `HTTP/1.1 ${errorKinds[info.code].status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
