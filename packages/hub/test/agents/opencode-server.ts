import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from '../test-hub.ts';
import { type AgentHome, createAgentHome } from './agent-home.ts';
import { installAgent } from './installed-agents.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
/** The plugin as it is shipped. */
export const pluginUrl: string = pathToFileURL(join(root, 'packages/opencode/dist/index.js')).href;
export const poly: string = join(root, 'packages/hub/bin/poly');

export function buildPlugin(): void {
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', join(root, 'packages/opencode')]);
}

export interface ToolPart {
  readonly type: string;
  readonly tool?: string;
  readonly text?: string;
  readonly state?: {
    readonly status: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly output?: string;
    readonly error?: string;
  };
}

export interface OpenCodeMessage {
  readonly info: {
    readonly id: string;
    readonly role: string;
    readonly agent?: string;
    readonly parentID?: string;
    readonly model?: { readonly modelID: string };
    readonly modelID?: string;
  };
  readonly parts: readonly ToolPart[];
}

export interface OpenCodeOptions {
  readonly model: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** The home of an OpenCode before this one, with its sessions. */
  readonly home?: AgentHome;
}

/** A real OpenCode that serves its API, with our plugin in it. */
export class OpenCodeServer {
  readonly home: AgentHome;
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(home: AgentHome, child: ChildProcess, url: string) {
    this.home = home;
    this.#process = child;
    this.#url = url;
  }

  static async start(options: OpenCodeOptions): Promise<OpenCodeServer> {
    const home = options.home ?? (await createAgentHome('opencode', options.model));
    const config = { plugin: [pluginUrl], ...options.config };
    const child = spawn(await installAgent('opencode'), ['serve', '--port', '0', '--hostname', '127.0.0.1'], {
      cwd: home.work,
      env: { ...home.env, OPENCODE_CONFIG_CONTENT: JSON.stringify(config), ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    const url = await until(() => {
      if (child.exitCode !== null) throw new Error(`opencode serve ended: ${said}`);
      return /listening on (http:\S+)/.exec(said)?.[1];
    });
    return new OpenCodeServer(home, child, url);
  }

  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-opencode-directory': this.home.work },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async session(): Promise<string> {
    return (await this.api<{ id: string }>('POST', '/session', {})).id;
  }

  messages(session: string): Promise<readonly OpenCodeMessage[]> {
    return this.api('GET', `/session/${session}/message`);
  }

  /** Lets the model call a tool, and answers what the tool said. */
  async tool(session: string, name: string, input: unknown, more: object = {}): Promise<string> {
    const text = JSON.stringify({ tool: name, input });
    await this.api('POST', `/session/${session}/message`, { parts: [{ type: 'text', text }], ...more });
    const calls = (await this.messages(session)).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'tool'),
    );
    const { state } = calls.at(-1) ?? {};
    return state?.output ?? `error: ${state?.error}`;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill(signal);
    await once(this.#process, 'exit');
  }
}
