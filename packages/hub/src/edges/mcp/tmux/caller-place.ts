import { realpathSync } from 'node:fs';
import type { Place } from '../tool.ts';

/** Where in tmux an agent runs, as far as it is known. */
export interface CallerPlace {
  /** The socket of its server. */
  readonly socket: string | undefined;
  readonly serverPid: number | undefined;
  readonly pane: string | undefined;
}

/** The server that is acted on, for comparing. */
export interface ServerPlace {
  readonly socket: string;
  readonly pid: number | undefined;
}

/** What `TMUX` (socket, pid of the server and session, with commas between) and `TMUX_PANE` say; nothing outside tmux. */
export function callerPlace({ tmux, tmuxPane }: Place): CallerPlace | undefined {
  if (!tmux && !tmuxPane) return undefined;
  // The path of the socket may itself hold a comma.
  const [, path, pid] = /^(\/.*),(\d+),\d+$/s.exec(tmux ?? '') ?? [];
  return {
    socket: path === undefined ? undefined : realPath(path),
    serverPid: pid === undefined ? undefined : Number(pid),
    pane: /^%\d+$/.test(tmuxPane ?? '') ? tmuxPane : undefined,
  };
}

/** Whether a server is known to be the caller's own: what "this is you" needs. */
export function isCallersServer(caller: CallerPlace | undefined, server: ServerPlace): boolean {
  if (caller?.socket === undefined || caller.socket !== server.socket) return false;
  return caller.serverPid === undefined || caller.serverPid === server.pid;
}

/** Whether a server can be the caller's own, for all that is known: what a refusal needs. */
export function mayBeCallersServer(caller: CallerPlace | undefined, server: ServerPlace): boolean {
  return caller !== undefined && (caller.socket === undefined || caller.socket === server.socket);
}

/** One path for one socket; that of a server which does not run is taken as it is given. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Nothing is there: nothing can be a link.
  }
}
