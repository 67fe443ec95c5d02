import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAdoptResult, AgentInfo } from '@polyphony/protocol';
import { FakeAgent, fakeProgram } from './fake-agent.ts';
import { TestHub, until } from './test-hub.ts';

/** As bundled before the tests, see vitest.config.ts. */
const program = join(import.meta.dirname, '..', 'dist', 'poly.cjs');

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A hub, and beside it agents that somebody has started by hand: in a tmux server of their own, and outside of any. */
export class ForeignGround implements AsyncDisposable {
  readonly hub: TestHub;
  readonly #ownsHub: boolean;
  /** Where the tmux of the user keeps its sockets. */
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];

  private constructor(hub: TestHub, ownsHub: boolean) {
    this.hub = hub;
    this.#ownsHub = ownsHub;
    this.#folder = mkdtempSync(join(tmpdir(), 'poly-foreign-'));
  }

  static async start(): Promise<ForeignGround> {
    return new ForeignGround(await TestHub.start(), true);
  }

  /** Beside a hub that lives on. */
  static beside(hub: TestHub): ForeignGround {
    return new ForeignGround(hub, false);
  }

  get #env(): Record<string, string | undefined> {
    const { TMUX: _, TMUX_PANE: __, ...own } = process.env;
    return { ...own, ...this.hub.env, ...fakeProgram(this.hub).env, TMUX_TMPDIR: this.#folder };
  }

  /** The command, as the user types it beside their tmux. */
  async poly(...args: readonly string[]): Promise<Outcome> {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.hub.home,
      env: { ...this.#env, NODE_OPTIONS: '--conditions=polyphony-source' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (chunk) => (text.stdout += chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk) => (text.stderr += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...text };
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.poly('--json', ...args);
    if (code !== 0) throw new Error(`poly ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** What `poly agent adopt` finds of ours: others may have agents on this machine. */
  async adopt(...args: readonly string[]): Promise<AgentAdoptResult> {
    const found = await this.json<AgentAdoptResult>('agent', 'adopt', ...args);
    const ours = ({ cwd }: { readonly cwd: string }): boolean => cwd.startsWith(this.hub.home);
    return { ...found, adopted: found.adopted.filter(ours), already: found.already.filter(ours) };
  }

  /** The one agent that is meant, which is not known yet. */
  async adoptOne(target: string): Promise<string> {
    const { adopted } = await this.hub.client.call('agent:adopt', {
      targets: [target],
      sockets: [this.socket],
    });
    if (adopted.length !== 1 || !adopted[0]?.id) throw new Error(`found ${JSON.stringify(adopted)}`);
    return adopted[0].id;
  }

  async info(id: string): Promise<AgentInfo> {
    const info = (await this.hub.client.call('agent:list', {})).find((agent) => agent.id === id);
    if (!info) throw new Error(`${id} is not listed`);
    return info;
  }

  async becomes(id: string, status: AgentInfo['status']): Promise<AgentInfo> {
    await until(async () => (await this.info(id)).status === status);
    return this.info(id);
  }

  /** A tmux command of the user, on their default server. */
  tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-f', '/dev/null', ...args], { env: this.#env, encoding: 'utf8' }).trim();
  }

  get socket(): string {
    return join(this.#folder, `tmux-${process.getuid?.()}`, 'default');
  }

  get serverPid(): number {
    return Number(this.tmux('display-message', '-p', '#{pid}'));
  }

  /** Starts the program in a window of the user's tmux; answers its pane, and how it is told what to do. */
  inTmux(cwd: string = this.hub.home): {
    readonly pane: string;
    /** The pane, and whose it is. */
    readonly at: string;
    readonly as: (id: string) => FakeAgent;
  } {
    mkdirSync(cwd, { recursive: true });
    const { file } = fakeProgram(this.hub);
    const isUp = this.#hasServer;
    const made = isUp ? ['new-window', '-d'] : ['new-session', '-d', '-x', '120', '-y', '40'];
    const pane = this.tmux(
      ...made,
      '-P',
      '-F',
      '#{pane_id}',
      '-c',
      cwd.replaceAll('#', '##'),
      `exec '${file}'`,
    );
    this.#hasServer = true;
    const pid = this.tmux('display-message', '-p', '-t', pane, '#{pane_pid}');
    // tmux answers once there is a process, which becomes a shell first.
    const args = (): string => execFileSync('ps', ['-o', 'args=', '-p', pid], { encoding: 'utf8' });
    for (let seen = ''; !seen.includes(file) || seen.includes('exec '); seen = args());
    const type = async (line: string): Promise<void> => {
      this.tmux('send-keys', '-t', pane, '-l', '--', line, ';', 'send-keys', '-t', pane, 'Enter');
    };
    return { pane, at: `${this.socket}:${pane}`, as: (id) => new FakeAgent(this.hub.home, id, type) };
  }
  #hasServer = false;

  /** Starts the program outside of any tmux. */
  outside(): { readonly pid: number; readonly as: (id: string) => FakeAgent } {
    const { file } = fakeProgram(this.hub);
    const child = spawn(file, [], {
      cwd: this.hub.home,
      env: this.#env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#children.push(child);
    const type = async (line: string): Promise<void> => void child.stdin?.write(`${line}\n`);
    return { pid: child.pid ?? 0, as: (id) => new FakeAgent(this.hub.home, id, type) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    if (this.#hasServer) {
      try {
        this.tmux('kill-server');
      } catch {
        // A test has ended it.
      }
    }
    if (this.#ownsHub) await this.hub[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
