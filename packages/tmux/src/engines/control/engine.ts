import type { Command, ConnectionOptions, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { commandLine } from '../../operation/quote.ts';
import type { Reply } from '../../operation/reply.ts';
import type { SessionId } from '../../operation/target.ts';
import { parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { Deadlines } from '../deadline.ts';
import { SubprocessEngine } from '../subprocess.ts';
import { ControlConnection } from './connection.ts';
import { Delivery, type Dispatch, type Line, type Queued } from './delivery.ts';
import { chainReplies, type Frame, readFrame, replyOf } from './frames.ts';
import { decode } from './lines.ts';
import { quietSession } from './session-choice.ts';

const maxTries = 3;
/** After some connections that were of no use processes do the work for a while. */
const pauseMs = 5_000;

/** What answers in one block, of lines that no program in a pane has written. */
const answersInLines: ReadonlySet<string> = new Set([
  'display-message',
  'has-session',
  'list-clients',
  'list-panes',
  'list-sessions',
  'list-windows',
]);

export interface ControlEngineOptions {
  /** What hooks printed that followed commands of this engine, which is no command's answer: the lines of each. */
  readonly onUnsolicited?: (lines: readonly string[]) => void;
}

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
  readonly #dispatch: Dispatch = {
    deadlines: new Deadlines(),
    again: (delivery) => this.#queue.push(delivery),
    retire: (connection) => this.#retire(connection),
  };
  readonly #connections = new Set<ControlConnection>();
  #live: ControlConnection | null = null;
  #version: Promise<TmuxVersion> | null = null;
  #generation = 0;
  #closed = false;
  /** What could not be sent at once, in order; what a lost connection gives back stands first. */
  readonly #queue: Queued[] = [];
  #isPumping = false;
  #connecting: Promise<ControlConnection | null> | undefined;
  /** The ends of lost connections, as long as it is not known what became of their commands. */
  #ending: Promise<void> = Promise.resolve();
  #useless = 0;
  #pausedUntil = 0;

  readonly #onUnsolicited: ControlEngineOptions['onUnsolicited'];

  constructor(options: ConnectionOptions = {}, { onUnsolicited }: ControlEngineOptions = {}) {
    this.#options = options;
    this.#onUnsolicited = onUnsolicited;
    this.#processes = new SubprocessEngine(options);
  }

  /** How many connections there have been: it moves on when one was lost and another made. */
  get generation(): number {
    return this.#generation;
  }

  version(): Promise<TmuxVersion> {
    return (this.#live && this.#version) ?? this.#askVersion();
  }

  async #askVersion(): Promise<TmuxVersion> {
    await this.#connect();
    return this.#version ?? this.#processes.version();
  }

  run(command: Command, options: RunOptions = {}): Promise<Reply> {
    if (command.ownProcess || command.argv[0] === 'kill-server') return this.#apart(command, options);
    return this.#deliver(options, () => ({
      text: commandLine(command.argv),
      commands: [command],
      shares: command.effect === 'read' && answersInLines.has(command.argv[0] ?? ''),
      read: (frame) => replyOf(this.#overheard(frame)),
      byProcess: () => this.#processes.run(command, options),
    }));
  }

  async #apart(command: Command, options: RunOptions): Promise<Reply> {
    // A control client that is still attached can leave a killed server behind, half alive.
    if (command.argv[0] === 'kill-server') await this.#disconnect();
    return this.#processes.run(command, options);
  }

  async runChain(commands: readonly Command[], options: RunOptions = {}): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    const markers = [newGuard(), ...commands.map(() => newGuard())];
    const marked = commands.map(
      ({ argv }, i) => `${commandLine(argv)} ; display-message -p ${markers[i + 1]}`,
    );
    return this.#deliver(options, () => ({
      text: [`display-message -p ${markers[0]}`, ...marked].join(' ; '),
      commands,
      shares: false,
      read: (frame) => chainReplies(this.#overheard(frame), markers),
      byProcess: () => this.#processes.runChain(commands, options),
    }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect();
    await this.#processes.close();
  }

  #deliver<T>(options: RunOptions, line: () => Line<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const delivery = new Delivery(this.#dispatch, line(), options, resolve, reject);
      if (this.#live?.isOpen && this.#queue.length === 0 && !this.#isPumping) {
        delivery.over(this.#live);
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
        if (connection) for (const delivery of this.#queue.splice(0)) delivery.over(connection);
        else await this.#queue.shift()?.byProcess();
      } catch (error) {
        for (const delivery of this.#queue.splice(0)) delivery.fail(error);
      }
    }
    this.#isPumping = false;
  }

  /** The frame as it is; what hooks printed in it is told to whoever wants to know. */
  #overheard(frame: Frame): Frame {
    if (this.#onUnsolicited)
      for (const lines of readFrame(frame).hooks) this.#onUnsolicited(lines.map(decode));
    return frame;
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
    const version = await askVersion(connection);
    this.#version = Promise.resolve(version);
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

  /** Where nobody can be asked it counts as there: then nothing is sent that may have been executed. */
  async #exists(session: SessionId): Promise<boolean> {
    const asked = this.#processes.run({ argv: ['has-session', '-t', session], effect: 'read' });
    return asked.then(
      ({ status }) => status === 'complete',
      () => true,
    );
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
    connection.send("display-message -p '#{version}'", {
      settle: (frame) => {
        clearTimeout(timer);
        resolve(parseVersion(replyOf(frame).stdout));
      },
      lose: lost,
    });
  });
}
