import { isAbsolute } from 'node:path';
import { marksOfTools } from '@polyphony/protocol';

/** Our own variables, which tell a program whose child it is; never passed on by accident. */
const ours = /^(POLY_(?!HOME$)|PTY_WEB_)|^TMUX$|^TMUX_PANE$/;

export interface PaneAddress {
  readonly id: string;
  /** Where the hub keeps everything. */
  readonly home: string;
  /** Folder of the host; it finds what a pane has started by this and the id. */
  readonly host: string;
  readonly token: string;
  readonly socket: string;
  readonly port: number | null;
  readonly url: string | null;
}

/** The user's environment without our secrets and without the marks of an agent that started the hub, what the creator added, and who the pane is. */
export function paneEnvironment(
  user: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
  { id, home, host, token, socket, port, url }: PaneAddress,
): Record<string, string> {
  const kept = Object.entries(user).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !ours.test(entry[0]) && !marksOfTools.test(entry[0]),
  );
  const given = added.POLY_HOME ?? user.POLY_HOME;
  return {
    ...Object.fromEntries(kept),
    TERM: 'xterm-256color',
    ...added,
    // What was given from the folder of the caller would be another one in that of the pane.
    ...(given && !isAbsolute(given) && { POLY_HOME: home }),
    POLY_PANE: id,
    POLY_HOST: host,
    POLY_TOKEN: token,
    POLY_SOCKET: socket,
    ...(port !== null && { POLY_PORT: String(port) }),
    ...(url !== null && { POLY_BASE_URL: url }),
  };
}
