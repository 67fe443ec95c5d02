import { inAgentWords, PolyError, withFullStop } from '@polyphony/protocol';
import type { Connection } from '../../registry/ask.ts';
import { type Caller, isUser } from '../../registry/caller.ts';
import type { Dispatch } from '../../registry/dispatch.ts';
import type { Registered } from '../../registry/registry.ts';
import { actionTools } from './action-tools.ts';
import { channelCapability } from './channel.ts';
import { chooseTools } from './choose-tools.ts';
import { mcpFloorTools } from './floor-tools.ts';
import { instructionsFor } from './instructions.ts';
import { mcpMailTools } from './mail-tools.ts';
import { noSuchTool, notForYou } from './no-such-tool.ts';
import { mcpPaneTools } from './pane-tools.ts';
import type * as Sdk from './sdk.ts';
import { isShort, shorten } from './shorten.ts';
import { sparePane } from './spare-pane.ts';
import type { getPrompt, listPrompts } from './tmux/prompts.ts';
import type { TmuxResources } from './tmux/resources.ts';
import type { Choice, McpTool, Place, ToolContext } from './tool.ts';
import { mcpWorkTools } from './work-tools.ts';

export interface McpServerOptions {
  readonly dispatch: Dispatch;
  readonly actions: () => readonly Registered[];
  readonly version: string;
  readonly identities: Identities;
}

/** Who is whom among the agents that have registered. */
interface Identities {
  /** The same caller by the name it has now. */
  named(caller: Caller): Caller;
  /** Whose secret it is; throws where it is nobody's. */
  bySecret(secret: unknown): Caller;
}

/** One client of MCP: who it is, where it works, and what it may use. */
export interface McpClient {
  /** Who it speaks for now. */
  readonly caller: Caller;
  /** What lasts between its calls, if anything does. */
  readonly connection?: Connection | undefined;
  readonly choice: Choice;
  readonly place: Place;
  readonly cursors: Map<string, number>;
  /** Tools that are loaded only for those who ask for their toolset. */
  readonly more: readonly McpTool[];
  /** All tools of that kind, to tell somebody who calls one without having it. */
  late(): Promise<readonly McpTool[]>;
  /** What there is beside tools for those who have the toolset tmux. */
  readonly tmux?: {
    readonly resources: TmuxResources;
    readonly listPrompts: typeof listPrompts;
    readonly getPrompt: typeof getPrompt;
  };
}

type Server = InstanceType<typeof Sdk.Server>;
interface McpRequest {
  readonly signal: AbortSignal;
  readonly _meta?: { readonly progressToken?: string | number };
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
}

/** An MCP server for one client. The protocol is the SDK's, both eras of it; tools are ours, and so is every refusal. */
export function createMcpServer(sdk: typeof Sdk, options: McpServerOptions, client: McpClient): Server {
  const { choice } = client;
  const tools = toolsFor(options, client);
  const { tmux } = client;
  const isForgotten = client.connection === undefined && isUser(client.caller);
  const ownPane = client.caller.pane ?? client.place.pane;
  const server = new sdk.Server(
    { name: 'polyphony', title: 'Polyphony', version: options.version },
    {
      capabilities: {
        tools: {},
        ...(tmux && { resources: {}, prompts: {} }),
        ...(choice.channel && { experimental: channelCapability }),
      },
      instructions: instructionsFor({
        has: (name) => tools.has(name),
        pane: client.caller.pane,
        channel: choice.channel,
        isForgotten,
      }),
    },
  );
  const contextOf = (mcpReq: McpRequest, as: Caller = client.caller): ToolContext => {
    const { signal } = mcpReq;
    const { connection } = client;
    const caller = options.identities.named(as);
    const call = async (name: string, given: unknown): Promise<never> => {
      sparePane(caller.pane ?? ownPane, name, given);
      return (await options.dispatch(name, given, { caller, signal, connection })) as never;
    };
    return {
      ...{ ...client, caller, signal, progress: progressOf(mcpReq), client: { call } },
      remembers: !isForgotten,
    };
  };
  // A pane may use little of what acts on the hub itself.
  const has = (name: string): boolean =>
    tools.has(name) && (isUser(client.caller) || !/^(session|server|approval|extensions)_/.test(name));
  const refuse = (error: unknown): string => refusalOf(error, has);
  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].map((tool) => listed(tool, choice, isForgotten)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    try {
      const tool = tools.get(params.name);
      if (!tool) {
        const all = everyTool(options, await client.late());
        const hidden = all.findLast(({ name }) => name === params.name);
        throw hidden ? notForYou(hidden, client) : noSuchTool(params.name, [...tools.keys()]);
      }
      // One that has registered is no longer the user.
      if (tool.needsUser && !isUser(client.caller)) throw notForYou(tool, client);
      const { secret, ...given } = params.arguments ?? {};
      const isProof = isForgotten && tool.asAgent && secret !== undefined;
      const context = contextOf(mcpReq, isProof ? options.identities.bySecret(secret) : undefined);
      const run = tool.run(isProof ? given : (params.arguments ?? {}), context);
      const { text, structured, isError, isWhole } = await (tool.waits ? withHeartbeat(context, run) : run);
      return {
        ...(isError && { isError }),
        content: [{ type: 'text', text: isWhole ? text : shorten(text) }],
        ...(structured && (tool.outputSchema || isShort(text)) && { structuredContent: structured }),
      };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: refuse(error) }] };
    }
  });
  if (tmux) offerReading(sdk, server, { ...tmux, safety: choice.safety, contextOf, refuse });
  return server;
}

function toolsFor(
  options: McpServerOptions,
  { caller, choice, more }: McpClient,
): ReadonlyMap<string, McpTool> {
  // Over HTTP this is done for every request: what nobody asks for is not made.
  const actions = choice.toolsets.has('actions') ? actionTools(options.actions()) : [];
  return chooseTools([...actions, ...ownTools, ...more], choice, isUser(caller));
}

const ownTools: readonly McpTool[] = [...mcpPaneTools, ...mcpMailTools, ...mcpWorkTools, ...mcpFloorTools];

const everyTool = (options: McpServerOptions, late: readonly McpTool[]): readonly McpTool[] => [
  ...actionTools(options.actions()),
  ...ownTools,
  ...late,
];

/** The names of the tools that only look, whatever they are given. */
export function readersOf(options: McpServerOptions, client: McpClient): readonly string[] {
  return [...toolsFor(options, client).values()]
    .filter((tool) => reads(tool, client.choice))
    .map(({ name }) => name);
}

interface Reading extends NonNullable<McpClient['tmux']> {
  readonly safety: Choice['safety'];
  contextOf(mcpReq: McpRequest): ToolContext;
  /** What went wrong, in the words of an agent. */
  refuse(error: unknown): string;
}

/** What can be read by its address, and advice. */
function offerReading(
  sdk: typeof Sdk,
  server: Server,
  { resources, listPrompts, getPrompt, safety, contextOf, refuse }: Reading,
): void {
  const inProtocol = <T>(uri: string | undefined, work: () => T | Promise<T>): Promise<T> =>
    asProtocolError(sdk, uri, refuse, work);
  server.setRequestHandler('resources/list', async (_, { mcpReq }) => ({
    resources: [...(await inProtocol('', () => resources.list(contextOf(mcpReq))))],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...resources.templates],
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => {
    const { mimeType, text } = await inProtocol(uri, () => resources.read(uri, contextOf(mcpReq)));
    return { contents: [{ uri, mimeType, text: mimeType === 'text/plain' ? shorten(text) : text }] };
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(safety) }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const { description, text } = await inProtocol(undefined, () =>
      getPrompt(params.name, params.arguments ?? {}, safety),
    );
    return { description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  });
}

/** Beside tools a refusal is an error of the protocol; that of a resource that is not there has a kind of its own. */
async function asProtocolError<T>(
  sdk: typeof Sdk,
  uri: string | undefined,
  refuse: Reading['refuse'],
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const missing = error instanceof PolyError && ['not_found', 'invalid_arguments'].includes(error.code);
    if (missing && uri !== undefined) throw new sdk.ResourceNotFoundError(uri, refuse(error));
    const code = missing ? sdk.ProtocolErrorCode.InvalidParams : sdk.ProtocolErrorCode.InternalError;
    throw new sdk.ProtocolError(code, refuse(error));
  }
}

const heartbeatMs = 5000;

/** Tells at once, and then now and again, that a call waits. */
async function withHeartbeat<T>({ progress }: ToolContext, work: Promise<T>): Promise<T> {
  const since = performance.now();
  progress('waiting');
  const timer = setInterval(
    () => progress(`waiting for ${Math.round((performance.now() - since) / 1000)} s`),
    heartbeatMs,
  ).unref();
  return work.finally(() => clearInterval(timer));
}

/** Numbers what a call tells on its way; nothing is told to a client that has not asked for it. */
function progressOf({ _meta, notify }: McpRequest): ToolContext['progress'] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    // Whoever has gone meanwhile need not be told.
    void notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(
      () => undefined,
    );
  };
}

/** What is said to only look is asked again when an answer is lost. */
const reads = ({ effect, raises, looksWhenReadonly }: McpTool, { safety }: Choice): boolean =>
  (effect === 'read' && !(raises && safety === 'destructive')) ||
  (looksWhenReadonly === true && safety === 'readonly');

/** By which an agent says who it is where nobody knows it again; the instructions tell, so that it stays short. */
const proof = { type: 'string' };

function listed(tool: McpTool, choice: Choice, isForgotten: boolean) {
  const { name, description, inputSchema, outputSchema, effect } = tool;
  const { destroys = effect === 'destructive' } = tool;
  const looks = reads(tool, choice);
  const properties = { ...(inputSchema.properties as object), secret: proof };
  return {
    ...{ name, description },
    inputSchema: {
      ...{ type: 'object' as const, ...inputSchema },
      ...(isForgotten && tool.asAgent && { properties }),
    },
    ...(outputSchema && { outputSchema: { type: 'object' as const, ...outputSchema } }),
    annotations: { readOnlyHint: looks, ...(!looks && { destructiveHint: destroys }), openWorldHint: false },
  };
}

/** What went wrong and what to do next, in one text: agents see nothing else. */
function refusalOf(error: unknown, has: (tool: string) => boolean): string {
  if (!(error instanceof PolyError))
    return `It failed: ${brief(error instanceof Error ? error.message : String(error))}`;
  const { code, message, hint } = error.info;
  const what = `${code}: ${brief(message)}`;
  return hint ? `${withFullStop(what)} ${inAgentWords(hint, has)}` : what;
}

/** A refusal repeats what was given, which an agent need not read again as a whole. */
function brief(message: string): string {
  return message.length <= 1200 ? message : `${message.slice(0, 1000)} … ${message.slice(-150)}`;
}
