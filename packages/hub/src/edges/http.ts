import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type ErrorInfo,
  errorKinds,
  PolyError,
  refusedEventName,
  type TicketKind,
} from '@polyphony/protocol';
import type { Log } from '../platform/log.ts';
import type { Caller } from '../registry/caller.ts';
import { type Credentials, isRevoked, type Revoked } from '../registry/credentials.ts';
import { type Door, passGate } from './gate.ts';
import { type OpenRoute, type Route, RouteTable } from './routes.ts';

/** What every answer carries: nothing is stored, framed, guessed or read by another page. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** How somebody is told that he is not let in. */
const refusals: ReadonlySet<ErrorInfo['code']> = new Set([
  'unauthenticated',
  'forbidden',
  'too_many_requests',
]);

export interface HttpEdgeOptions {
  readonly credentials: Credentials;
  readonly routes: readonly Route[];
  readonly openRoutes: readonly OpenRoute[];
  readonly log: Log;
  /** Hears how attempts to come in went: whose credential it was, once a connection, and why each was refused that was. */
  readonly onEntry: (attempt: {
    readonly by?: Caller;
    readonly door: string;
    readonly path: string;
    readonly why?: string;
  }) => void;
}

/** Translates HTTP to actions and back, and nothing else. */
export class HttpEdge {
  readonly #options: HttpEdgeOptions;
  readonly #table: RouteTable<Route>;
  readonly #open: RouteTable<OpenRoute>;
  /** The paths where who may not come in is told by a status alone. */
  readonly #silent: ReadonlySet<string>;
  readonly #servers = new Set<Server>();
  readonly #known = new WeakMap<object, Caller>();
  /** Whom an answer is still on its way to. */
  readonly #answering = new Map<ServerResponse, Caller>();

  constructor(options: HttpEdgeOptions) {
    this.#options = options;
    this.#table = new RouteTable(options.routes);
    this.#open = new RouteTable(options.openRoutes);
    this.#silent = new Set(options.routes.filter((route) => route.refusesSilently).map(({ path }) => path));
  }

  /** A server for one door; who listens on it, and where, is the caller's affair. */
  open(doorOf: () => Door): Server {
    const server = createServer({
      // A request that dawdles is let go: Node's own limits are a minute and five.
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16 * 1024,
      keepAliveTimeout: 30_000,
    });
    server.maxHeadersCount = 100;
    server.on('request', (request, response) => void this.#answer(request, response, doorOf()));
    this.#servers.add(server);
    return server;
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.close();
      server.closeIdleConnections();
    }
    const grace = setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections();
    }, 500);
    await Promise.all([...this.#servers].map(closed));
    clearTimeout(grace);
  }

  /** Ends whatever waits for, or is being sent to, somebody whose credential is no longer good. */
  drop(who: Revoked): void {
    for (const [response, caller] of this.#answering)
      if (isRevoked(who, caller) && !response.writableEnded) response.destroy();
  }

  /** Who sent this, by a credential or by a ticket of a kind; throws when it passes neither the gate nor a credential. */
  identify(request: IncomingMessage, url: URL, door: Door, kind?: TicketKind): Caller {
    try {
      passGate(request, door);
      return this.#callerOf(request, url, door, kind);
    } catch (error) {
      this.#tellRefused(url, door, error);
      throw error;
    }
  }

  #callerOf(request: IncomingMessage, url: URL, door: Door, kind?: TicketKind): Caller {
    const { credentials, onEntry } = this.#options;
    const ticket = kind && url.searchParams.get('ticket');
    const caller =
      kind && ticket ? credentials.redeem(ticket, kind) : credentials.identify(bearerOf(request));
    const claimed = request.headers['x-poly-pane'];
    if (claimed !== undefined && claimed !== caller.pane) {
      throw new PolyError(
        'forbidden',
        `x-poly-pane says "${String(claimed).slice(0, 80)}", the credential does not.`,
      );
    }
    if (this.#known.get(request.socket) !== caller)
      onEntry({ by: caller, door: door.kind, path: url.pathname });
    this.#known.set(request.socket, caller);
    return caller;
  }

  #tellRefused({ pathname }: URL, { kind }: Door, error: unknown): void {
    if (error instanceof PolyError && refusals.has(error.code))
      this.#options.onEntry({ door: kind, path: pathname.slice(0, 256), why: error.message });
  }

  async #answer(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    const gone = new AbortController();
    response.once('close', () => {
      this.#answering.delete(response);
      // Whoever has its answer is not gone; to abort costs as much as the rest of a call.
      if (!response.writableFinished) gone.abort();
    });
    let url: URL | undefined;
    let isIn = false;
    try {
      url = urlOf(request);
      passGate(request, door);
      const looks = request.method === 'GET' || request.method === 'HEAD';
      if (looks && url.pathname === '/health' && request.headers.authorization === undefined)
        return sendJson(response, 200, { status: 'ok' });
      const open = this.#open.find(url.pathname);
      const openRoute = open?.methods.get(request.method ?? '');
      if (open && openRoute) {
        const { names } = open;
        const call = { request, response, url, name: names[0] ?? '', names, signal: gone.signal };
        const answer = await openRoute.handle(call);
        if (answer !== undefined) sendJson(response, 200, answer);
        return;
      }
      const isStream = request.method === 'GET' && /\/events$/.test(url.pathname);
      const caller = this.#callerOf(request, url, door, isStream ? 'events' : undefined);
      isIn = true;
      this.#answering.set(response, caller);
      const { route, names } = this.#find(request, url);
      if (route.scope !== 'action' && route.scope !== 'any' && !caller.scopes.has(route.scope)) {
        throw new PolyError('forbidden', `${request.method} ${url.pathname} needs the scope ${route.scope}.`);
      }
      const name = names[0] ?? '';
      const answer = await route.handle({ request, response, url, caller, name, names, signal: gone.signal });
      if (answer !== undefined) sendJson(response, route.status ?? 200, answer);
    } catch (error) {
      if (url && !isIn) this.#tellRefused(url, door, error);
      await this.#fail(request, response, error);
    }
  }

  #find(request: IncomingMessage, url: URL): { readonly route: Route; readonly names: readonly string[] } {
    const found = this.#table.find(url.pathname);
    const methods = found?.methods ?? this.#open.find(url.pathname)?.methods;
    if (!methods)
      throw new PolyError('unknown_route', `there is no ${url.pathname.slice(0, 128)}.`, {
        hint: 'GET /openapi.json lists every route.',
      });
    const route = found?.methods.get(request.method ?? '');
    if (found && route) return { route, names: found.names };
    throw new PolyError(
      'method_not_allowed',
      `${url.pathname} takes ${[...methods.keys()].join(', ')}, not ${request.method}.`,
    );
  }

  async #fail(request: IncomingMessage, response: ServerResponse, error: unknown): Promise<void> {
    if (request.destroyed && !request.complete) return; // Whoever asked has gone in the middle of it.
    const info = infoOf(error);
    if (info.code === 'internal')
      this.#options.log.error(`${request.method} ${request.url} failed`, { error });
    if (response.headersSent) return void response.destroy();
    // A sender that is cut off in the middle does not get to see the answer, so that it may finish within reason.
    if (!request.complete && !(await swallow(request))) response.setHeader('connection', 'close');
    const { status } = errorKinds[info.code];
    if (keptOut.has(status) && this.#silent.has(pathOf(request))) response.writeHead(status).end();
    else sendJson(response, status, { error: info });
  }
}

/** No credential, not allowed, not this method. */
const keptOut: ReadonlySet<number> = new Set([401, 403, 405]);

export function eventNameOf(name: string): string {
  const refused = refusedEventName(name);
  if (refused) throw new PolyError('invalid_arguments', refused);
  return name;
}

function bearerOf({ headers }: IncomingMessage): string {
  const [, token] = /^Bearer ([\w.~+/-]{1,512}=*)$/.exec(headers.authorization ?? '') ?? [];
  if (token) return token;
  throw new PolyError('unauthenticated', 'no credential was given.', {
    hint: 'Send Authorization: Bearer <token>; the token is in the file "token" of the hub’s home.',
  });
}

const pathOf = ({ url = '/' }: IncomingMessage): string => URL.parse(url, 'http://poly')?.pathname ?? '';

function urlOf({ url = '/' }: IncomingMessage): URL {
  const parsed = URL.parse(url, 'http://poly');
  if (parsed) return parsed;
  throw new PolyError('invalid_request', `"${url.slice(0, 128)}" is no path.`);
}

function infoOf(error: unknown): ErrorInfo {
  if (error instanceof PolyError) return error.info;
  if (error instanceof URIError)
    return { code: 'invalid_request', message: 'the path is not encoded right.' };
  return { code: 'internal', message: 'something went wrong inside the hub; its log knows more.' };
}

const mostSwallowed = 16 * 1024 * 1024;

/** Reads what is still being sent, and forgets it; answers whether it came to its end. */
async function swallow(request: IncomingMessage): Promise<boolean> {
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostSwallowed) return false;
    }
  } catch {
    return false; // It broke off, or somebody had begun to read it.
  }
  return request.complete;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.once('close', resolve).listening || resolve());
}
