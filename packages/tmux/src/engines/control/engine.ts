import type { Command, ConnectionOptions, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { commandLine } from '../../operation/quote.ts';
import type { Reply } from '../../operation/reply.ts';
import { parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { Call, Deadlines } from '../deadline.ts';
import { SubprocessEngine } from '../subprocess.ts';
import { ControlConnection } from './connection.ts';
import { type Block, chainReplies, replyOf } from './frames.ts';
import { quietSession } from './session-choice.ts';

/** One line for tmux, how its answer is read, and how a process would do it. */
interface Line<T> {
  readonly text: string;
  readonly commands: readonly Command[];
  readonly options: RunOptions;
  readonly read: (blocks: readonly Block[]) => T;
  readonly byProcess: () => Promise<T>;
}

const maxTries = 3;

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
    const text = commandLine(command.argv);
    const byProcess = (): Promise<Reply> => this.#processes.run(command, options);
    if (command.ownProcess) return byProcess();
    if (command.argv[0] === 'kill-server') {
      // A control client that is still attached can leave a killed server behind, half alive.
      await this.#disconnect();
      return byProcess();
    }
    return this.#deliver({ text, commands: [command], options, read: replyOf, byProcess });
  }

  async runChain(commands: readonly Command[], options: RunOptions = {}): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    const markers = [newGuard(), ...commands.map(() => newGuard())];
    const marked = commands.map(
      ({ argv }, i) => `${commandLine(argv)} ; display-message -p ${markers[i + 1]}`,
    );
    const text = [`display-message -p ${markers[0]}`, ...marked].join(' ; ');
    const read = (blocks: readonly Block[]): readonly Reply[] => chainReplies(blocks, markers);
    const byProcess = (): Promise<readonly Reply[]> => this.#processes.runChain(commands, options);
    return this.#deliver({ text, commands, options, read, byProcess });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect();
    await this.#processes.close();
  }

  #deliver<T>(line: Line<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const argv = line.commands[0]?.argv ?? [];
      this.#send(line, new Call<T>(this.#deadlines, argv, line.options, resolve, reject), 1);
    });
  }

  /** Sends at once on a live connection; without one, waits its turn, connects, or lets a process do it. */
  #send<T>(line: Line<T>, call: Call<T>, tries: number): void {
    if (call.isOver) return;
    if (this.#live?.isOpen && this.#laneSize === 0) {
      this.#sendOn(this.#live, line, call, tries);
      return;
    }
    this.#inLane(async () => {
      const connection = await this.#connect();
      // The next in the lane may go once this one is sent; a process is awaited, so that order holds.
      if (connection) this.#sendOn(connection, line, call, tries);
      else if (!call.isOver) call.answer(await line.byProcess());
    }).catch((error: unknown) => call.fail(error));
  }

  #sendOn<T>(connection: ControlConnection, line: Line<T>, call: Call<T>, tries: number): void {
    connection.send(
      line.text,
      // A call that is over no longer listens: its late reply is recognised, and goes nowhere.
      (blocks) => call.answer(line.read(blocks)),
      (unsent) => {
        // Sent again is only what tmux cannot have begun, or what only reads.
        const harmless = unsent || line.commands.every(({ effect }) => effect === 'read');
        if (harmless && tries < maxTries) {
          this.#send(line, call, tries + 1);
          return;
        }
        const message = `The connection to tmux ended before ${call.argv[0]} was answered.`;
        call.fail(new TmuxError('connection_lost', message, { argv: call.argv, unsent }));
      },
    );
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
    this.#version = await askVersion(connection);
    if (connection.isOpen) this.#live = connection;
    this.#generation += 1;
    return this.#live;
  }

  async #disconnect(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    await live?.close();
  }
}

function askVersion(connection: ControlConnection): Promise<TmuxVersion> {
  return new Promise((resolve, reject) => {
    const lose = (): void =>
      reject(new TmuxError('connection_lost', 'The connection to tmux ended at once.'));
    connection.send(
      "display-message -p '#{version}'",
      (blocks) => resolve(parseVersion(replyOf(blocks).stdout)),
      lose,
    );
  });
}
