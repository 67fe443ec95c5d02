import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execute } from '../src/engine.ts';
import { connectionFlags } from '../src/engines/tmux-process.ts';
import { listClients, setHook, waitFor } from '../src/operations/index.ts';
import type { TestServer } from '../src/testing/index.ts';

/** Runs a command in a terminal of its own; part of util-linux. */
const terminalMaker = 'script';

/** A person at a terminal attached to the session demo: types, and sees what tmux draws. */
export class TerminalClient {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  #drawn = '';

  private constructor(name: string, child: ChildProcessWithoutNullStreams) {
    this.name = name;
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#drawn += text;
    });
  }

  static async attach(server: TestServer): Promise<TerminalClient> {
    const engine = server.engine('subprocess');
    const { connection } = server;
    const command = 'if-shell -F "#{?client_control_mode,0,1}" "wait-for -S attached"';
    await execute(engine, setHook({ global: true, name: 'client-attached[9]', command }));
    const words = [
      connection.tmux ?? 'tmux',
      '-u',
      ...connectionFlags(connection),
      'attach-session',
      '-t',
      '=demo:',
    ];
    const attach = words.map((word) => `'${word}'`).join(' ');
    const env = { ...process.env, TERM: 'xterm-256color', TMUX: '' };
    const child = spawn(terminalMaker, ['-qfc', attach, '/dev/null'], { env, stdio: 'pipe' });
    await execute(engine, waitFor({ channel: 'attached' }));
    const clients = (await execute(engine, listClients({ target: { session: 'demo' } }))).unwrap();
    const client = clients.find(({ controlMode }) => !controlMode);
    if (!client) throw new Error('The terminal did not attach.');
    return new TerminalClient(client.name, child);
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Resolves once tmux has drawn this text, counted from the last one seen. */
  async sees(text: string): Promise<void> {
    while (!this.#drawn.includes(text)) await once(this.#child.stdout, 'data');
    this.#drawn = this.#drawn.slice(this.#drawn.indexOf(text) + text.length);
  }

  /** What was drawn so far does not count as seen. */
  forget(): void {
    this.#drawn = '';
  }

  async detach(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
