import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { TestHub } from './test-hub.ts';

/** The command line as bundled before the tests. */
export const program: string = join(import.meta.dirname, '..', 'dist', 'poly.cjs');

export interface Asked {
  readonly era?: 'legacy' | 'auto';
  readonly query?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whose credential it shows; the user's when left out. */
  readonly token?: string;
  /** What it sends over HTTP beside that. */
  readonly headers?: Readonly<Record<string, string>>;
}

const clientOf = ({ era = 'auto' }: Asked): Client =>
  new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });

export async function byStdio(hub: Pick<TestHub, 'env' | 'home'>, asked: Asked = {}): Promise<Client> {
  const client = clientOf(asked);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...(asked.args ?? [])],
      env: { ...(hub.env as Record<string, string>), ...asked.env },
      cwd: asked.cwd ?? hub.home,
      stderr: 'inherit',
    }),
  );
  return client;
}

export async function byHttp(hub: TestHub, asked: Asked = {}): Promise<Client> {
  const client = clientOf(asked);
  const url = new URL(`${hub.discovery.url}/mcp${asked.query ?? ''}`);
  const headers = { authorization: `Bearer ${asked.token ?? hub.token}`, ...asked.headers };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

export async function use(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<string> {
  const { content, isError } = (await client.callTool({ name, arguments: given })) as CallToolResult;
  const [first] = content;
  if (first?.type !== 'text') throw new Error('an answer is a text');
  return isError ? `ERROR ${first.text}` : first.text;
}

/** The other end of `poly mcp`, for what no client would do. */
export class RawConversation {
  readonly socket: Socket;
  readonly #lines: AsyncIterator<string>;
  readonly closed: Promise<unknown>;

  private constructor(socket: Socket, lines: AsyncIterator<string>) {
    this.socket = socket;
    this.#lines = lines;
    this.closed = once(socket, 'close');
  }

  static async open(hub: TestHub, token: string = hub.token): Promise<RawConversation> {
    const socket = connectTo(hub.socket);
    const headers = `host: poly\r\nauthorization: Bearer ${token}\r\nconnection: upgrade\r\nupgrade: poly-lines\r\n`;
    socket.on('error', () => undefined).write(`GET /mcp HTTP/1.1\r\n${headers}\r\n`);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    while ((await lines.next()).value !== '');
    return new RawConversation(socket, lines);
  }

  say(line: string | Buffer): void {
    this.socket.write(line);
    this.socket.write('\n');
  }

  /** The next that is said to the agent, or as a farewell. */
  async heard(): Promise<unknown> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) return undefined;
      const message = JSON.parse(value) as object;
      if (!['cursor', 'pass', 'readers'].some((name) => name in message)) return message;
    }
  }
}

/** What a tool answers as a value; of a failure too, where it has one. */
export async function structured(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { structuredContent, content } = (await client.callTool({
    name,
    arguments: given,
  })) as CallToolResult;
  if (!structuredContent) throw new Error(JSON.stringify(content));
  return structuredContent as Record<string, unknown>;
}
