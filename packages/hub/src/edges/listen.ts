import { chmodSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { PolyError } from '@polyphony/protocol';
import { writePrivate } from '../platform/private-files.ts';

const usualPort = 4096;

/** Whoever made a socket that is still there is dead: the caller holds the lock. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  await listen(server, path);
  chmodSync(path, 0o600);
}

export interface PortWish {
  readonly hostname: string;
  /** Asked for by name, and then this or none. */
  readonly port: number | undefined;
  /** The file that remembers the last port, so that addresses outlive a restart. */
  readonly memory: string;
}

/** The port asked for; or else the last one, the usual one unless any was asked for, or any, whichever is free first. */
export async function listenOnPort(server: Server, { hostname, port, memory }: PortWish): Promise<number> {
  const candidates = port ? [port] : [...remembered(memory), ...(port === 0 ? [] : [usualPort]), 0];
  for (const candidate of candidates) {
    const failure = await listen(server, candidate, hostname).catch((error: NodeJS.ErrnoException) => error);
    if (!failure) break;
    if (failure.code === 'EADDRINUSE' && candidate !== candidates.at(-1)) continue;
    throw new PolyError('conflict', `the hub cannot listen on ${hostname}:${candidate}: ${failure.message}`, {
      hint: 'Free the port, or let any be taken: poly server start --port 0',
      cause: failure,
    });
  }
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new PolyError('internal', 'the port is not known.');
  writePrivate(memory, `${bound.port}\n`);
  return bound.port;
}

function remembered(memory: string): readonly number[] {
  try {
    const port = Number(readFileSync(memory, 'utf8'));
    return port > 0 && port < 65_536 ? [port] : [];
  } catch {
    return []; // The first start.
  }
}

async function listen(
  server: Server,
  ...where: readonly [path: string] | readonly [port: number, host: string]
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(...(where as [number, string]), () => {
    server.off('error', reject);
    resolve();
  });
  await promise;
}
