import { PolyError, type TmuxSession as SessionInfo } from '@polyphony/protocol';
import { type ConnectionOptions, createEngine, type Engine, type Reply, TmuxError } from '@polyphony/tmux';

export interface TmuxSessionOptions {
  /** Name of the server's socket, or its path when it holds a slash. */
  readonly socket: string;
  readonly configFile: string;
  readonly session: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The tmux session that holds tmux panes, and the one connection to its server. */
export class TmuxSession {
  readonly #options: TmuxSessionOptions;
  readonly connection: ConnectionOptions;
  readonly engine: Engine;
  readonly target: string;

  constructor(options: TmuxSessionOptions) {
    this.#options = options;
    const { socket, configFile, env } = options;
    this.connection = {
      ...(socket.includes('/') ? { socketPath: socket } : { socketName: socket }),
      configFile,
      env: { ...env, TMUX: undefined, TMUX_PANE: undefined },
    };
    this.engine = createEngine('control', this.connection);
    this.target = `=${options.session}:`;
  }

  async info(): Promise<SessionInfo> {
    const { socket, session } = this.#options;
    return { running: await this.running(), tmux: 'tmux', socket, name: session };
  }

  /** Whether the session is there; without tmux it is not. */
  async running(): Promise<boolean> {
    try {
      return (
        (await this.engine.run({ argv: ['has-session', '-t', this.target], effect: 'read' })).status ===
        'complete'
      );
    } catch (error) {
      if (error instanceof TmuxError) return false;
      throw error;
    }
  }

  /** How many people look at it; programs that are attached, ours among them, do not count. */
  async people(): Promise<number> {
    const clients = await this.read('list-clients', '-t', this.target, '-F', '#{client_control_mode}');
    return clients.split('\n').filter((line) => line === '0').length;
  }

  async start(): Promise<void> {
    if (await this.running()) return;
    const { session } = this.#options;
    const home = this.#options.env.HOME ?? '/';
    await this.run('new-session', '-d', '-s', session, '-c', home, '-x', '120', '-y', '40');
  }

  async stop(): Promise<void> {
    if (await this.running()) await this.run('kill-session', '-t', this.target);
  }

  /** Runs one command and answers what it printed; a refusal of tmux is an error. */
  async run(...argv: readonly string[]): Promise<string> {
    return answerOf(argv[0] ?? '', await this.#carry(() => this.engine.run({ argv })));
  }

  async read(...argv: readonly string[]): Promise<string> {
    return answerOf(argv[0] ?? '', await this.#carry(() => this.engine.run({ argv, effect: 'read' })));
  }

  /** Runs commands on one line, so that nothing happens between them; answers what each printed. */
  async runLine(commands: readonly (readonly string[])[]): Promise<readonly string[]> {
    const replies = await this.#carry(() => this.engine.runChain(commands.map((argv) => ({ argv }))));
    return replies.map((reply, index) => answerOf(commands[index]?.[0] ?? '', reply));
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  async #carry<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof TmuxError)) throw cause;
      throw new PolyError('unavailable', `tmux does not answer: ${cause.message}`, {
        hint: 'Install tmux, or use a pty pane: --backend pty.',
        cause,
      });
    }
  }
}

function answerOf(command: string, reply: Reply): string {
  if (reply.status === 'complete') return reply.stdout;
  throw new PolyError('conflict', `tmux refused ${command}: ${reply.stderr || reply.status}`);
}
