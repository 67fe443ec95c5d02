import type { Command, ConnectionOptions, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { commandLine } from '../../operation/quote.ts';
import type { Reply } from '../../operation/reply.ts';
import type { SessionId } from '../../operation/target.ts';
import { parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { Call, Deadlines } from '../deadline.ts';
import { SubprocessEngine } from '../subprocess.ts';
import { ControlConnection } from './connection.ts';
import { chainReplies, type Frame, replyOf } from './frames.ts';
import { quietSession } from './session-choice.ts';

/** One line for tmux, how its answer is read, and how a process would do it. */
interface Line<T> {
  readonly text: string;
  readonly commands: readonly Command[];
  readonly options: RunOptions;
  readonly read: (frame: Frame) => T;
  readonly byProcess: () => Promise<T>;
}

interface Delivery {
  readonly line: Line<unknown>;
  readonly call: Call<unknown>;
  readonly tries: number;
}

const maxTries = 3;
/** After some connections that were of no use processes do the work for a while. */
const pauseMs = 5_000;

/**
 * Sends commands over one `tmux -C` process: about fifty times cheaper than a process a command, and exact.
 * It connects when first used and again after a loss; while there is no server, or no session it may sit in
 * without disturbing anybody, it runs a process a command instead.
 *
 * @example
 * const engine = new ControlEngine(server.connection);
 * await execute(engine, listSessions());
 * await engine.close();
 */
export class ControlEngine implements Engine {
  readonly name = 'control';
  readonly ordered = true;
  readonly #options: ConnectionOptions;
  readonly #processes: SubprocessEngine;
  readonly #deadlines = new Deadlines();
  readonly #connections = new Set<ControlConnection>();
  #live: ControlConnection | null = null;
  #version: TmuxVersion | null = null;
  #generation = 0;
  #closed = false;
  /** What could not be sent at once, in order; what a lost connection gives back stands first. */
  readonly #queue: Delivery[] = [];
  #isPumping = false;
  #connecting: Promise<ControlConnection | null> | undefined;
  /** The ends of lost connections, as long as it is not known what became of their commands. */
  #ending: Promise<void> = Promise.resolve();
  #useless = 0;
  #pausedUntil = 0;

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
    await this.#connect();
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
    const read = (frame: Frame): readonly Reply[] => chainReplies(frame, markers);
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
      const call = new Call<T>(this.#deadlines, argv, line.options, resolve, reject);
      const delivery = { line, call, tries: 1 } as Delivery;
      if (this.#live?.isOpen && this.#queue.length === 0 && !this.#isPumping) {
        this.#send(this.#live, delivery);
      } else {
        this.#queue.push(delivery);
        void this.#pump();
      }
    });
  }

  /** Empties the queue in its order: onto a connection, or, where there can be none, through one process after the other. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#queue.length > 0) {
      try {
        const connection = await this.#connect();
        if (connection) for (const delivery of this.#queue.splice(0)) this.#send(connection, delivery);
        else await this.#byProcess(this.#queue.shift());
      } catch (error) {
        for (const { call } of this.#queue.splice(0)) call.fail(error);
      }
    }
    this.#isPumping = false;
  }

  async #byProcess(delivery: Delivery | undefined): Promise<void> {
    if (!delivery || delivery.call.isOver) return;
    await delivery.line.byProcess().then(
      (value) => delivery.call.answer(value),
      (error: unknown) => delivery.call.fail(error),
    );
  }

  #send(connection: ControlConnection, delivery: Delivery): void {
    const { line, call, tries } = delivery;
    if (call.isOver) return;
    call.onTimeout = () => this.#retire(connection);
    connection.send(
      line.text,
      // A call that is over no longer listens: its late reply is recognised, and goes nowhere.
      (frame) => call.answer(line.read(frame)),
      (unsent) => {
        // Sent again is only what tmux cannot have begun, or what only reads.
        const harmless = unsent || line.commands.every(({ effect }) => effect === 'read');
        if (harmless && tries < maxTries) {
          this.#queue.push({ ...delivery, tries: tries + 1 });
          return;
        }
        const message = `The connection to tmux ended before ${call.argv[0]} was answered.`;
        call.fail(new TmuxError('connection_lost', message, { argv: call.argv, unsent }));
      },
    );
  }

  #connect(): Promise<ControlConnection | null> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<ControlConnection | null> {
    await this.#ending;
    for (let tries = 1; tries <= maxTries; tries++) {
      if (this.#closed) throw new TmuxError('engine_closed', 'This engine was closed.');
      if (this.#live?.isOpen) return this.#live;
      const session = performance.now() < this.#pausedUntil ? null : await quietSession(this.#processes);
      if (session === null) return null;
      try {
        return await this.#attach(session);
      } catch (error) {
        // The session may have ended between our look and our coming: look again, in the end do without.
        if (!(error instanceof TmuxError) || error.code !== 'connection_lost') throw error;
      }
    }
    return null;
  }

  async #attach(session: SessionId): Promise<ControlConnection> {
    // Events have a connection of their own.
    const connection = await ControlConnection.open(
      this.#options,
      session,
      'no-output,ignore-size',
      () => undefined,
    );
    this.#connections.add(connection);
    void connection.closed.then(({ exited }) => {
      const end = this.#end(connection, session, exited);
      this.#ending = Promise.all([this.#ending, end]).then(() => undefined);
    });
    this.#version = await askVersion(connection);
    if (this.#closed) {
      await connection.close();
      throw new TmuxError('engine_closed', 'This engine was closed.');
    }
    this.#live = connection;
    this.#generation += 1;
    return connection;
  }

  /**
   * A goodbye of tmux is proof that it had said everything only if the session we sat in has ended: whoever ends the
   * client from outside gets the same goodbye, with answers cut off.
   */
  async #end(connection: ControlConnection, session: SessionId, exited: boolean): Promise<void> {
    this.#connections.delete(connection);
    if (this.#live === connection) this.#live = null;
    // Somebody's hook may throw every client out that comes: such a connection has answered no more than its version.
    this.#useless = connection.answered > 1 ? 0 : this.#useless + 1;
    if (this.#useless >= maxTries) {
      this.#useless = 0;
      this.#pausedUntil = performance.now() + pauseMs;
    }
    const letGo = exited && connection.isBusy && !this.#closed && !(await this.#exists(session));
    const newer = this.#queue.splice(0);
    connection.conclude(letGo);
    this.#queue.push(...newer);
    if (this.#queue.length > 0) void this.#pump();
  }

  async #exists(session: SessionId): Promise<boolean> {
    const reply = await this.#processes.run({ argv: ['has-session', '-t', session], effect: 'read' });
    return reply.status === 'complete';
  }

  /** A command that is not answered in time may hold up all after it: those get another connection. */
  #retire(connection: ControlConnection): void {
    if (this.#live === connection) this.#live = null;
    connection.retire();
  }

  async #disconnect(): Promise<void> {
    this.#live = null;
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    await this.#ending;
  }
}

const versionMs = 5_000;

function askVersion(connection: ControlConnection): Promise<TmuxVersion> {
  return new Promise((resolve, reject) => {
    const lost = (): void => {
      clearTimeout(timer);
      reject(new TmuxError('connection_lost', 'The connection to tmux ended at once.'));
    };
    const timer = setTimeout(() => {
      void connection.close();
      lost();
    }, versionMs);
    connection.send(
      "display-message -p '#{version}'",
      (frame) => {
        clearTimeout(timer);
        resolve(parseVersion(replyOf(frame).stdout));
      },
      lost,
    );
  });
}
