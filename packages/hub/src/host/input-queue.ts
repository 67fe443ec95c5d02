import { writeSync } from 'node:fs';
import { errnoOf, HostError } from './host-error.ts';

interface Waiting {
  rest: Uint8Array;
  resolve(): void;
  reject(error: HostError): void;
}

const mostWaiting = 4 * 1024 * 1024;
const retryMs = { first: 1, longest: 50 };

/**
 * What is typed into a terminal, in order and each piece whole. libuv (1.52) spins on a pty whose program does not
 * read, so that we write ourselves and try again later.
 */
export class InputQueue {
  readonly #fd: number;
  readonly #waiting: Waiting[] = [];
  #size = 0;
  #retry: NodeJS.Timeout | null = null;
  #retryMs = retryMs.first;
  #closed = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Resolves when the terminal has taken all of it. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(exited());
    if (this.#size > 0 && this.#size + bytes.length > mostWaiting) {
      return Promise.reject(
        new HostError('input_full', `${this.#size} bytes wait to be read by the program already.`, {
          waiting: this.#size,
        }),
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ rest: bytes, resolve, reject });
    this.#size += bytes.length;
    if (this.#retry === null) this.#pump();
    return promise;
  }

  #pump(): void {
    this.#retry = null;
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const written = first.rest.length === 0 ? 0 : this.#take(first.rest);
      if (written === null) {
        this.#retry = setTimeout(() => this.#pump(), this.#retryMs);
        this.#retryMs = Math.min(retryMs.longest, this.#retryMs * 2);
        return;
      }
      if (written > 0) this.#retryMs = retryMs.first;
      this.#size -= written;
      first.rest = first.rest.subarray(written);
      if (first.rest.length > 0) continue;
      this.#waiting.shift();
      first.resolve();
    }
  }

  /** How many bytes the terminal took; null when it takes none now. */
  #take(bytes: Uint8Array): number | null {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return null;
      this.close();
      return 0;
    }
  }

  close(): void {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    for (const { reject } of this.#waiting.splice(0)) reject(exited());
  }
}

function exited(): HostError {
  return new HostError('pane_exited', 'The program has ended; nobody reads what is typed.');
}
