import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Client,
  createClient,
  type HubRequest,
  type HubResponse,
  type PolyEvent,
} from '@polyphony/protocol';

/** Hubs of tests that have not ended: one that ran out of time does not get to clean up. */
const living = new Set<TestHub>();
process.once('exit', () => {
  for (const hub of living) hub.destroy();
});

/** As bundled before the tests, see vitest.config.ts. */
const daemon = join(import.meta.dirname, '..', 'dist', 'daemon.cjs');

export interface TestHubOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What stands in config.toml. */
  readonly config?: string;
}

/** A real hub in a process of its own, with a home and a tmux server of its own; all of it is gone after the test. */
export class TestHub implements AsyncDisposable {
  readonly home: string;
  readonly env: Record<string, string | undefined>;
  #process: ChildProcess | undefined;
  errors = '';

  private constructor({ env = {}, config }: TestHubOptions) {
    this.home = mkdtempSync(join(tmpdir(), 'poly-hub-'));
    this.env = {
      PATH: process.env.PATH,
      HOME: this.home,
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      POLY_HOME: join(this.home, 'p'),
      POLY_TMUX_SOCKET: `poly-test-${randomBytes(6).toString('hex')}`,
      POLY_PORT: '0',
      ...env,
    };
    if (config !== undefined) {
      mkdirSync(this.dir, { mode: 0o700 });
      writeFileSync(join(this.dir, 'config.toml'), config, { mode: 0o600 });
    }
  }

  static async start(options: TestHubOptions = {}): Promise<TestHub> {
    const hub = new TestHub(options);
    living.add(hub);
    try {
      await hub.start();
    } catch (error) {
      await hub[Symbol.asyncDispose]();
      throw error;
    }
    return hub;
  }

  get dir(): string {
    return this.env.POLY_HOME ?? '';
  }

  get socket(): string {
    return join(this.dir, 'hub.sock');
  }

  get token(): string {
    return readFileSync(join(this.dir, 'token'), 'utf8').trim();
  }

  get discovery(): { readonly pid: number; readonly url: string; readonly socket: string } {
    return JSON.parse(readFileSync(join(this.dir, 'hub.json'), 'utf8'));
  }

  get client(): Client {
    return this.as(this.token);
  }

  /** A client with another credential. */
  as(token: string): Client {
    return createClient({ token, transport: (asked) => this.send(asked) });
  }

  /** The credential of a pane that is made for it, with `cat` as its program. */
  async paneToken(id: string): Promise<string> {
    await this.client.call('pane:new', { id, argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
    return until(async () => (await this.client.call('pane:read', { paneId: id })).lines?.[0]?.text);
  }

  /** Starts the daemon and waits until it is ready. */
  async start(): Promise<void> {
    rmSync(join(this.dir, 'hub.json'), { force: true });
    const child = this.spawn();
    this.#process = child;
    while (!existsSync(join(this.dir, 'hub.json'))) {
      const ended = child.exitCode ?? child.signalCode;
      if (ended !== null) throw new Error(`the hub ended with ${ended}: ${this.errors}`);
      await setTimeout(10);
    }
  }

  /** A further daemon process, ready or not. */
  spawn(): ChildProcess {
    const child = spawn(process.execPath, [daemon], {
      env: this.env,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk;
    });
    return child;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async ended(): Promise<number | null> {
    const child = this.#process;
    if (!child) return null;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  }

  async send(asked: HubRequest): Promise<HubResponse & { readonly headers: IncomingMessage['headers'] }> {
    const { method, path, body, headers } = asked;
    // A connection of its own: one that is kept may be let go by the hub just when it is used again.
    const around = { socketPath: this.socket, agent: false, headers: { host: 'poly', ...headers } };
    const sent = request({ ...around, method, path });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, body: text, headers: response.headers };
  }

  /** The events of the log that fit, as they come; ends with the loop of its reader. */
  async *events(
    include: string,
    { since, token = this.token }: { since?: number; token?: string } = {},
  ): AsyncGenerator<PolyEvent> {
    const query = new URLSearchParams({ include, ...(since !== undefined && { since: String(since) }) });
    const headers = { host: 'poly', authorization: `Bearer ${token}` };
    const sent = request({ socketPath: this.socket, path: `/events?${query}`, headers });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    try {
      for await (const chunk of response.setEncoding('utf8')) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) {
          const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
          const [, event = ''] = /^event: (.*)$/m.exec(frame) ?? [];
          if (data) yield event === 'reset' ? { event, ...JSON.parse(data) } : JSON.parse(data);
        }
      }
    } finally {
      response.destroy();
    }
  }

  /** The first event, from the beginning of the log on, that fits. */
  async event(
    name: string,
    fits: (event: PolyEvent<Record<string, unknown>>) => boolean = () => true,
  ): Promise<PolyEvent<Record<string, unknown>>> {
    for await (const event of this.events(name, { since: 0 })) {
      if (fits(event as PolyEvent<Record<string, unknown>>))
        return event as PolyEvent<Record<string, unknown>>;
    }
    throw new Error(`the stream ended before ${name} came`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      await this.client.call('server:stop', { all: true }).catch(() => undefined);
      await Promise.race([this.ended(), setTimeout(10_000)]);
      await this.kill('SIGKILL');
    }
    this.destroy();
  }

  /** Ends whatever a killed hub has left behind. */
  destroy(): void {
    living.delete(this);
    this.#process?.kill('SIGKILL');
    this.endHost();
    const socket = this.env.POLY_TMUX_SOCKET ?? '';
    spawnSync('tmux', ['-L', socket, 'kill-server']);
    // tmux 3.3a does not end while a client is left whose hub was killed.
    spawnSync('pkill', ['-KILL', '-f', '--', `^tmux .*-L ${socket} `]);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  endHost(): void {
    spawnSync('pkill', ['-KILL', '-f', '--', this.#hostLine]);
  }

  /** The process of the host. */
  hostPid(): number {
    return Number(execFileSync('pgrep', ['-f', '--', this.#hostLine], { encoding: 'utf8' }));
  }

  get #hostLine(): string {
    return `--dir ${join(this.dir, 'host')}( |$)`;
  }
}

/** Waits until something is so; for what no event tells. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await setTimeout(20);
  }
}
