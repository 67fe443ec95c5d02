import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { errnoOf, HostError } from './host-error.ts';

export interface PipeListener {
  /** The bytes are good until it returns. */
  onData(bytes: Uint8Array): void;
  onWriterGone(): void;
}

/** How long a writer that does not go away must be quiet to be done; an end that it tells is never waited for so long. */
const quietMs = 3_000;

/**
 * The reading end of a named pipe that a tmux pane's output is written to. The kernel tells exactly when the last
 * writer has gone; another may come after it.
 */
export class PipeSource {
  readonly path: string;
  readonly #listener: PipeListener;
  readonly #buffer: Buffer;
  /** Open from the beginning, so that no writer waits or fails. */
  #fd: number;
  /** None before the reading begins. */
  #socket: Socket | null = null;
  #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasWriter = true;
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;

  static async make(path: string, buffer: Buffer, listener: PipeListener): Promise<PipeSource> {
    try {
      await promisify(execFile)('mkfifo', ['-m', '600', path]);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new HostError(
        'pipe_unavailable',
        `No pipe can be made at ${path}: ${reason}`,
        {
          errno: errnoOf(cause),
        },
        cause,
      );
    }
    return new PipeSource(path, buffer, listener);
  }

  constructor(path: string, buffer: Buffer, listener: PipeListener) {
    this.path = path;
    this.#buffer = buffer;
    this.#listener = listener;
    this.#fd = this.#open();
  }

  /** Reads from now on. */
  begin(): void {
    if (!this.#closed) this.#socket ??= this.#read();
  }

  /** Reads no more until it is told to begin; what has come by then is not lost. */
  hold(): void {
    const socket = this.#socket;
    if (!socket || this.#closed) return;
    // Opened again before the old end closes: in between, a writer would have nobody to write to.
    this.#fd = this.#open();
    this.#socket = null;
    socket.destroy();
  }

  get isRead(): boolean {
    return this.#socket !== null;
  }

  /** Whether somebody writes, or is still expected to. */
  get hasWriter(): boolean {
    return this.#hasWriter;
  }

  /** From now on a writer is expected again. */
  expectWriter(): void {
    if (this.#hasWriter) return;
    this.#hasWriter = true;
    this.#ended = Promise.withResolvers();
  }

  #open(): number {
    // Opened this way while nobody writes, it reports an end only after a writer has come and gone (Linux).
    return openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  #read(): Socket {
    const socket = new Socket({
      fd: this.#fd,
      readable: true,
      writable: false,
      onread: {
        buffer: this.#buffer,
        callback: (size) => {
          this.expectWriter();
          this.#quiet?.refresh();
          this.#listener.onData(this.#buffer.subarray(0, size));
          return true;
        },
      },
    });
    socket.on('error', () => this.#writerGone()); // A pipe that cannot be read has ended.
    // Opened again before the old end closes: in between, the next writer would have nobody to write to.
    socket.on('end', () => {
      this.#writerGone();
      if (this.#closed) return;
      this.#fd = this.#open();
      this.#socket = this.#read();
    });
    socket.resume();
    return socket;
  }

  #writerGone(): void {
    this.#hasWriter = false;
    this.#ended.resolve();
    this.#listener.onWriterGone();
  }

  /** Waits until all has been read that the writer passed on: until it has gone or, if it stays, is quiet for long. */
  async drain(): Promise<void> {
    this.begin();
    const quiet = Promise.withResolvers<void>();
    this.#quiet = setTimeout(quiet.resolve, quietMs);
    await Promise.race([this.#ended.promise, quiet.promise]);
    clearTimeout(this.#quiet);
    this.#readRest();
  }

  /** What a second writer has left in the pipe since the first had gone, and the event loop has not seen yet. */
  #readRest(): void {
    const fd = this.#open();
    try {
      for (;;) {
        const size = readSync(fd, this.#buffer);
        if (size === 0) return;
        this.#listener.onData(this.#buffer.subarray(0, size));
      }
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN') throw error; // A writer is there, and nothing to read.
    } finally {
      closeSync(fd);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#socket) this.#socket.destroy();
    else closeSync(this.#fd);
    await rm(this.path, { force: true });
  }
}
