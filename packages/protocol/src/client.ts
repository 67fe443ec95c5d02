import type { ActionName, ParamsOf, ResultOf } from './actions.ts';
import { PolyError } from './error.ts';

export interface HubRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HubResponse {
  readonly status: number;
  readonly body: string;
}

/** Carries one request to the hub, by a socket, by `fetch`, or however a runtime can. */
export type Transport = (request: HubRequest) => Promise<HubResponse>;

export interface ClientOptions {
  readonly transport: Transport;
  readonly token: string;
}

/** What a single-use ticket opens: a stream of events, a WebSocket, or the page. */
export type TicketKind = 'events' | 'ws' | 'ui';

export interface Ticket {
  readonly ticket: string;
  readonly expiresAt: string;
}

export interface CallOptions {
  /** Repeating a call with the same key is safe: the first answer is given again. */
  readonly idempotencyKey?: string;
}

/**
 * The hub as typed calls.
 *
 * @example const { id } = await createClient({ transport, token }).call('pane:new', { argv: ['top'] });
 */
export interface Client {
  call<Name extends ActionName>(
    name: Name,
    params: ParamsOf<Name>,
    options?: CallOptions,
  ): Promise<ResultOf<Name>>;
  /** An action that only the running hub knows, an extension's for instance. */
  call(name: string, params: unknown, options?: CallOptions): Promise<unknown>;
  emit(event: string, payload: unknown, options?: CallOptions): Promise<{ readonly seq: number }>;
  get(path: string): Promise<unknown>;
  /** What opens something once, where no header can be sent. */
  ticket(kind: TicketKind): Promise<Ticket>;
}

export function createClient({ transport, token }: ClientOptions): Client {
  async function send(
    method: HubRequest['method'],
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ) {
    const response = await transport({
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return readAnswer(response);
  }
  const post = (path: string, body: unknown, { idempotencyKey }: CallOptions = {}): Promise<unknown> =>
    send('POST', path, body, idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey });
  return {
    call: (name: string, params: unknown, options?: CallOptions) =>
      post(`/action/${encodeURIComponent(name)}`, params, options) as Promise<never>,
    emit: (event, payload, options) =>
      post(`/emit/${encodeURIComponent(event)}`, payload, options) as Promise<{ seq: number }>,
    get: (path) => send('GET', path),
    ticket: (kind) => send('POST', '/tickets', { kind }) as Promise<Ticket>,
  };
}

function readAnswer({ status, body }: HubResponse): unknown {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (cause) {
    throw new PolyError('unreachable', `what answered (${status}) is no hub: ${body.slice(0, 80)}`, {
      cause,
    });
  }
  if (status >= 200 && status < 300) return answer;
  const { error } = answer as { error?: Parameters<typeof PolyError.from>[0] };
  throw error
    ? PolyError.from(error)
    : new PolyError('internal', `the hub answered ${status} without saying why.`);
}
