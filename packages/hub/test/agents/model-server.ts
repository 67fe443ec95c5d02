import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one request asked the model. */
export interface Turn {
  readonly api: string;
  readonly model: string;
  /** The last thing the user said in it; empty when a tool's result came last. */
  readonly said: string;
  readonly tools: readonly string[];
  readonly body: unknown;
}

/** What the model answers; `until` keeps the stream open after the text. */
export type Answer =
  | { readonly text: string; readonly until?: Promise<unknown> }
  | { readonly tool: string; readonly namespace?: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly status: number; readonly message: string };

export interface ModelServer {
  readonly url: string;
  readonly turns: readonly Turn[];
  /** Resolves with the first request, old or new, that fits; fails with what was asked instead. */
  asked(fits: (turn: Turn) => boolean, ms?: number): Promise<Turn>;
  close(): Promise<void>;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly functionCall?: unknown;
  readonly functionResponse?: unknown;
}

interface Message {
  readonly role?: string;
  readonly type?: string;
  readonly content?: string | readonly Part[];
  readonly parts?: readonly Part[];
}

interface Body {
  readonly model?: string;
  readonly messages?: readonly Message[];
  readonly input?: readonly Message[];
  readonly contents?: readonly Message[];
  readonly tools?: readonly {
    readonly name?: string;
    readonly functionDeclarations?: readonly { readonly name: string }[];
  }[];
}

type Send = (event: Readonly<Record<string, unknown>>) => void;

/** One model provider's wire: where its requests arrive, what they hold, and how an answer is streamed. */
interface Api {
  readonly name: string;
  readonly path: RegExp;
  messages(body: Body): readonly Message[];
  text(send: Send, text: string): void;
  tool(send: Send, id: string, name: string, input: unknown, namespace?: string): void;
  finish(send: Send, used: 'text' | 'tool'): void;
}

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'msg_stub',
    type: 'message',
    role: 'assistant',
    model: 'stub',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};

const apis: readonly Api[] = [
  {
    name: 'anthropic',
    path: /\/messages(\?|$)/,
    messages: (body) => body.messages ?? [],
    text(send, text) {
      send(anthropicStart);
      send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    },
    tool(send, id, name, input) {
      send(anthropicStart);
      const block = { type: 'tool_use', id: `toolu_${id}`, name, input: {} };
      send({ type: 'content_block_start', index: 0, content_block: block });
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
      send({ type: 'content_block_delta', index: 0, delta });
    },
    finish(send, used) {
      send({ type: 'content_block_stop', index: 0 });
      const stop_reason = used === 'tool' ? 'tool_use' : 'end_turn';
      send({
        type: 'message_delta',
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: 1 },
      });
      send({ type: 'message_stop' });
    },
  },
  {
    name: 'responses',
    path: /\/responses(\?|$)/,
    messages: (body) => body.input ?? [],
    text(send, text) {
      const item = { type: 'message', id: 'item_stub', role: 'assistant', content: [] };
      send({ type: 'response.created', response: { id: 'resp_stub' } });
      send({ type: 'response.output_item.added', output_index: 0, item });
      send({
        type: 'response.output_text.delta',
        item_id: item.id,
        output_index: 0,
        content_index: 0,
        delta: text,
      });
      send({
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, content: [{ type: 'output_text', text, annotations: [] }] },
      });
    },
    tool(send, id, name, input, namespace) {
      send({ type: 'response.created', response: { id: 'resp_stub' } });
      const item = { type: 'function_call', id: `item_${id}`, call_id: `call_${id}`, name, namespace };
      send({
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, arguments: JSON.stringify(input) },
      });
    },
    finish(send) {
      send({ type: 'response.completed', response: { id: 'resp_stub', output: [], usage } });
    },
  },
  {
    name: 'gemini',
    path: /:(streamG|g)enerateContent(\?|$)/,
    messages: (body) => body.contents ?? [],
    text(send, text) {
      send({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] });
    },
    tool(send, _, name, args) {
      const parts = [{ functionCall: { name, args } }];
      send({ candidates: [{ index: 0, content: { role: 'model', parts } }] });
    },
    finish(send) {
      const content = { role: 'model', parts: [{ text: '' }] };
      send({
        candidates: [{ index: 0, content, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
    },
  },
];

const texts = ({ content, parts }: Message): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : (content ?? parts ?? []).flatMap(({ text }) => (text === undefined ? [] : [text]));

/** Agents put notes of their own around what the user typed, each with a tag of its own. */
const isNote = (text: string): boolean => /^\s*<[a-z_-]+[ >]/.test(text);

function lastSaid(messages: readonly Message[]): string {
  const last = messages.findLast(({ role, type }) => role === 'user' || type === 'function_call_output');
  if (last === undefined) return '';
  return texts(last).findLast((text) => !isNote(text)) ?? '';
}

function readTurn(api: Api, url: string, body: Body): Turn {
  const tools = (body.tools ?? []).flatMap(({ name, functionDeclarations }) =>
    functionDeclarations ? functionDeclarations.map((tool) => tool.name) : [name ?? ''],
  );
  const model = body.model ?? /models\/([^:]+)/.exec(url)?.[1] ?? '';
  return { api: api.name, model, said: lastSaid(api.messages(body)), tools, body };
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function reply(response: ServerResponse, api: Api, answer: Answer): Promise<void> {
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ type: 'error', error: { type: 'api_error', message: answer.message } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send: Send = (event) => {
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  };
  // Each call has an id of its own, as those of real models have.
  if ('tool' in answer) api.tool(send, randomUUID(), answer.tool, answer.input, answer.namespace);
  else {
    api.text(send, answer.text);
    await answer.until;
  }
  api.finish(send, 'tool' in answer ? 'tool' : 'text');
  response.end();
}

export const echo = (turn: Turn): Answer => ({ text: `I heard: ${turn.said}` });

/**
 * A model on loopback that says what the test tells it to, over the wires of Anthropic (messages), OpenAI
 * (responses) and Gemini. Requests without tools are the agents' own side questions, titles for instance.
 */
export async function startModelServer(
  answer: (turn: Turn) => Answer | Promise<Answer> = echo,
): Promise<ModelServer> {
  const turns: Turn[] = [];
  const watchers = new Set<(turn: Turn) => void>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const api = apis.find(({ path }) => path.test(request.url ?? ''));
    if (request.method !== 'POST' || api === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const turn = readTurn(api, request.url ?? '', await readBody(request));
    turns.push(turn);
    for (const watch of watchers) watch(turn);
    await reply(response, api, turn.tools.length === 0 ? { text: 'A title' } : await answer(turn));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns,
    asked(fits, ms = 120_000) {
      const old = turns.find(fits);
      if (old) return Promise.resolve(old);
      const { promise, resolve, reject } = Promise.withResolvers<Turn>();
      const watch = (turn: Turn): void => {
        if (fits(turn)) resolve(turn);
      };
      const timer = setTimeout(() => {
        const heard = JSON.stringify(turns.map(({ said }) => said));
        reject(new Error(`the model was not asked what was expected within ${ms} ms, but ${heard}`));
      }, ms);
      watchers.add(watch);
      return promise.finally(() => {
        clearTimeout(timer);
        watchers.delete(watch);
      });
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
