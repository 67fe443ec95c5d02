import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { demoServer } from '@polyphony/tmux/testing';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { type Cost, cost, costOf, type Figure, inTurn } from './measure.ts';

export const hubFolder: string = join(import.meta.dirname, '..', 'packages', 'hub');
export const poly: string = join(hubFolder, 'dist', 'poly.cjs');

/** What the SDK makes of one tool and nothing else: on its standard input and output, on a socket, or over HTTP. */
export const echoServer = `
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
const inputSchema = z.object({ text: z.string() });
const create = () => {
  const server = new McpServer({ name: 'echo', version: '1' });
  server.registerTool('echo', { inputSchema }, ({ text }) => ({ content: [{ type: 'text', text }] }));
  return server;
};
const [, , how, path] = process.argv;
if (how === 'stdio') serveStdio(create);
else if (how === 'socket') createSocketServer((socket) =>
  serveStdio(create, { transport: new StdioServerTransport(socket, socket) })).listen(path, () => console.log(0));
else {
  const handler = createMcpHandler(create);
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await handler.fetch(new Request('http://echo/mcp', {
      method: 'POST', headers: request.headers, body: Buffer.concat(chunks),
    }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).pipe(response);
    else response.end();
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
}`;

/** The least that a process between an agent's pipe and a server can do: it copies. */
export const bareBridge = `
const socket = require('node:net').connect(process.argv[1]);
process.stdin.pipe(socket).pipe(process.stdout);`;

type Given = Readonly<Record<string, unknown>>;
/** Calls one tool, and waits for its answer. */
export type Call = (name: string, given: Given) => Promise<void>;

const clientInfo = { name: 'bench', version: '1' };
const legacy = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };

/** A client that does as little as a client can, so that it blurs nothing. */
export class LineClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (line: string) => void>();
  #last = 0;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = process.env, cwd: string = hubFolder) {
    this.#child = spawn(process.execPath, args, { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const [, id] = /"id":(\d+)/.exec(line.slice(-40)) ?? /"id":(\d+)/.exec(line) ?? [];
      this.#waiting.get(Number(id))?.(line);
      this.#waiting.delete(Number(id));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async begin(): Promise<void> {
    await this.#ask('initialize', legacy);
    this.#write({ method: 'notifications/initialized' });
  }

  readonly call: Call = async (name, given) =>
    requireAnswer(await this.#ask('tools/call', { name, arguments: given }));

  #ask(method: string, params: Given): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const id = ++this.#last;
    this.#waiting.set(id, resolve);
    this.#write({ id, method, params });
    return promise;
  }

  #write(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }
}

type Era = 'legacy' | 'modern';
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The same over HTTP, on one connection. */
export function httpCall(url: string, agent: Agent, era: Era, token = ''): Call {
  const { hostname, port, pathname, search } = new URL(url);
  let id = 0;
  return async (name, given) => {
    const params = { name, arguments: given, ...(era === 'modern' && { _meta: modernMeta }) };
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': era === 'modern' ? '2026-07-28' : legacy.protocolVersion,
      ...(era === 'modern' && { 'mcp-method': 'tools/call', 'mcp-name': name }),
    };
    const sent = request({ hostname, port, path: pathname + search, method: 'POST', agent, headers });
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    requireAnswer(text);
  };
}

function requireAnswer(text: string): void {
  if (!text.includes('"content":[') || text.includes('"isError":true')) throw new Error(text.slice(0, 400));
}

/** What MCP costs here: a call of a tool against the SDK's echo, and tmux through MCP against a process a call. */
export async function mcp(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  return [...(await calls(hub)), ...(await tmuxCalls(hub))];
}

/** CPU is counted in steps of 10 ms, of which a call takes a hundredth. */
const rounds = 1500;
const atOnce = 16;

interface Tries {
  one(): Promise<Cost>;
  many(): Promise<Cost>;
}

async function calls(hub: TestHub): Promise<readonly Figure[]> {
  const { pid, url } = hub.discovery;
  // Inside the package, where its dependencies are found.
  const script = join(hubFolder, 'dist', 'bench-echo.mjs');
  writeFileSync(script, echoServer);
  const bridge = new LineClient([poly, 'mcp'], hub.env, hub.home);
  const echo = new LineClient([script, 'stdio']);
  const listen = async (...args: readonly string[]): Promise<{ process: ChildProcess; port: string }> => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return { process: child, port: String(port).trim() };
  };
  const path = join(hub.home, 'echo.sock');
  const [web, behind] = await Promise.all([listen('http'), listen('socket', path)]);
  const bare = new LineClient(['-e', bareBridge, path]);
  await Promise.all([bridge.begin(), echo.begin(), bare.begin()]);
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const echoUrl = `http://127.0.0.1:${web.port}/mcp`;
  const text = 'A text of the length of a short answer, as the others have it.';
  const ourList = (call: Call) => () => call('pty_list', {});
  const theirEcho = (call: Call) => () => call('echo', { text });
  const times = (count: number, work: () => Promise<void>) => () =>
    Promise.all(Array.from({ length: count }, work));
  const of = (pids: readonly number[], work: () => Promise<void>): Tries => ({
    one: () => costOf(pids, rounds, 1, work),
    many: () => costOf(pids, rounds / 10, atOnce, times(atOnce, work)),
  });
  const figures: Figure[] = [];
  const stdio = of([bridge.pid, pid], ourList(bridge.call));
  const alone = of([echo.pid], theirEcho(echo.call));
  const copied = of([bare.pid, behind.process.pid ?? 0], theirEcho(bare.call));
  const webPid = web.process.pid ?? 0;
  const pairs: readonly (readonly [string, string, Tries, Tries, string?])[] = [
    ['stdio', 'echo of the SDK', stdio, alone],
    // The floor: a hub that outlives its agents is another process than the one they start.
    ['the echo behind a copier', 'echo of the SDK', copied, alone, 'the floor'],
    ['stdio', 'it behind a copier', stdio, copied],
    ...(['legacy', 'modern'] as const).map((era) => [
      `HTTP, ${era === 'legacy' ? 2025 : 2026}`,
      'echo of the SDK',
      of([pid], ourList(httpCall(`${url}/mcp`, agent, era, hub.token))),
      of([webPid], theirEcho(httpCall(echoUrl, agent, era))),
    ] as const),
  ]; // biome-ignore format: a table
  for (const [name, against, ours, theirs, aim = '≤ 1.3x'] of pairs) {
    const one = await inTurn({ ours: ours.one, theirs: theirs.one });
    const many = await inTurn({ ours: ours.many, theirs: theirs.many });
    const shared = { unit: 'µs', against, aim };
    figures.push(
      { what: `tools/call, ${name}, p50`, ours: one.ours.p50, theirs: one.theirs.p50, ...shared },
      { what: `tools/call, ${name}, CPU`, ours: one.ours.cpu, theirs: one.theirs.cpu, ...shared },
      { what: `${atOnce} at once, ${name}, CPU each`, ours: many.ours.cpu, theirs: many.theirs.cpu, ...shared },
    ); // biome-ignore format: a table
  }
  agent.destroy();
  await Promise.all([bridge.close(), echo.close(), bare.close()]);
  web.process.kill();
  behind.process.kill();
  return figures;
}

/** Looking at tmux through the bridge and the hub: all our processes, the client and the server of tmux are counted. */
async function tmuxCalls(hub: TestHub): Promise<readonly Figure[]> {
  await using server = await demoServer();
  const { socketPath = '', tmux = 'tmux' } = server.connection;
  const tmuxPid = Number(await server.pid());
  const pane = (
    await server.engine('subprocess').run({ argv: ['display-message', '-p', '#{pane_id}'] })
  ).stdout.trim();
  const bridge = new LineClient(
    [poly, 'mcp', '--toolsets', 'tmux', '--safety', 'readonly', '--socket-path', socketPath],
    hub.env,
    hub.home,
  );
  await bridge.begin();
  const ours = [bridge.pid, hub.discovery.pid, tmuxPid];
  const byProcess = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(tmux, ['-S', socketPath, ...args]);
  const columns =
    'pane_id session_id session_name window_id window_index pane_index pane_active pane_width pane_height pane_title pane_current_command pane_current_path pane_pid pane_dead';
  const format = columns.replace(/\w+/g, '#{$&}');
  const figures: Figure[] = [];
  for (const [name, given, args] of [
    ['capture_pane', { target: pane }, ['capture-pane', '-p', '-t', pane]],
    ['list_panes', {}, ['list-panes', '-a', '-F', format]],
  ] as const) {
    const { mcp: through, process: alone } = await inTurn({
      mcp: () => cost(ours, 500, 1, () => bridge.call(name, given)),
      process: () => cost([tmuxPid], 60, 1, () => byProcess(...args)),
    });
    const shared = { unit: 'µs', against: 'process a call', aim: '< 1x' };
    figures.push(
      { what: `${name} through MCP, p50`, ours: through.p50, theirs: alone.p50, ...shared },
      { what: `${name} through MCP, CPU`, ours: through.cpu, theirs: alone.cpu, ...shared },
    );
  }
  await bridge.close();
  return figures;
}
