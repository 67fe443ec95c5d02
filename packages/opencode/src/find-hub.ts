import { lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PolyError } from '@polyphony/protocol';

export type Env = Readonly<Record<string, string | undefined>>;

export interface HubKey {
  /** Where it may listen, the likeliest first. */
  readonly sockets: readonly string[];
  readonly token: string;
  /** Its page for browsers. */
  readonly url?: string;
}

/** Where the hub is and what opens it: inside a pane as that pane, elsewhere as the user. Nothing where none has run. */
export function findHub(env: Env): HubKey | undefined {
  const home = resolve(env.POLY_HOME || join(env.HOME || homedir(), '.poly'));
  const { socket, url } = discovery(readIfThere(join(home, 'hub.json')));
  const token = env.POLY_TOKEN || readIfThere(join(home, 'token'))?.trim();
  const sockets = [env.POLY_TOKEN ? env.POLY_SOCKET : undefined, socket].filter((path) => path !== undefined);
  if (!token || sockets.length === 0) return undefined;
  return { sockets: [...new Set(sockets)].filter(isOurs), token, ...(url !== undefined && { url }) };
}

function discovery(text: string | undefined): { readonly socket?: string; readonly url?: string } {
  try {
    const { socket, url } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    return {
      ...(typeof socket === 'string' && { socket }),
      ...(typeof url === 'string' && { url }),
    };
  } catch {
    return {}; // Not a hub's: as good as none.
  }
}

/** A secret goes only to a socket that nobody else can have put there. */
function isOurs(socket: string): boolean {
  const folder = dirname(resolve(socket));
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return false;
  if (stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0) return true;
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
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new PolyError('forbidden', `${file} cannot be read: ${message}`, {
      hint: 'poly doctor says what is wrong.',
      cause,
    });
  }
}
