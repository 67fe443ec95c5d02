import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parentID?: string;
  readonly time: { readonly created: number };
}

interface Prompt {
  readonly messageID: string;
  readonly parts: readonly { readonly id: string; readonly text: string }[];
}

/** How it takes a prompt: runs it, loses it though it said 204, holds it for later, fails before or after it kept it. */
export type Manner = 'run' | 'lose' | 'hold' | 'fail' | 'fail but keep' | 'hang' | 'hang but keep' | number;

/** Speaks like the server of OpenCode, and misbehaves where it is told to; each manner once, the last for ever. */
export class FakeOpenCodeServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #manners: Manner[];
  readonly messages: Stored[] = [];
  readonly prompts: Prompt[] = [];
  #busy = false;

  private constructor(server: Server, manners: readonly Manner[], password: string | undefined) {
    this.#server = server;
    this.#manners = [...manners];
    const key = password && `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`;
    server.on('request', (request, response) => {
      if (key && request.headers.authorization !== key) return void response.writeHead(401).end();
      void this.#answer(request, response);
    });
  }

  static async start(
    manners: readonly Manner[] = ['run'],
    { password }: { readonly password?: string } = {},
  ): Promise<FakeOpenCodeServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeOpenCodeServer(server, manners, password);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many turns each message has had. */
  get turns(): readonly string[] {
    return this.messages.flatMap(({ role, parentID }) =>
      role === 'assistant' && parentID ? [parentID] : [],
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (body: unknown): void => void response.writeHead(200).end(JSON.stringify(body));
    if (request.url === '/session/status') return json(this.#busy ? { ses_1: { type: 'busy' } } : {});
    if (!request.url?.startsWith('/session/ses_1/')) return void response.writeHead(404).end('{}');
    if (request.method === 'GET') return json(this.messages.map((info) => ({ info })));
    let text = '';
    for await (const chunk of request) text += chunk;
    this.#take(JSON.parse(text) as Prompt, response);
  }

  #take(prompt: Prompt, response: ServerResponse): void {
    this.prompts.push(prompt);
    const [manner = 'run'] = this.#manners.length > 1 ? this.#manners.splice(0, 1) : this.#manners;
    const id = prompt.messageID;
    const created = this.messages.length + 1;
    const keep = manner !== 'fail' && manner !== 'hang' && typeof manner !== 'number';
    if (keep && !this.messages.some((one) => one.id === id))
      this.messages.push({ id, role: 'user', time: { created } });
    if (typeof manner === 'number') return void response.writeHead(manner).end('not json');
    if (manner.startsWith('hang')) return;
    if (manner.startsWith('fail')) return void response.writeHead(500).end();
    response.writeHead(204).end();
    this.#busy = manner === 'hold';
    if (manner === 'run')
      this.messages.push({ id: `msg_answer_${created}`, role: 'assistant', parentID: id, time: { created } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
