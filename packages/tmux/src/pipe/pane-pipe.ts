import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Engine } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { quoteLine } from '../operation/quote.ts';
import type { PaneId } from '../operation/target.ts';
import { type ProcessState, processState } from './process-state.ts';

export interface PanePipeOptions {
  /** Take the place of a pipe somebody else has opened on this pane. */
  readonly force?: boolean;
}

const greetingMs = 5_000;
/** How often, and how far apart, tmux is asked whether it has noticed the end of a pipe. */
const noticing = { tries: 20, everyMs: 5 };

/**
 * All that a pane prints from now on, as raw bytes, by tmux's pipe-pane: it costs the server next to nothing, needs no
 * attached client, and ends when the pane does. A pane has one pipe: somebody else's is never replaced unasked.
 * A reader that stops reading makes tmux keep the bytes in its memory, so read on or close.
 *
 * @example
 * await using pipe = await openPanePipe(engine, pane.id);
 * await pane.respawn({ kill: true, shell: 'printf "from the pane"' });
 * for await (const bytes of pipe) process.stdout.write(bytes);
 */
export async function openPanePipe(
  engine: Engine,
  paneId: PaneId,
  { force = false }: PanePipeOptions = {},
): Promise<PanePipe> {
  const fifo = await makeFifo();
  let holder: number | undefined;
  try {
    // A writing end of our own keeps the reading end from seeing an end of file before tmux's writer is there.
    holder = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const fd = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const pipe = new PanePipe(engine, paneId, new Socket({ fd, readable: true, writable: false }));
    try {
      await pipe.start(fifo, force);
    } catch (error) {
      pipe.destroy();
      throw error;
    }
    return pipe;
  } finally {
    if (holder !== undefined) closeSync(holder);
    // Both ends are open by now, or the attempt has failed: nobody needs the name any more.
    await rm(dirname(fifo), { recursive: true, force: true });
  }
}

/** A FIFO in a folder of its own, which is removed with it. */
async function makeFifo(): Promise<string> {
  let directory: string | undefined;
  try {
    directory = await mkdtemp(join(tmpdir(), 'poly-pipe-'));
    const fifo = join(directory, 'fifo');
    await promisify(execFile)('mkfifo', ['-m', '600', fifo]);
    return fifo;
  } catch (cause) {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TmuxError(
      'pipe_unavailable',
      `No pipe can be made in ${tmpdir()}: ${reason}`,
      { directory: tmpdir() },
      cause,
    );
  }
}

/**
 * The bytes of one pane; made by openPanePipe.
 *
 * @example
 * await using pipe = await pane.pipe();
 * await pane.sendText('echo hello', { enter: true });
 * for await (const bytes of pipe) if (bytes.includes('hello')) break;
 */
export class PanePipe implements AsyncIterable<Buffer>, AsyncDisposable {
  readonly paneId: PaneId;
  readonly #engine: Engine;
  readonly #socket: Socket;
  /** The process tmux has started to pass the bytes on. */
  #writer: (ProcessState & { readonly pid: number }) | null = null;

  constructor(engine: Engine, paneId: PaneId, socket: Socket) {
    this.#engine = engine;
    this.paneId = paneId;
    this.#socket = socket;
  }

  /** Lets tmux open the pipe, unless there is one; answers when its writer has said its first word. */
  async start(fifo: string, force: boolean): Promise<void> {
    // tmux expands formats and dates in this command, so that "#" and "%" stand doubled.
    const quoted = fifo.replaceAll("'", "'\\''").replace(/[#%]/g, '$&$&');
    const writer = `{ echo $$; exec cat; } > '${quoted}'`;
    // The writer prints nothing for -I to type, but only with it tmux sees the writer's end before the pane prints next.
    const open = ['pipe-pane', '-I', '-O', '-t', this.paneId, writer];
    // Look and open are one command: nobody can open a pipe in between.
    const unlessTaken = [
      'if-shell',
      '-F',
      '-t',
      this.paneId,
      '#{pane_pipe}',
      'display-message -p taken',
      quoteLine(open),
    ];
    const reply = await this.#engine.run({ argv: force ? open : unlessTaken, effect: 'write' });
    if (reply.stdout.trim() === 'taken') {
      throw new TmuxError('pipe_taken', `Pane ${this.paneId} is piped already.`, { paneId: this.paneId });
    }
    if (reply.status !== 'complete') {
      throw new TmuxError('command_failed', `Pane ${this.paneId} cannot be piped: ${reply.stderr.trim()}`, {
        paneId: this.paneId,
      });
    }
    const pid = Number(await this.#firstLine());
    const state = Number.isSafeInteger(pid) && pid > 1 ? await processState(pid) : null;
    this.#writer = state && { pid, ...state };
  }

  async #firstLine(): Promise<string> {
    const signal = AbortSignal.timeout(greetingMs);
    let heard = Buffer.alloc(0);
    while (!heard.includes('\n')) {
      const chunk: Buffer | null = this.#socket.read();
      if (chunk) heard = Buffer.concat([heard, chunk]);
      else {
        await once(this.#socket, 'readable', { signal }).catch((cause: unknown) => {
          throw new TmuxError(
            'timed_out',
            `The pipe of pane ${this.paneId} did not open.`,
            { paneId: this.paneId },
            cause,
          );
        });
      }
    }
    const end = heard.indexOf('\n') + 1;
    if (end < heard.length) this.#socket.unshift(heard.subarray(end));
    return heard.subarray(0, end).toString();
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return this.#socket[Symbol.asyncIterator]();
  }

  /**
   * Waits until all that a dead pane printed can be read. tmux calls a pane dead when its pipe has taken the last byte;
   * what is then left is with the writer, which sleeps when it has passed everything on; one that has ended passes on
   * no more. Aborted, it waits no longer.
   */
  async finish(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const before = this.#socket.bytesRead;
      const writer = await this.#livingWriter();
      // Two turns of the event loop: what is there to be read is read in between.
      await setImmediate();
      await setImmediate();
      if (this.#socket.readableEnded || this.#socket.destroyed) return;
      if ((writer?.state ?? 'S') === 'S' && this.#socket.bytesRead === before) return;
      await setTimeout(1);
    }
  }

  /**
   * Ends our own writer, and so the pipe; never what somebody has put in its place since. A reader gets what is left
   * and then the end; the pane can be piped again.
   */
  async close(): Promise<void> {
    if (!this.#socket.readableEnded && !this.#socket.destroyed) await this.#endWriter();
    // A loop over the bytes ends with them; without one nobody would read to the end.
    if (this.#socket.listenerCount('readable') === 0) this.destroy();
  }

  async #endWriter(): Promise<void> {
    const writer = await this.#livingWriter();
    if (!writer) return;
    try {
      process.kill(writer.pid, 'SIGKILL'); // A stopped one would not hear anything else.
    } catch {
      return; // It has ended by itself just now.
    }
    const asked = {
      argv: ['display-message', '-p', '-t', this.paneId, '#{pane_pipe}'],
      effect: 'read',
    } as const;
    for (let tries = 0; tries < noticing.tries; tries++) {
      // The pipe is closed, whatever the answer is: without one there is nothing to wait for.
      const reply = await this.#engine.run(asked).catch(() => null);
      if (reply?.stdout.trim() !== '1') return;
      await setTimeout(noticing.everyMs);
    }
  }

  /** The writer, unless it has ended: its number may then be that of any other process. */
  async #livingWriter(): Promise<(ProcessState & { readonly pid: number }) | null> {
    if (!this.#writer) return null;
    const now = await processState(this.#writer.pid);
    if (now === null || now.state === 'Z' || now.startedAt !== this.#writer.startedAt) return null;
    return { pid: this.#writer.pid, ...now };
  }

  /** Lets go of our end at once; tmux closes its own when the pane prints next. */
  destroy(): void {
    this.#socket.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
