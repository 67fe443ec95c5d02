import type { Command, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { Call, type Deadlines } from '../deadline.ts';
import type { ControlConnection } from './connection.ts';
import type { Frame, Sharing } from './frames.ts';

/** One line for tmux, how its answer is read, and how a process would do it. */
export interface Line<T> {
  readonly text: string;
  readonly commands: readonly Command[];
  /** It only reads, and answers in one block. */
  readonly shares: boolean;
  readonly read: (frame: Frame) => T;
  readonly byProcess: () => Promise<T>;
}

/** A delivery, whatever it answers. */
export type Queued = Pick<Delivery<unknown>, 'over' | 'byProcess' | 'fail'>;

/** What an engine does with the deliveries of a connection that failed them. */
export interface Dispatch {
  readonly deadlines: Deadlines;
  again(delivery: Queued): void;
  retire(connection: ControlConnection): void;
}

const maxTries = 3;

/** A line on its way to tmux, over one connection after the other if it must be. */
export class Delivery<T> extends Call<T> implements Sharing {
  readonly #dispatch: Dispatch;
  readonly #line: Line<T>;
  #connection: ControlConnection | undefined;
  #tries = 0;
  #repeated = false;

  constructor(
    dispatch: Dispatch,
    line: Line<T>,
    options: RunOptions,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    super(dispatch.deadlines, line.commands[0]?.argv ?? [], options, resolve, reject);
    this.#dispatch = dispatch;
    this.#line = line;
  }

  over(connection: ControlConnection): void {
    if (this.isOver) return;
    this.#tries += 1;
    this.#connection = connection;
    if (this.#line.shares && !this.#repeated) connection.share(this.#line.text, this);
    else connection.send(this.#line.text, this);
  }

  repeat(): void {
    this.#repeated = true;
    if (this.#connection) this.over(this.#connection);
  }

  async byProcess(): Promise<void> {
    if (this.isOver) return;
    await this.#line.byProcess().then(
      (value) => this.answer(value),
      (error: unknown) => this.fail(error),
    );
  }

  /** A call that is over no longer listens: its late reply is recognised, and goes nowhere. */
  settle(frame: Frame): void {
    if (!this.isOver) this.answer(this.#line.read(frame));
  }

  /** Sent again is only what tmux cannot have begun, or what only reads. */
  lose(unsent: boolean): void {
    const harmless = unsent || this.#line.commands.every(({ effect }) => effect === 'read');
    if (harmless && this.#tries < maxTries) {
      this.#dispatch.again(this);
      return;
    }
    const message = `The connection to tmux ended before ${this.argv[0]} was answered.`;
    this.fail(new TmuxError('connection_lost', message, { argv: this.argv, unsent }));
  }

  override expire(): void {
    if (this.#connection) this.#dispatch.retire(this.#connection);
    super.expire();
  }
}
