import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { listProcesses } from '../host/process-table.ts';

const lookEveryMs = 10;
/** How long tmux may take to make a socket; it takes less than a millisecond. */
const patienceMs = 1_000;

/**
 * Lets a tmux server whose socket was deleted, moved or replaced by that of a server that has died make it anew, and
 * answers which server cannot; nothing when there is none, or its socket is there. Only Linux says who listens at a path
 * where there is no file.
 */
export async function restoreSocket(path: string): Promise<number | undefined> {
  if (process.platform !== 'linux' || (await isServed(path))) return undefined;
  const pid = await listenerAt(path);
  if (pid === undefined) return undefined;
  // Its folder, which tmux makes when it starts and not later, may be gone too.
  await mkdir(dirname(path), { mode: 0o700 }).catch(() => undefined);
  process.kill(pid, 'SIGUSR1');
  for (let waited = 0; waited < patienceMs; waited += lookEveryMs) {
    if (await isServed(path)) return undefined;
    await setTimeout(lookEveryMs);
  }
  return pid;
}

/** Whether somebody lives behind a socket: its file outlives a server that was killed. */
export async function isServed(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(path);
  socket.once('connect', () => resolve(true));
  // Any other trouble, a full queue for instance, is that of one who lives.
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  return promise.finally(() => socket.destroy());
}

/** The tmux that listens at a path; the signal is sent to nobody else, whom it would end. */
async function listenerAt(path: string): Promise<number | undefined> {
  const sockets = new Set(
    readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, inode, bound] = listening.exec(line) ?? [];
        return bound === path ? [`socket:[${inode}]`] : [];
      }),
  );
  if (sockets.size === 0) return undefined;
  const servers = (await listProcesses()).filter(({ name }) => name.startsWith('tmux'));
  return servers.find(({ pid }) => filesOf(pid).some((file) => sockets.has(file)))?.pid;
}

/** Number, references, protocol, flags (it listens), type, state, inode and path. */
const listening = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.+)$/;

function filesOf(pid: number): readonly string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((fd) => readlinkSync(`${folder}/${fd}`));
  } catch {
    return []; // It has ended, or is somebody else's.
  }
}
