import { connect, type Socket } from 'node:net';
import { endianness } from 'node:os';
import type { Command, ConnectionOptions, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { assertCommand } from '../../operation/quote.ts';
import type { Reply } from '../../operation/reply.ts';
import { atLeast, parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { type Marked, markedChain, markedCommand } from '../chain.ts';
import { clientLine } from '../client-line.ts';
import { Deadlines } from '../deadline.ts';
import { socketPathOf } from '../socket.ts';
import { SubprocessEngine } from '../subprocess.ts';
import { Conversation, type Ending } from './conversation.ts';
import { commandMessage, identifyMessages } from './messages.ts';
import type { Layout } from './wire.ts';

/** A command, and what it finds on its standard input: the data of `load-buffer -`. */
export interface ImsgCommand extends Command {
  readonly input?: Uint8Array;
}

interface Call<T> {
  readonly commands: readonly ImsgCommand[];
  readonly marked: Marked<T>;
  /** The same by a tmux process, for when there is no server to talk to. */
  readonly byProcess: (options: RunOptions) => Promise<T>;
}

/** These take over a terminal, which only a process can hand to the server. */
const needsProcess = new Set(['attach-session', 'attach']);

/**
 * Speaks tmux's own client protocol over its socket, one connection a command: no process and nothing native. Commands
 * run one after the other in the order of the calls; those with `ownProcess` hold up none that come after them.
 * While no server listens, a tmux process runs the command instead, which starts one where tmux would.
 *
 * @example const engine = new ImsgEngine({ socketName: 'work' });
 */
export class ImsgEngine implements Engine {
  readonly name = 'imsg';
  readonly ordered = true;
  readonly #connection: ConnectionOptions;
  readonly #processes: SubprocessEngine;
  readonly #sockets = new Set<Socket>();
  readonly #deadlines = new Deadlines();
  #lane: Promise<unknown> = Promise.resolve();
  #version: Promise<TmuxVersion> | undefined;
  #layout: Promise<Layout> | undefined;
  #closed = false;

  constructor(connection: ConnectionOptions = {}) {
    this.#connection = connection;
    this.#processes = new SubprocessEngine(connection);
  }

  version(): Promise<TmuxVersion> {
    this.#version ??= this.#askVersion().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  async run(command: ImsgCommand, options: RunOptions = {}): Promise<Reply> {
    assertCommand(command.argv);
    const byProcess = (rest: RunOptions): Promise<Reply> => this.#processes.run(command, rest);
    return this.#deliver({ commands: [command], marked: markedCommand(command), byProcess }, options);
  }

  async runChain(commands: readonly ImsgCommand[], options: RunOptions = {}): Promise<readonly Reply[]> {
    for (const { argv } of commands) assertCommand(argv);
    if (commands.length === 0) return [];
    const marked = markedChain(commands.map(({ argv }) => argv));
    const byProcess = (rest: RunOptions): Promise<readonly Reply[]> =>
      this.#processes.runChain(commands, rest);
    return this.#deliver({ commands, marked, byProcess }, options);
  }

  /** Ends what still runs; the server takes a cut connection for a client that left. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
    await this.#processes.close();
    await this.#lane;
  }

  #deliver<T>(call: Call<T>, options: RunOptions): Promise<T> {
    const stopping = new AbortController();
    const rest = { ...options, signal: stopping.signal };
    return this.#deadlines.run(call.commands[0]?.argv ?? [], options, (resolve, reject) => {
      const work = async (): Promise<void> => {
        if (stopping.signal.aborted) return;
        await this.#attempt(call, rest).then(resolve, reject);
      };
      const turn = this.#lane.then(work);
      if (!call.commands.some((command) => command.ownProcess)) this.#lane = turn;
      return () => stopping.abort();
    });
  }

  async #attempt<T>(call: Call<T>, options: RunOptions & { readonly signal: AbortSignal }): Promise<T> {
    const { commands } = call;
    const argv = commands[0]?.argv ?? [];
    if (this.#closed) throw new TmuxError('engine_closed', 'This engine was closed.', { argv });
    if (commands.some((command) => needsProcess.has(command.argv[0] ?? ''))) return call.byProcess(options);
    const { words, input, read } = clientLine(call.marked);
    const given = commands[0]?.input;
    if (input && given) {
      throw new TmuxError('too_long', `${argv[0]} is too long to have a standard input as well.`, { argv });
    }
    const ending = await this.#converse(words, input ?? given, options.signal);
    if (ending.kind === 'answered') return read(ending);
    const onlyReads = commands.every(({ effect }) => effect === 'read');
    const mayRepeat =
      (ending.kind === 'unreachable' || onlyReads) && !this.#closed && !options.signal.aborted;
    if (mayRepeat) return call.byProcess(options);
    throw new TmuxError('connection_lost', `The connection to tmux ended before ${argv[0]} was answered.`, {
      argv,
    });
  }

  async #converse(
    words: readonly string[],
    input: Uint8Array = new Uint8Array(),
    signal: AbortSignal,
  ): Promise<Ending> {
    const layout = await this.#chooseLayout();
    const env = this.#connection.env ?? process.env;
    const { TMUX: _, TMUX_PANE: __, ...shown } = env;
    const command = commandMessage(words, layout);
    const burst = identifyMessages({ cwd: process.cwd(), pid: process.pid, env: shown }, layout);
    const socket = connect(socketPathOf(this.#connection, env));
    const cut = (): void => void socket.destroy();
    this.#sockets.add(socket);
    signal.addEventListener('abort', cut);
    try {
      return await new Conversation(socket, layout, input).run(Buffer.concat([burst, command]));
    } finally {
      signal.removeEventListener('abort', cut);
      this.#sockets.delete(socket);
    }
  }

  /** Only on a big-endian machine do the bytes of the two layouts differ when no descriptor is passed. */
  #chooseLayout(): Promise<Layout> {
    this.#layout ??=
      endianness() === 'LE'
        ? Promise.resolve('wide')
        : this.#processes.version().then((version) => (atLeast(version, '3.6') ? 'wide' : 'narrow'));
    return this.#layout;
  }

  async #askVersion(): Promise<TmuxVersion> {
    const { status, stdout } = await this.run({
      argv: ['display-message', '-p', '#{version}'],
      effect: 'read',
    });
    return status === 'complete' ? parseVersion(stdout) : this.#processes.version();
  }
}
