import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { constants as system } from 'node:os';

/** Where bytes of the server go on this end. */
export interface Sink {
  write(bytes: Buffer): void;
  /** Safe to call twice; rejects when the bytes could not be kept. */
  close(): Promise<void>;
}

/** A sink that keeps its bytes for the answer. */
export function memorySink(pieces: Buffer[]): Sink {
  return { write: (bytes) => void pieces.push(bytes), close: () => Promise.resolve() };
}

/** A file the server writes through its client, opened the way tmux's own client opens it. */
export async function openFileSink(path: string, flags: number): Promise<Sink> {
  const file = await open(path, flags | constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o644);
  const pieces: Buffer[] = [];
  let closed: Promise<void> | undefined;
  return {
    write: (bytes) => void pieces.push(bytes),
    close: () => {
      closed ??= file.writeFile(Buffer.concat(pieces)).finally(() => file.close());
      return closed;
    },
  };
}

/** The number C knows an error of the file system by, which tmux turns into words. */
export function errnoOf(error: unknown): number {
  const { errno } = error as NodeJS.ErrnoException;
  return errno === undefined ? system.errno.EIO : Math.abs(errno);
}
