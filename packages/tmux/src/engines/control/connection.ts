import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ConnectionOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { newGuard } from '../../operation/guard.ts';
import { missingBinary, spawnTmux } from '../tmux-process.ts';
import { Frames, type Sharing, type Waiters, type Waiting } from './frames.ts';
import { tieToUs } from './lifeline.ts';
import { LineSplitter } from './lines.ts';

const startupMs = 5_000;
const endMs = 500;
/** More would save little, and the first would wait longer for its answer. */
const shareAtMost = 32;

/** One `tmux -C` process, attached to one session. It never resizes a window and never changes an environment. */
export class ControlConnection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #frames: Frames;
  #onNotice: (line: string) => void;
  #outgoing = '';
  /** Whose commands are in `#outgoing` without a sentinel behind them. */
  #sharing: Sharing[] = [];
  #open = true;
  #retired = false;
  /**
   * When the process has ended; what was pending then waits for `conclude`. `exited`: tmux said goodbye, which it does
   * when its session has ended, but also when somebody ended the client.
   */
  readonly closed: Promise<{ readonly exited: boolean }>;

  private constructor(child: ChildProcessWithoutNullStreams, onNotice: (line: string) => void) {
    this.#child = child;
    this.#onNotice = onNotice;
    this.#frames = new Frames((line) => this.#onNotice(line));
    const lines = new LineSplitter((line) => this.#frames.line(line));
    child.stdout.on('data', (chunk: Buffer) => lines.feed(chunk));
    child.stderr.resume();
    // Safe to ignore: a tmux that no longer reads has ended, and its close event fails what is pending.
    child.stdin.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      child.on('close', (_, signal) => {
        this.#open = false;
        resolve({ exited: signal === null && this.#frames.last === '%exit' });
      });
    });
  }

  /**
   * Attaches to a session; `onNotice` gets every line that answers no command: notifications, blocks of hooks, stray
   * text. Answers when tmux has acknowledged, and fails with tmux's own words when it refuses.
   */
  static async open(
    connection: ConnectionOptions,
    session: string,
    flags: string,
    onNotice: (line: string) => void,
  ): Promise<ControlConnection> {
    const child = spawnTmux(connection, ['-C', 'attach-session', '-E', '-f', flags, '-t', session]);
    tieToUs(child);
    const opened = new ControlConnection(child, onNotice);
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

  get answered(): number {
    return this.#frames.answered;
  }

  /** Whether a command waits for its answer. */
  get isBusy(): boolean {
    return !this.#frames.isIdle || this.#sharing.length > 0;
  }

  /** Sends one line; whoever waits is told what tmux said to it, or that the connection ended first. */
  send(line: string, waiting: Waiting): void {
    if (!this.#open) return void waiting.lose(true);
    this.#endSharing();
    this.#write(line);
    this.#endWith(waiting);
  }

  /** The same for a line whose answer is one block, and which changes nothing if it is sent again. */
  share(line: string, sharing: Sharing): void {
    if (!this.#open) return void sharing.lose(true);
    this.#write(line);
    this.#sharing.push(sharing);
    if (this.#sharing.length >= shareAtMost) this.#endSharing();
  }

  /** After the end: settles what tmux had answered, if it let us go, and loses the rest. */
  conclude(letGo: boolean): void {
    this.#frames.end(letGo);
  }

  /** Takes no more commands from its owner; it leaves as soon as nothing waits for an answer. */
  retire(): void {
    this.#retired = true;
    void this.#leaveWhenIdle();
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

  async #leaveWhenIdle(): Promise<void> {
    while (this.#open && this.#retired && this.isBusy) {
      await new Promise((resolve) => setTimeout(resolve, endMs).unref());
    }
    if (this.#open) await this.close();
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

  #write(line: string): void {
    // One write for all lines of this turn of the event loop.
    if (this.#outgoing === '') queueMicrotask(() => this.#flush());
    this.#outgoing += `${line}\n`;
  }

  #endWith(...waiting: Waiters): void {
    const nonce = newGuard();
    this.#frames.expect(nonce, ...waiting);
    this.#write(`x${nonce}`);
  }

  #endSharing(): void {
    if (this.#sharing.length > 0) this.#endWith(...this.#sharing.splice(0));
  }

  #flush(): void {
    this.#endSharing();
    if (this.#outgoing === '') return;
    this.#child.stdin.write(this.#outgoing);
    this.#outgoing = '';
  }
}
