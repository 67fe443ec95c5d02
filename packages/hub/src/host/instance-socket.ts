import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { errnoOf, HostError } from './host-error.ts';

/**
 * Sockets are numbered, and the highest number is the host's, dead or alive. It is never removed, only followed by
 * the next: to take over from a dead one is to link the next number, which the kernel lets one process do.
 */
const socketName = /^(\d+)\.sock$/;

/** The folder of a host, made if missing and refused if anybody else can look into it. */
export function hostDirectory(path: string): string {
  const dir = resolve(path);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.mode & 0o077 || (process.getuid && stat.uid !== process.getuid())) {
    throw new HostError('unsafe_directory', `${dir} is not a folder that only you can look into.`, { dir });
  }
  return dir;
}

function highest(dir: string): number {
  return Math.max(0, ...readdirSync(dir).map((name) => Number(socketName.exec(name)?.[1] ?? 0)));
}

const pathOf = (dir: string, number: number): string => join(dir, `${number}.sock`);

/** A connection to the host of a folder, or null when none lives. */
export async function connectInstance(dir: string): Promise<Socket | null> {
  const number = highest(dir);
  return number === 0 ? null : connect(pathOf(dir, number));
}

function connect(path: string): Promise<Socket | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket | null>();
  const socket = createConnection(path);
  socket.once('connect', () => resolve(socket));
  socket.once('error', (error) => {
    const errno = errnoOf(error);
    // Many call at once: it lives and its queue is full.
    if (errno === 'EAGAIN') setTimeout(() => resolve(connect(path)), 10);
    else if (errno === 'ECONNREFUSED' || errno === 'ENOENT') resolve(null);
    else reject(error);
  });
  return promise;
}

/** Becomes the one host of a folder: answers with the listening server, or null when another host lives. */
export async function claimInstance(
  dir: string,
  onConnection: (socket: Socket) => void,
): Promise<Server | null> {
  const draft = join(dir, `${randomBytes(3).toString('hex')}.new`);
  const server = createServer(onConnection);
  await listen(server, draft);
  chmodSync(draft, 0o600);
  try {
    for (;;) {
      const number = highest(dir);
      const other = number === 0 ? null : await connect(pathOf(dir, number));
      if (other) {
        other.destroy();
        break;
      }
      try {
        linkSync(draft, pathOf(dir, number + 1));
      } catch (error) {
        if (errnoOf(error) === 'EEXIST') continue;
        throw error;
      }
      // Who looked long ago may have taken a number that is over; the highest is asked again then.
      if (highest(dir) === number + 1) {
        tidy(dir, number);
        return server;
      }
      rmSync(pathOf(dir, number + 1), { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
  server.close();
  return null;
}

/** Removes what hosts before this one have left, except what somebody may just be making. */
function tidy(dir: string, last: number): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const number = socketName.exec(name)?.[1];
    const isOld = (): boolean =>
      (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - 60_000;
    const isLeft = number === undefined ? name.endsWith('.new') && isOld() : Number(number) <= last;
    if (isLeft || name.endsWith('.fifo')) rmSync(path, { force: true });
  }
}

function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(path, 511, () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
}
