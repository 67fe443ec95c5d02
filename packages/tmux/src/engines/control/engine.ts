import type { Command, ConnectionOptions, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { commandLine } from '../../operation/quote.ts';
import type { Reply } from '../../operation/reply.ts';
import { parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { Deadlines } from '../deadline.ts';
import { SubprocessEngine } from '../subprocess.ts';
import { ControlConnection } from './connection.ts';
import { type Block, chainReplies, replyOf } from './frames.ts';
import { quietSession } from './session-choice.ts';

interface Call<T> {
  readonly line: string;
  readonly commands: readonly Command[];
  readonly options: RunOptions;
  readonly read: (blocks: readonly Block[]) => T;
  readonly byProcess: () => Promise<T>;
}

const maxTries = 3;
const askVersion = {
  line: "display-message -p '#{version}'",
  commands: [{ argv: ['display-message'] }],
  options: {},
  read: replyOf,
};

/**
 * Sends commands over one `tmux -C` process: about fifty times cheaper than a process a command, and exact.
 * It connects when first used and again after a loss; while there is no server, or no session it may sit in
 * without disturbing anybody, it runs a process a command instead.
 */
export class ControlEngine implements Engine {
  readonly name = 'control';
  readonly ordered = true;
  readonly #options: ConnectionOptions;
  readonly #processes: SubprocessEngine;
  readonly #deadlines = new Deadlines();
  #live: ControlConnection | null = null;
  #version: TmuxVersion | null = null;
  #generation = 0;
  #closed = false;
  /** Calls made while there was no connection, one after the other, so that order holds then too. */
  #lane: Promise<unknown> = Promise.resolve();
  #laneSize = 0;

  constructor(options: ConnectionOptions = {}) {
    this.#options = options;
    this.#processes = new SubprocessEngine(options);
  }

  /** How many connections there have been: it moves on when one was lost and another made. */
  get generation(): number {
    return this.#generation;
  }

  async version(): Promise<TmuxVersion> {
    if (this.#live && this.#version) return this.#version;
    await this.#inLane(() => this.#connect());
    return this.#version ?? this.#processes.version();
  }

  async run(command: Command, options: RunOptions = {}): Promise<Reply> {
    const line = commandLine(command.argv);
    if (command.ownProcess) return this.#processes.run(command, options);
    if (command.argv[0] === 'kill-server') {
      // A control client that is still attached can leave a killed server behind, half alive.
      await this.#disconnect();
      return this.#processes.run(command, options);
    }
    const byProcess = (): Promise<Reply> => this.#processes.run(command, options);
    return this.#deliver({
      line,
      commands: [command],
      options,
      read: replyOf,
      byProcess,
    });
  }

  async runChain(commands: readonly Command[], options: RunOptions = {}): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    const markers = [newGuard(), ...commands.map(() => newGuard())];
    const marked = commands.map(
      ({ argv }, i) => `${commandLine(argv)} ; display-message -p ${markers[i + 1]}`,
    );
    const line = [`display-message -p ${markers[0]}`, ...marked].join(' ; ');
    const read = (blocks: readonly Block[]): readonly Reply[] => chainReplies(blocks, markers);
    const byProcess = (): Promise<readonly Reply[]> => this.#processes.runChain(commands, options);
    return this.#deliver({ line, commands, options, read, byProcess });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect();
    await this.#processes.close();
  }

  /** Sends again only what tmux cannot have begun, or what only reads. */
  #deliver<T>(call: Call<T>, triesLeft: number = maxTries): Promise<T> {
    return this.#send(call).catch((error: unknown) => {
      if (!(error instanceof TmuxError) || error.code !== 'connection_lost' || triesLeft === 1) throw error;
      if (!error.details.unsent && !call.commands.every(({ effect }) => effect === 'read')) throw error;
      return this.#deliver(call, triesLeft - 1);
    });
  }

  /** Sends at once on a live connection; without one, waits its turn, connects, or lets a process do it. */
  #send<T>(call: Call<T>): Promise<T> {
    if (this.#live?.isOpen && this.#laneSize === 0) return this.#request(this.#live, call);
    let answer: Promise<T> | undefined;
    return this.#inLane(async () => {
      const connection = await this.#connect();
      answer = connection ? this.#request(connection, call) : call.byProcess();
      // The next in the lane may go once this one is sent; a process is awaited, so that order holds.
      if (!connection) await answer.catch(() => undefined); // Its caller gets the error below.
    }).then(() => answer as Promise<T>);
  }

  async #inLane<T>(turn: () => Promise<T>): Promise<T> {
    this.#laneSize += 1;
    const mine = this.#lane.then(turn).finally(() => {
      this.#laneSize -= 1;
    });
    this.#lane = mine.catch(() => undefined); // The caller of this turn gets the error; the lane goes on.
    return mine;
  }

  async #connect(): Promise<ControlConnection | null> {
    if (this.#closed) throw new TmuxError('engine_closed', 'This engine was closed.');
    if (this.#live?.isOpen) return this.#live;
    const session = await quietSession(this.#processes);
    if (session === null) return null;
    const connection = await ControlConnection.open(this.#options, session, 'no-output,ignore-size', {
      onNotice: () => undefined, // Events have a connection of their own.
      onClose: () => {
        if (this.#live === connection) this.#live = null;
      },
    });
    const reply = await this.#request(connection, askVersion);
    this.#version = parseVersion(reply.stdout);
    if (connection.isOpen) this.#live = connection;
    this.#generation += 1;
    return this.#live;
  }

  async #disconnect(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    await live?.close();
  }

  #request<T>(
    connection: ControlConnection,
    { line, commands, options, read }: Omit<Call<T>, 'byProcess'>,
  ): Promise<T> {
    const argv = commands[0]?.argv ?? [];
    return this.#deadlines.run<T>(argv, options, (resolve, reject) => {
      const lose = (unsent: boolean): void => {
        const message = `The connection to tmux ended before ${argv[0]} was answered.`;
        reject(new TmuxError('connection_lost', message, { argv, unsent }));
      };
      connection.send(line, (blocks) => resolve(read(blocks)), lose);
      return () => undefined; // The reply still comes, is recognised, and goes nowhere.
    });
  }
}
