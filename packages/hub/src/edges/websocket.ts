import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorKinds, PolyError } from '@polyphony/protocol';
import type { WebSocket, WebSocketServer } from 'ws';
import { type Caller, sharersWith } from '../registry/caller.ts';
import { type Credentials, isRevoked, type Revoked } from '../registry/credentials.ts';
import { cursorIn, type FloorStreams } from './floor-streams.ts';
import type { McpEdge } from './mcp/edge.ts';
import { farewell, lineProtocol } from './mcp/line-protocol.ts';
import { LineTransport } from './mcp/line-transport.ts';
import { floorPlace } from './project-routes.ts';
import type { Route } from './routes.ts';
import { WebSocketConnection, type WebSocketConnectionOptions } from './websocket-connection.ts';

export interface WebSocketEdgeOptions extends WebSocketConnectionOptions {
  readonly mcp: McpEdge;
  readonly floorStreams: FloorStreams;
  readonly credentials: Credentials;
  /** A client that has not answered for so long, once or twice, is gone. */
  readonly heartbeatMs?: number;
}

type Identify = (request: IncomingMessage, url: URL) => Caller;

/** What only a WebSocket opens, listed with the other routes. */
export const webSocketRoutes: readonly Route[] = (
  [
    ['/ws', 'any', 'Opens terminals as a WebSocket.'],
    ['/projects/:project/ws', 'floor:read', 'Streams events of a project as a WebSocket.'],
    ['/projects/:project/sessions/:session/ws', 'floor:read', 'Streams events of a session as a WebSocket.'],
  ] as const
).map(([path, scope, summary]) => ({
  ...{ method: 'GET', path, scope, summary, status: 101 },
  query: { ticket: 'A ticket of kind ws, where no header can be sent.' },
  handle({ url }) {
    throw new PolyError('invalid_request', `${url.pathname} is opened as a WebSocket, by an upgrade.`);
  },
}));

const floorPath = /^\/projects\/([^/]+)(?:\/sessions\/([^/]+))?\/ws$/;
const largestMessage = 1024 * 1024;
const mostOfFamily = 64;
/** How long a client that is let go may take to say goodbye. */
const goodbyeMs = 500;

/** The door for those who stay, at `/ws`, `/mcp` and timelines: who may come in, who is in, and who has gone without a word. */
export class WebSocketEdge {
  readonly #options: WebSocketEdgeOptions;
  #sockets: Promise<WebSocketServer> | undefined;
  readonly #callers = new Map<WebSocket | LineTransport, Caller>();
  /** Those who have given a sign of life since they were last asked. */
  readonly #alive = new WeakSet<WebSocket>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: WebSocketEdgeOptions) {
    this.#options = options;
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs ?? 15_000);
    this.#heartbeat.unref();
  }

  /** Takes the upgrades of a server, once `identify` has said who asks. */
  serve(server: Server, identify: Identify): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.#take(request, socket, head, identify).catch((error: unknown) => refuse(socket, error));
    });
  }

  /** Ends the connections of somebody whose credential is no longer good. */
  drop(who: Revoked): void {
    for (const [client, caller] of this.#callers) {
      if (!isRevoked(who, caller)) continue;
      // Whatever it says now counts no more, also if it does not care.
      void client.close(farewell.refused, 'the credential was revoked');
      if (client instanceof LineTransport) continue;
      client.pause();
      setTimeout(() => client.terminate(), goodbyeMs).unref();
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#callers.keys()) void client.close(farewell.stopping, 'the hub is stopping');
  }

  async #take(request: IncomingMessage, socket: Duplex, head: Buffer, identify: Identify): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://poly');
    const caller = identify(request, url);
    const speaks = request.headers.upgrade?.toLowerCase();
    if (speaks === lineProtocol) return this.#converse(url, socket, head, caller);
    const meet = await this.#meetingAt(url, caller);
    if (!meet) throw new PolyError('unknown_route', `there is no WebSocket at ${url.pathname}.`);
    this.#sockets ??= createServer();
    const sockets = await this.#sockets;
    this.#share(caller);
    // What was awaited may have outlasted the credential.
    if (!this.#options.credentials.holds(caller))
      throw new PolyError('unauthenticated', 'the credential was revoked.');
    sockets.handleUpgrade(request, socket, head, (client) => {
      this.#callers.set(client, caller);
      this.#alive.add(client);
      client.on('pong', () => this.#alive.add(client));
      client.on('close', () => this.#callers.delete(client));
      client.on('error', (error) => this.#options.log.info('a WebSocket failed', { error }));
      meet(client);
    });
  }

  /** Takes `poly mcp`, which speaks by lines: a frame around each would cost both ends as much as what is in it. */
  #converse(url: URL, socket: Duplex, head: Buffer, caller: Caller): void {
    if (url.pathname !== '/mcp')
      throw new PolyError('unknown_route', `nobody speaks ${lineProtocol} at ${url.pathname}.`);
    this.#share(caller);
    const client = new LineTransport(socket, head);
    this.#callers.set(client, caller);
    client.ended.addEventListener('abort', () => this.#callers.delete(client));
    this.#options.mcp.serve(client, caller, url);
  }

  /** What is spoken at a path. */
  async #meetingAt(url: URL, caller: Caller): Promise<((client: WebSocket) => void) | undefined> {
    if (url.pathname === '/ws')
      return (client) => void new WebSocketConnection(client, caller, this.#options);
    return this.#floorAt(url, caller);
  }

  /** A timeline, from behind the `seq` that its reader has seen last; all that may be refused is refused before. */
  async #floorAt(url: URL, caller: Caller): Promise<((client: WebSocket) => void) | undefined> {
    const [, project, session] = floorPath.exec(url.pathname) ?? [];
    if (project === undefined) return undefined;
    const { dispatch, floorStreams } = this.#options;
    const names = [project, ...(session === undefined ? [] : [session])].map(decodeURIComponent);
    const place = await floorPlace(dispatch, caller, names, AbortSignal.timeout(30_000));
    const from = cursorIn(url, undefined) ?? (await floorStreams.head());
    return (client) => floorStreams.overWebSocket(client, place, caller, from);
  }

  /** Refuses a family of panes, or an invited person, with too many connections. */
  #share(caller: Caller): void {
    const { family } = caller;
    if (family === undefined) return;
    const open = [...this.#callers.values()].filter((one) => one.family === family);
    if (open.length < mostOfFamily) return;
    throw new PolyError(
      'too_many_requests',
      `${mostOfFamily} connections of ${sharersWith(caller)} are open already.`,
      {
        hint: 'Close one.',
      },
    );
  }

  #beat(): void {
    for (const client of this.#callers.keys()) {
      if (client instanceof LineTransport) continue; // It is on this machine: when it goes, the connection does.
      if (!this.#alive.delete(client)) client.terminate();
      else client.ping();
    }
  }
}

/** Not before somebody comes: a hub that nobody looks at should not carry it. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, maxPayload: largestMessage, perMessageDeflate: false });
}

function refuse(socket: Duplex, error: unknown): void {
  const info =
    error instanceof PolyError
      ? error.info
      : { code: 'invalid_request' as const, message: 'not understood.' };
  const body = JSON.stringify({ error: info });
  const head = `HTTP/1.1 ${errorKinds[info.code].status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  // Nobody else would: a server of Node lets go of a connection that asks to leave HTTP.
  setTimeout(() => socket.destroy(), goodbyeMs).unref();
}
