import { lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Client, createClient, type HubRequest, PolyError } from '@polyphony/protocol';
import type { Env } from './env.ts';
import {
  type Conversing,
  converse,
  NobodyAnswers,
  NobodyListens,
  type Streamed,
  send,
  stream,
} from './socket-http.ts';

/** How a hub that runs tells where it is. */
export interface Discovery {
  readonly socket: string;
  readonly url?: string;
  readonly pid: number;
  readonly startTime: string;
  readonly version: string;
}

/** The same folder as platform/places.ts says, without what that loads: this stands before every command. */
export function homeOf(env: Env): string {
  return resolve(env.POLY_HOME || join(env.HOME || homedir(), '.poly'));
}

export function readDiscovery(env: Env): Discovery | undefined {
  const text = readIfThere(join(homeOf(env), 'hub.json'));
  if (text === undefined) return undefined;
  try {
    const found = JSON.parse(text) as Discovery;
    return typeof found.socket === 'string' ? found : undefined;
  } catch {
    return undefined; // Not a hub's: as good as none.
  }
}

interface HubKey {
  readonly pid: number | undefined;
  /** Where it may listen, the likeliest first. */
  readonly sockets: readonly string[];
  readonly token: string;
}

/** Inside a pane its own token and socket, elsewhere the user's; the socket is asked for again when it is gone. */
function findHub(env: Env): HubKey {
  const { socket: found, pid } = readDiscovery(env) ?? {};
  const token = env.POLY_TOKEN || readIfThere(join(homeOf(env), 'token'))?.trim();
  const sockets = [
    ...new Set([env.POLY_TOKEN && env.POLY_SOCKET, found].filter((path) => !!path)),
  ] as string[];
  if (!token || sockets.length === 0) throw noHub();
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new PolyError(
      'unauthenticated',
      `${env.POLY_TOKEN ? 'POLY_TOKEN' : 'the token file'} holds no token.`,
    );
  return { pid, sockets, token };
}

const noHubRuns = 'no hub is running.';

function noHub(): PolyError {
  return new PolyError('unreachable', noHubRuns, { hint: 'Start one with: poly up' });
}

/** Whether a call failed because nobody was there to be asked, so that nothing of it has happened. */
export const isNoHub = (error: unknown): boolean => error instanceof PolyError && error.message === noHubRuns;

function silent(pid = 0): PolyError {
  return new PolyError(
    'timed_out',
    `the hub (pid ${pid}) takes calls and does not answer: it may be stopped.`,
    {
      hint: `kill -CONT ${pid} lets it go on, and it may then do what was asked; kill -9 ${pid} ends it, panes live on, and poly up starts another.`,
    },
  );
}

/** Asks with whatever carries a request, at the first socket where somebody listens. */
async function atHub<T>({ sockets, pid }: HubKey, ask: (socket: string) => Promise<T>): Promise<T> {
  for (const socket of sockets) {
    if (!isOurs(socket)) continue;
    try {
      return await ask(socket);
    } catch (error) {
      if (error instanceof NobodyAnswers) throw silent(pid);
      if (!(error instanceof NobodyListens)) throw error;
    }
  }
  throw noHub();
}

/** The hub as calls; it is looked for when the first one is made. */
export function connectHub(env: Env): Client {
  const key = findHub(env);
  return createClient({
    token: key.token,
    transport: (request) => atHub(key, (socket) => send(socket, request)),
  });
}

export function streamFromHub(
  env: Env,
  path: string,
  headers: HubRequest['headers'] = {},
): Promise<Streamed> {
  const key = findHub(env);
  return atHub(key, (socket) =>
    stream(socket, { method: 'GET', path, headers: { authorization: `Bearer ${key.token}`, ...headers } }),
  );
}

/** A connection to the hub on which something else than HTTP is spoken from now on. */
export function converseWithHub(env: Env, path: string, protocol: string): Promise<Conversing> {
  const key = findHub(env);
  const headers = { authorization: `Bearer ${key.token}` };
  return atHub(key, (socket) => converse(socket, { method: 'GET', path, headers }, protocol));
}

/** The socket somebody listens on now, for what needs a connection of its own. */
export async function openDoor(env: Env): Promise<{ readonly socket: string; readonly token: string }> {
  const key = findHub(env);
  const socket = await atHub(key, async (path) => {
    await send(path, { method: 'GET', path: '/health', headers: {} });
    return path;
  });
  return { socket, token: key.token };
}

/** A secret goes only to a socket that nobody else can have put there. Answers whether its folder is there at all. */
function isOurs(socket: string): boolean {
  const folder = dirname(resolve(socket));
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return false;
  const uid = process.getuid?.();
  if (stat.isDirectory() && (uid === undefined || stat.uid === uid) && (stat.mode & 0o077) === 0) return true;
  throw new PolyError(
    'forbidden',
    `${folder} is not yours alone, so that no token is sent to the hub in it.`,
    {
      hint: `If it is your folder: chmod 700 ${folder}`,
    },
  );
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new PolyError('forbidden', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'poly doctor says what is wrong.',
      cause,
    });
  }
}
