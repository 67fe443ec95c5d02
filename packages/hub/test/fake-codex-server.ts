import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Message = Readonly<Record<string, unknown>>;
/** How it answers one of the calls: as it should, or not. */
export type Manner = 'well' | 'error' | 'hang' | 'close' | 'no json' | 'late turn' | 'no rollout';

/** Speaks like Codex's app-server, and misbehaves where it is told to. */
export class FakeCodexServer implements AsyncDisposable {
  readonly #server: WebSocketServer;
  readonly #manners: Readonly<Record<string, Manner>>;
  /** What it was asked, in order. */
  readonly asked: { readonly method: string; readonly params: Message }[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  /** Its conversations, by their names. */
  readonly threads = new Map<string, Message>();

  private constructor(server: WebSocketServer, manners: Readonly<Record<string, Manner>>) {
    this.#server = server;
    this.#manners = manners;
    server.on('connection', (socket, request) => {
      this.headers.push(request.headers);
      socket.on('message', (data) => this.#answer(socket, JSON.parse(String(data)) as Message));
    });
  }

  static async start(manners: Readonly<Record<string, Manner>> = {}): Promise<FakeCodexServer> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return new FakeCodexServer(server, manners);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Tells, or asks, everybody something. */
  tell(method: string, params: object, id?: number): void {
    for (const socket of this.#server.clients) socket.send(JSON.stringify({ method, params, id }));
  }

  /** Ends every connection. */
  hangUp(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  /** A conversation begins. */
  begin(thread: Message & { readonly id: string }): void {
    const made = { ephemeral: false, parentThreadId: null, status: { type: 'idle' }, ...thread };
    this.threads.set(thread.id, made);
    this.tell('thread/started', { thread: made });
  }

  get methods(): readonly string[] {
    return this.asked.map(({ method }) => method);
  }

  #answer(socket: WebSocket, { id, method, params }: Message): void {
    const given = (params ?? {}) as Message;
    this.asked.push({ method: String(method), params: given });
    const manner = this.#manners[String(method)] ?? 'well';
    const say = (message: object): void => socket.send(JSON.stringify(message));
    const refusals: Partial<Record<Manner, string>> = {
      error: 'not today',
      'no rollout': 'no rollout found',
    };
    if (id === undefined || manner === 'hang') return;
    if (manner === 'close') socket.terminate();
    if (manner === 'no json') socket.send('<html>');
    if (refusals[manner]) say({ id, error: { code: -32600, message: refusals[manner] } });
    if (manner !== 'well' && manner !== 'late turn') return;
    say({ method: 'thread/status/changed', params: { status: { type: 'active' } } });
    const { threads } = this;
    if (method === 'thread/loaded/list') say({ id, result: { data: [...threads.keys()] } });
    else if (method === 'thread/read') say({ id, result: { thread: threads.get(String(given.threadId)) } });
    else say({ id, result: {} });
    if (method !== 'thread/queue/add' || manner === 'late turn') return;
    const item = { type: 'userMessage', id: 'item_1', clientId: given.clientUserMessageId };
    say({ method: 'item/started', params: { threadId: given.threadId, item } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
