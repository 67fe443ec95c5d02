import { jsonSchemaOf, PolyError, readGiven } from '@polyphony/protocol';
import * as z from 'zod';
import type { Credentials, PageKey } from '../registry/credentials.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import type { Emit } from '../registry/emit.ts';
import type { Registry } from '../registry/registry.ts';
import { eventNameOf } from './http.ts';
import { keyOf } from './idempotency-key.ts';
import { readJson } from './json-body.ts';
import { openApiDocument } from './openapi.ts';
import type { Call, OpenRoute, Route } from './routes.ts';
import type { SseStreams } from './sse.ts';

export interface HubRoutesOptions {
  readonly dispatch: Dispatch;
  readonly registry: Registry;
  readonly emit: Emit;
  readonly streams: SseStreams;
  readonly credentials: Credentials;
  /** The routes that need no credential, to list them with the others. */
  readonly openRoutes: readonly OpenRoute[];
  readonly version: string;
  /** Counts, versions and gauges, for those who have a credential. */
  readonly health: () => Promise<object>;
  readonly warn: (message: string) => void;
  /** Routes of others, for the document that lists all. */
  readonly more: readonly Route[];
}

const ticketRequest = z.strictObject({ kind: z.enum(['events', 'ws', 'ui']) });
const exchangeRequest = z.strictObject({ ticket: z.string().max(128) });
const seqPattern = /^\d{1,15}$/;

/** The routes of the hub itself, as one table. */
export function hubRoutes(options: HubRoutesOptions): readonly Route[] {
  const { dispatch, registry, emit, streams, credentials, version } = options;
  const routes: readonly Route[] = [
    {
      method: 'POST',
      path: '/action/:name',
      summary: 'Runs an action.',
      scope: 'action',
      async handle({ request, caller, signal, name }) {
        return dispatch(name, await readJson(request), { caller, signal, ...keyOf(request) });
      },
    },
    {
      method: 'POST',
      path: '/emit/:event',
      summary: 'Emits an event of any name but a built-in one’s.',
      keyed: true,
      scope: 'events:emit',
      body: z.unknown().describe('The payload: any JSON value.'),
      async handle({ request, caller, name }) {
        const event = eventNameOf(name);
        return emit(event, await readJson(request), { caller, ...keyOf(request) });
      },
    },
    {
      method: 'GET',
      path: '/actions',
      summary: 'Lists every action with its JSON Schemas, scope and effect.',
      scope: 'any',
      handle: () =>
        registry.list().map(({ action, owner }) => ({
          name: action.name,
          summary: action.summary,
          scope: action.scope,
          effect: action.effect,
          owner,
          params: jsonSchemaOf(action.params, 'input'),
          result: jsonSchemaOf(action.result, 'output'),
        })),
    },
    {
      method: 'GET',
      path: '/events',
      summary: 'Streams events as SSE.',
      scope: 'events:read',
      query: {
        include:
          'Which events: exact names, prefix:* and *, with commas between. Without it nothing is sent.',
        since: 'The seq of the last event seen; the header Last-Event-ID says the same.',
        ticket: 'A ticket of kind events, where no header can be sent.',
      },
      async handle(call) {
        const include = call.url.searchParams.get('include') ?? '';
        if (include === '')
          options.warn('an event stream without include= was opened: nothing will be sent on it');
        const after = lastSeen(call);
        await streams.open(call.response, {
          include,
          caller: call.caller,
          ...(after !== undefined && { after }),
        });
        return undefined;
      },
    },
    { method: 'GET', path: '/health', summary: 'Says how the hub is.', scope: 'any', handle: options.health },
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'Answers this document.',
      scope: 'any',
      handle: () => openApiDocument(registry.list(), [...routes, ...options.openRoutes], version),
    },
    {
      method: 'POST',
      path: '/tickets',
      summary: 'Answers a ticket that opens one stream once, within 30 seconds.',
      scope: 'any',
      body: ticketRequest,
      async handle({ request, caller }) {
        const { kind } = readGiven(ticketRequest, await readJson(request), { what: 'the body' });
        return credentials.ticket(kind, caller);
      },
    },
    ...options.more,
  ];
  return routes;
}

/** How the page gets its key; the ticket is all the credential there is. */
export function exchangeRoute(exchange: (ticket: string) => Promise<PageKey>): OpenRoute {
  return {
    method: 'POST',
    path: '/tickets/exchange',
    summary: 'Answers the page’s own key for a ticket of kind ui, or for an invitation.',
    scope: 'open',
    body: exchangeRequest,
    async handle({ request }) {
      const { ticket } = readGiven(exchangeRequest, await readJson(request), {
        what: 'the body',
        hint: 'Say {"ticket": "…"}, with a ticket of kind ui or an invitation.',
        secrets: ['ticket'],
      });
      return exchange(ticket);
    },
  };
}

/** From where on the reader wants events: what it saw last, as a header or, for a first connection, in the query. */
function lastSeen({ request, url }: Call): number | undefined {
  const given = request.headers['last-event-id'] ?? url.searchParams.get('since') ?? undefined;
  if (given === undefined) return undefined;
  if (seqPattern.test(String(given))) return Number(given);
  throw new PolyError(
    'invalid_arguments',
    `"${String(given).slice(0, 40)}" is no seq: Last-Event-ID and since= take a whole number.`,
  );
}
