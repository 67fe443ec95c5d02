import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { marksOfTools, PolyError, type TmuxSession as SessionInfo } from '@polyphony/protocol';
import type * as Tmux from '@polyphony/tmux';
import type { ConnectionOptions, Engine, Events, Reply, RunOptions } from '@polyphony/tmux';
import { listProcesses } from '../host/process-table.ts';
import { missingTmux } from '../platform/missing-tmux.ts';
import { isServed, restoreSocket } from './lost-socket.ts';

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
  /** How its server is reached. */
  readonly connection: ConnectionOptions;
  readonly target: string;
  #carrier: Promise<Engine> | undefined;
  /** Why tmux is not asked for now: it owes an answer. */
  #silence: unknown;
  /** Why tmux, which runs, cannot be reached. */
  #hidden: PolyError | undefined;
  #restoring: Promise<number | undefined> | undefined;
  /** The file that was the socket of a server when it was last looked at. */
  #socketFile: string | undefined;

  constructor(options: TmuxSessionOptions) {
    this.#options = options;
    const { socket, configFile, env } = options;
    this.connection = {
      ...(socket.includes('/') ? { socketPath: socket } : { socketName: socket }),
      configFile,
      env: {
        ...env,
        ...Object.fromEntries(
          Object.keys(env)
            .filter((name) => isOurs(name) || marksOfTools.test(name))
            .map((name) => [name, undefined]),
        ),
      },
    };
    this.target = `=${options.session}:`;
  }

  async info(): Promise<SessionInfo> {
    const { socket, session } = this.#options;
    const running = await this.usable();
    const { trouble } = this;
    return { running, ...(trouble && { trouble }), tmux: 'tmux', socket, name: session };
  }

  /** What is wrong while tmux owes an answer, when it may be there and nobody can know, or has lost its socket. */
  get trouble(): string | undefined {
    return this.#silence ? silent.message : this.#hidden?.message;
  }

  /** Whether the session is there. Throws when that cannot be known: nobody may be taken for dead on a guess. */
  async running(): Promise<boolean> {
    await this.#find();
    if (!existsSync(this.socketPath)) return false;
    const asked = { argv: ['has-session', '-t', this.target], effect: 'read' } as const;
    try {
      const reply = await this.#carry((engine, limit) => engine.run(asked, limit));
      return reply.status === 'complete';
    } catch (error) {
      // Anything else, a server that does not answer for instance, leaves open whether it is there.
      const { TmuxError } = await loadTmux();
      const cause = error instanceof PolyError && error.cause;
      if (cause instanceof TmuxError && cause.code === 'no_server') return false;
      // Where there is no tmux to ask with, the socket of one that has died still tells.
      if (cause instanceof TmuxError && cause.code === 'missing_binary' && !(await isServed(this.socketPath)))
        return false;
      throw error;
    }
  }

  /** A server that has lost its socket is not taken for gone: another would be started beside it. */
  async #find(): Promise<void> {
    const path = this.socketPath;
    const found = fileAt(path);
    if (found !== undefined && found === this.#socketFile) return;
    this.#restoring ??= restoreSocket(path).finally(() => {
      this.#restoring = undefined;
    });
    const pid = await this.#restoring;
    this.#hidden = pid === undefined ? undefined : hidden(path, pid);
    if (this.#hidden) throw this.#hidden;
    this.#socketFile = fileAt(path);
  }

  /** Whether the session is known to be there. */
  usable(): Promise<boolean> {
    return this.running().catch(() => false);
  }

  /** Throws when there is no tmux that it could be started with. */
  async needProgram(): Promise<void> {
    const { createEngine } = await loadTmux();
    await createEngine('subprocess', this.connection)
      .version()
      .catch((cause: unknown) => {
        throw unreachable(cause);
      });
  }

  /** For each person who looks at it the panes before them; programs that are attached, ours among them, do not count. */
  async shown(): Promise<readonly (readonly string[])[]> {
    const format =
      '#{client_control_mode} #{?session_group,#{session_group},#{session_name}}\t#{P:#{pane_id} }';
    const clients = (await this.read('list-clients', '-F', format))
      .split('\n')
      .map((line) => line.split('\t'));
    return clients
      .filter(([client]) => client === `0 ${this.#options.session}`)
      .map(([, panes = '']) => panes.split(' ').filter(Boolean));
  }

  /** The terminals of the people who look at it, and what each is called. */
  async terminals(): Promise<readonly { readonly device: string; readonly name: string }[]> {
    if (!(await this.running())) return [];
    const format = '#{client_control_mode}\t#{client_tty}\t#{client_termtype} #{client_termname}';
    const clients = (await this.read('list-clients', '-F', format))
      .split('\n')
      .map((line) => line.split('\t'));
    return clients.flatMap(([control, device = '', name = '']) =>
      control === '0' && device.startsWith('/dev/') ? [{ device, name }] : [],
    );
  }

  /**
   * Ends the control clients that killed hubs have left behind: tmux 3.3a sometimes keeps one whose other end is gone,
   * and then never ends itself.
   */
  async endOrphans(): Promise<void> {
    if (!(await this.running())) return;
    const clients = await this.read('list-clients', '-F', '#{client_control_mode} #{client_pid}');
    const pids = new Set(
      clients.split('\n').flatMap((line) => (line.startsWith('1 ') ? [Number(line.slice(2))] : [])),
    );
    const all = await listProcesses();
    const parents = new Map(all.map((entry) => [entry.pid, entry]));
    for (const { pid, parent } of all.filter((entry) => pids.has(entry.pid))) {
      // A client somebody uses has the program that uses it as its parent; an orphan has the one that takes in all.
      if (parent === 1 || /^(systemd|init|launchd)$/.test(parents.get(parent)?.name ?? ''))
        process.kill(pid, 'SIGKILL');
    }
  }

  async start(): Promise<void> {
    if (await this.running()) return;
    const { session } = this.#options;
    const home = this.#options.env.HOME ?? '/';
    await this.run('new-session', '-d', '-s', session, '-c', home, '-x', '120', '-y', '40');
  }

  /** Ends the session with those that only show it, and the server with it when nobody has another there. */
  async stop(): Promise<void> {
    if (!(await this.running())) return;
    const format = '#{session_id} #{?session_group,#{session_group},#{session_name}}';
    const sessions = (await this.read('list-sessions', '-F', format)).trim().split('\n');
    const ours = sessions.filter((line) => line.endsWith(` ${this.#options.session}`));
    try {
      if (ours.length === sessions.length) await this.run('kill-server');
      else for (const line of ours) await this.run('kill-session', '-t', line.split(' ', 1)[0] ?? '');
    } catch (error) {
      // A server that ends may do so before it has answered.
      if (await this.running()) throw error;
    }
  }

  /** Runs one command and answers what it printed; a refusal of tmux is an error. */
  async run(...argv: readonly string[]): Promise<string> {
    return answerOf(argv[0] ?? '', await this.#carry((engine, limit) => engine.run({ argv }, limit)));
  }

  async read(...argv: readonly string[]): Promise<string> {
    const reply = await this.#carry((engine, limit) => engine.run({ argv, effect: 'read' }, limit));
    return answerOf(argv[0] ?? '', reply);
  }

  /** Runs commands on one line, so that nothing happens between them; answers what each printed. */
  async runLine(commands: readonly (readonly string[])[]): Promise<readonly string[]> {
    const chain = commands.map((argv) => ({ argv }));
    const replies = await this.#carry((engine, limit) => engine.runChain(chain, limit));
    return replies.map((reply, index) => answerOf(commands[index]?.[0] ?? '', reply));
  }

  /** Waits, beside everything else, until somebody signals the channel; answers false when tmux has gone. */
  async waitFor(channel: string, signal: AbortSignal): Promise<boolean> {
    const engine = await this.#engine();
    const wait = { argv: ['wait-for', channel], ownProcess: true };
    return (await engine.run(wait, { signal, timeoutMs: longestWaitMs })).status === 'complete';
  }

  async events(): Promise<Events> {
    return (await loadTmux()).Events.open(this.connection, { output: false });
  }

  async close(): Promise<void> {
    await (await this.#carrier)?.close();
  }

  get socketPath(): string {
    const { socket, env } = this.#options;
    if (socket.includes('/')) return socket;
    return join(env.TMUX_TMPDIR || '/tmp', `tmux-${process.getuid?.() ?? 0}`, socket);
  }

  #engine(): Promise<Engine> {
    this.#carrier ??= loadTmux().then(({ createEngine }) => createEngine('control', this.connection));
    return this.#carrier;
  }

  /** One that let somebody wait in vain is not asked again before it has answered. */
  async #carry<T>(work: (engine: Engine, limit: RunOptions) => Promise<T>): Promise<T> {
    if (this.#silence) throw unreachable(this.#silence);
    const engine = await this.#engine();
    try {
      return await work(engine, { timeoutMs: patienceMs });
    } catch (cause) {
      const { TmuxError } = await loadTmux();
      if (!(cause instanceof TmuxError)) throw cause;
      if (cause.code === 'timed_out') this.#waitOut(engine, cause);
      throw unreachable(cause);
    }
  }

  #waitOut(engine: Engine, cause: unknown): void {
    if (this.#silence) return;
    this.#silence = cause;
    const answered = (): void => {
      this.#silence = undefined;
    };
    const asked = { argv: ['has-session', '-t', this.target], effect: 'read' } as const;
    engine.run(asked, { timeoutMs: longestWaitMs }).then(answered, answered);
  }
}

/** Which file lies at a path: another one at the same place is told from it. */
function fileAt(path: string): string | undefined {
  const stat = existsSync(path) ? statSync(path, { throwIfNoEntry: false, bigint: true }) : undefined;
  return stat && `${stat.dev} ${stat.ino} ${stat.ctimeNs}`;
}

const silent = {
  message: 'tmux takes calls and does not answer: it may be stopped.',
  hint: 'Let it go on with kill -CONT and the pid of its server, or use a pty pane: --backend pty.',
};

function hidden(path: string, pid: number): PolyError {
  return new PolyError(
    'unavailable',
    `tmux runs (pid ${pid}), but its socket ${path} is gone and could not be made anew.`,
    { hint: `Move it back, or make its folder writable again and let tmux make another: kill -USR1 ${pid}` },
  );
}

function unreachable(cause: unknown): PolyError {
  const { code, message } = cause as Error & { readonly code?: string };
  if (code === 'timed_out') return new PolyError('unavailable', silent.message, { hint: silent.hint, cause });
  if (code === 'missing_binary')
    return missingTmux(cause as Error, {
      whose: ' of the hub',
      instead: 'Or use a pty pane, which needs none: --backend pty.',
    });
  return new PolyError('unavailable', `tmux cannot be used: ${message}`, {
    hint: 'See poly doctor, or use a pty pane: --backend pty.',
    cause,
  });
}

/** What a tmux server would pass on to every pane, and is about the hub or another tmux. */
const isOurs = (name: string): boolean => /^(POLY_|TMUX$|TMUX_PANE$)/.test(name);

const longestWaitMs = 2 ** 30;
/** How long tmux may take; it takes microseconds, and a stopped one for ever. */
const patienceMs = 5_000;

/** Not before it is needed: a hub without tmux panes should not carry it. */
function loadTmux(): Promise<typeof Tmux> {
  return import('@polyphony/tmux');
}

function answerOf(command: string, reply: Reply): string {
  if (reply.status === 'complete') return reply.stdout;
  throw new PolyError('conflict', `tmux refused ${command}: ${reply.stderr || reply.status}`);
}
