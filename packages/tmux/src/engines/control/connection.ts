import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ConnectionOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { missingBinary, spawnTmux } from '../tmux-process.ts';
import { type Block, Frames } from './frames.ts';
import { LineSplitter } from './lines.ts';

export interface ControlHandlers {
  /** Every line that answers no command: notifications, blocks of hooks, stray text. */
  readonly onNotice: (line: string) => void;
  readonly onClose: () => void;
}

const startupMs = 5_000;
const endMs = 500;

/** One `tmux -C` process, attached to one session. It never resizes a window and never changes an environment. */
export class ControlConnection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #frames: Frames;
  #onNotice: (line: string) => void;
  #outgoing = '';
  #open = true;
  readonly closed: Promise<void>;

  private constructor(child: ChildProcessWithoutNullStreams, handlers: ControlHandlers) {
    this.#child = child;
    this.#onNotice = handlers.onNotice;
    this.#frames = new Frames((line) => {
      if (line.startsWith('%exit')) this.#open = false;
      this.#onNotice(line);
    });
    const lines = new LineSplitter((line) => this.#frames.line(line));
    child.stdout.on('data', (chunk: Buffer) => lines.feed(chunk));
    child.stderr.resume();
    // Safe to ignore: a tmux that no longer reads has ended, and its close event fails what is pending.
    child.stdin.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      child.on('close', () => {
        this.#open = false;
        this.#frames.end();
        handlers.onClose();
        resolve();
      });
    });
  }

  /** Attaches to a session; answers when tmux has acknowledged, and fails with tmux's own words when it refuses. */
  static async open(
    connection: ConnectionOptions,
    session: string,
    flags: string,
    handlers: ControlHandlers,
  ): Promise<ControlConnection> {
    const child = spawnTmux(connection, ['-C', 'attach-session', '-E', '-f', flags, '-t', session]);
    const opened = new ControlConnection(child, handlers);
    const failed = new Promise<never>((_, reject) =>
      child.on('error', (cause) => reject(missingBinary(connection, cause))),
    );
    try {
      await Promise.race([opened.#acknowledged(session), failed]);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    return opened;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Sends one line; `settle` gets what tmux said to it, `lose` is called when the connection ends first. */
  send(line: string, settle: (blocks: readonly Block[]) => void, lose: (unsent: boolean) => void): void {
    if (!this.#open) {
      lose(true);
      return;
    }
    const nonce = newGuard();
    this.#frames.expect({ nonce, settle, lose });
    // One write for all lines of this turn of the event loop.
    if (this.#outgoing === '') queueMicrotask(() => this.#flush());
    this.#outgoing += `${line}\nx${nonce}\n`;
  }

  /** Leaves the session (tmux sees the end of its input), and only then insists. */
  async close(): Promise<void> {
    this.#flush();
    this.#child.stdin.end();
    const insisting = [
      setTimeout(() => this.#child.kill('SIGTERM'), endMs),
      setTimeout(() => this.#child.kill('SIGKILL'), endMs * 3),
    ];
    await this.closed;
    for (const timer of insisting) clearTimeout(timer);
  }

  /** The first block answers the attach itself and is nobody's reply. */
  #acknowledged(session: string): Promise<void> {
    const onNotice = this.#onNotice;
    const lines: string[] = [];
    return new Promise<void>((resolve, reject) => {
      const refuse = (why: string): void =>
        reject(
          new TmuxError('connection_lost', `tmux -C did not attach to ${session}: ${why}.`, { session }),
        );
      const timer = setTimeout(() => refuse(`no answer within ${startupMs} ms`), startupMs);
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        this.#onNotice = onNotice;
        then();
      };
      this.#onNotice = (line) => {
        lines.push(line);
        if (line.startsWith('%end ')) settle(resolve);
        else if (line.startsWith('%error ')) settle(() => refuse(lines.slice(1, -1).join(' ')));
      };
      void this.closed.then(() => settle(() => refuse(lines.join(' ') || 'it ended at once')));
    });
  }

  #flush(): void {
    if (this.#outgoing === '') return;
    this.#child.stdin.write(this.#outgoing);
    this.#outgoing = '';
  }
}
