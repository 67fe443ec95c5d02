import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PolyError, readGiven } from '@polyphony/protocol';
import * as z from 'zod';
import type { Connection } from '../../registry/ask.ts';
import { type Caller, isUser } from '../../registry/caller.ts';
import { readJson } from '../json-body.ts';
import type { Call, Route } from '../routes.ts';
import { ClaudeChannel } from './channel.ts';
import { choiceOf } from './choose-tools.ts';
import { farewell } from './line-protocol.ts';
import type { LineTransport } from './line-transport.ts';
import { RunningCalls, tooManyCalls } from './most-calls.ts';
import type * as Sdk from './sdk.ts';
import { createMcpServer, type McpClient, type McpServerOptions, readersOf } from './server.ts';
import { McpSessions } from './sessions.ts';
import type { TmuxResources } from './tmux/resources.ts';
import { TmuxServers, type TmuxServersOptions } from './tmux/servers.ts';
import type { Choice, McpTool, Place, Toolset } from './tool.ts';

type Handler = ReturnType<typeof Sdk.createMcpHandler>;

/** The toolsets that are loaded with the first client that has one of them. */
const loadedLate: readonly Toolset[] = ['tmux', 'plans', 'operations'];
const clientInfo = 'poly.client';
const mostCallers = 1000;

export interface McpEdgeOptions extends McpServerOptions {
  readonly tmux: TmuxServersOptions;
  readonly passes: Passes;
}

/** How a connection that has registered is known again by the next hub. */
interface Passes {
  passOf(caller: Caller): string | undefined;
  /** Throws where it is not one of ours: who cannot be known again is not the user instead. */
  readPass(pass: string, by: Caller, connection: Omit<Connection, 'become'>): Caller;
}

/** MCP for whoever has a credential: one request at a time over HTTP, or a whole conversation with `poly mcp`. */
export class McpEdge {
  readonly #options: McpEdgeOptions;
  readonly #servers: TmuxServers;
  #tmuxTools: Promise<readonly McpTool[]> | undefined;
  #resources: TmuxResources | undefined;
  #operationTools: Promise<readonly McpTool[]> | undefined;
  /** What is known of callers between two requests of HTTP, which has no conversations. */
  readonly #cursors = new Map<string, Map<string, number>>();
  readonly #running = new RunningCalls();
  readonly #sessions = new McpSessions();
  #handler: Promise<Handler> | undefined;

  constructor(options: McpEdgeOptions) {
    this.#options = options;
    this.#servers = new TmuxServers(options.tmux);
  }

  get route(): Route {
    return {
      method: 'POST',
      path: '/mcp',
      summary: 'Speaks MCP (Streamable HTTP).',
      scope: 'any',
      refusesSilently: true,
      query: {
        toolsets: 'Which tools, with commas between; panes and mail when left out.',
        safety: 'How much they may do: readonly, mutating (when left out) or destructive.',
        operations: 'true: also one tool for each operation of tmux, op_kill_pane for instance.',
        'socket-path': 'The socket of the tmux server that the tools of tmux act on.',
        'socket-name': 'The same by name, as tmux -L takes it.',
        channel: 'true: what comes unasked too; only for poly mcp --channel, which stays connected.',
        'caller-socket': 'false: not on the tmux server the client itself runs in.',
      },
      body: z.unknown().describe('One message of JSON-RPC.'),
      handle: (call) => this.#answer(call),
    };
  }

  /** Takes a conversation: its first line says where the client works, the others are JSON-RPC. */
  serve(transport: LineTransport, caller: Caller, url: URL): void {
    this.#meet(transport, caller, url).catch((error: unknown) => {
      const { message } = error instanceof PolyError ? error : new Error('not understood');
      return transport.close(farewell.refused, message);
    });
  }

  async #meet(transport: LineTransport, caller: Caller, url: URL): Promise<void> {
    const choice = choiceOf(url.searchParams);
    // Before the first message is taken.
    const channel = choice.channel ? new ClaudeChannel(transport) : undefined;
    const sdk = await loadSdk();
    const given = readGiven(greetingSchema, await transport.greeting, { what: 'the first message' });
    const { cursors: known, pass, ...place } = given;
    const more = await this.#toolsFor(choice);
    const cursors = known ? new ToldCursors(known, transport) : new Map<string, number>();
    const { passes } = this.#options;
    const { ended } = transport;
    const client = {
      ...{ choice, more, late: this.#late, place: place as Place, cursors },
      caller: pass === undefined ? caller : passes.readPass(pass, caller, { ended, channel }),
      ...(await this.#readingFor(choice, caller)),
      connection: {
        ended,
        channel,
        become: (agent: Caller) => {
          client.caller = agent;
          if (known) transport.tell({ pass: passes.passOf(agent) });
        },
      },
    };
    // A hub that ends takes its calls with it: those that only look can be asked again.
    if (known) transport.tell({ readers: readersOf(this.#options, client) });
    const create = () => createMcpServer(sdk, this.#options, client);
    sdk.serveStdio(() => channel?.serve(create()) ?? create(), { transport });
  }

  async #answer({ request, response, url, caller: opener, signal }: Call): Promise<undefined> {
    const choice = choiceOf(url.searchParams);
    if (choice.channel)
      throw new PolyError(
        'invalid_arguments',
        'a channel needs a connection that stays, and this has none.',
        {
          hint: 'Use poly mcp --channel.',
        },
      );
    const session = this.#sessions.find(request.headers['mcp-session-id'], opener);
    // A client that is answered so begins anew; some take any other body for the end of everything.
    if (session === 'unknown') return void response.writeHead(404).end();
    const caller = session?.caller ?? opener;
    const client: McpClient = {
      ...{ caller, choice, place: placeIn(request.headers), connection: session },
      cursors: this.#cursorsOf(caller),
      more: await this.#toolsFor(choice),
      late: this.#late,
      ...(await this.#readingFor(choice, caller)),
    };
    const parsedBody = await readJson(request);
    if (methodOf(parsedBody) === 'initialize') response.setHeader('mcp-session-id', this.#sessions.begin());
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    // Without the body, which is handed over beside it as it was read.
    const asked = new Request('http://poly/mcp', { method: 'POST', headers, signal });
    this.#handler ??= this.#createHandler();
    const { fetch } = await this.#handler;
    const authInfo = { token: '', clientId: caller.participant, scopes: [], extra: { [clientInfo]: client } };
    const answered = await this.#running.run(caller.family ?? caller.participant, async () => {
      await send(response, await fetch(asked, { parsedBody, authInfo }));
      return true;
    });
    // As an answer of JSON-RPC: a client shows what it says, and not only a number.
    if (!answered) await send(response, Response.json(tooManyCalls(idOf(parsedBody))));
    return undefined;
  }

  /** Lets go of every tmux server. */
  close(): Promise<void> {
    return this.#servers.close();
  }

  /** Not before somebody asks for them. */
  async #toolsFor({ toolsets }: Pick<Choice, 'toolsets'>): Promise<readonly McpTool[]> {
    if (!loadedLate.some((name) => toolsets.has(name))) return [];
    const tools = import('./tmux/tools.ts');
    this.#tmuxTools ??= tools.then(({ tmuxTools }) => tmuxTools(this.#servers));
    if (!toolsets.has('operations')) return this.#tmuxTools;
    this.#operationTools ??= tools.then(({ toolsOfOperations }) => toolsOfOperations(this.#servers));
    return (await Promise.all([this.#tmuxTools, this.#operationTools])).flat();
  }

  readonly #late = (): Promise<readonly McpTool[]> => this.#toolsFor({ toolsets: new Set(loadedLate) });

  /** Resources and prompts, for the user's own clients that have the tools they speak of. */
  async #readingFor({ toolsets }: Choice, caller: Caller): Promise<Pick<McpClient, 'tmux'>> {
    if (!toolsets.has('tmux') || !isUser(caller)) return {};
    const { TmuxResources, listPrompts, getPrompt } = await import('./tmux/tools.ts');
    this.#resources ??= new TmuxResources(this.#servers);
    return { tmux: { resources: this.#resources, listPrompts, getPrompt } };
  }

  async #createHandler(): Promise<Handler> {
    const sdk = await loadSdk();
    return sdk.createMcpHandler(({ authInfo }) => {
      const client = authInfo?.extra?.[clientInfo] as McpClient | undefined;
      if (!client) throw new PolyError('internal', 'nobody has said who asks.');
      return createMcpServer(sdk, this.#options, client);
    });
  }

  #cursorsOf({ pane, birth, participant }: Caller): Map<string, number> {
    const key = pane ?? birth ?? participant;
    const known = this.#cursors.get(key) ?? new Map<string, number>();
    this.#cursors.delete(key);
    this.#cursors.set(key, known);
    // Whoever has not called for longest is forgotten first.
    const [oldest] = this.#cursors.keys();
    if (this.#cursors.size > mostCallers && oldest !== undefined) this.#cursors.delete(oldest);
    return known;
  }
}

const greetingSchema = z.strictObject({
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  tmux: z.string().optional(),
  tmuxPane: z.string().optional(),
  pane: z.string().optional(),
  conversation: z.strictObject({ vendor: z.string(), conversation: z.string() }).optional(),
  /** What it was told when it registered. */
  pass: z.string().max(256).optional(),
  /** What it was told of its cursors by the hub before this one; nothing if it keeps none. */
  cursors: z.record(z.string(), z.int().min(0)).optional(),
});

/** Where in tmux a client runs that has no process of ours beside it: as it says, in the words of `TMUX` and `TMUX_PANE`. */
function placeIn({ 'x-poly-tmux': tmux, 'x-poly-tmux-pane': tmuxPane }: IncomingHttpHeaders): Place {
  return {
    ...(typeof tmux === 'string' && tmux !== '' && { tmux }),
    ...(typeof tmuxPane === 'string' && tmuxPane !== '' && { tmuxPane }),
  };
}

const methodOf = (message: unknown): unknown => ((message ?? {}) as { readonly method?: unknown }).method;

function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** How far a client has read, which it is told so that it can tell the next hub: a wait goes on where it was. */
class ToldCursors extends Map<string, number> {
  readonly #transport: LineTransport | undefined;

  constructor(known: Readonly<Record<string, number>>, transport: LineTransport) {
    super();
    for (const [name, cursor] of Object.entries(known)) super.set(name, cursor);
    this.#transport = transport;
  }

  override set(name: string, cursor: number): this {
    if (this.get(name) !== cursor) this.#transport?.tell({ cursor: [name, cursor] });
    return super.set(name, cursor);
  }
}

function loadSdk(): Promise<typeof Sdk> {
  return import('./sdk.ts');
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) return void response.end();
  // What is no stream needs none to be sent.
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
    return void response.end(await answer.text());
  // A reader that has gone ends the answer: there is nobody left to tell.
  await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => undefined);
}
