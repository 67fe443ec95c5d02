import { type Client, type PaneInfo, PolyError } from '@polyphony/protocol';

/** Notes on a pane that say whose it is. */
export const notes: {
  readonly [Name in 'session' | 'directory' | 'process' | 'since' | 'notice' | 'noticed']: string;
} = {
  session: 'opencode.sessionID',
  directory: 'opencode.directory',
  /** The OpenCode that started it, by its number. */
  process: 'opencode.pid',
  /** The newest event before it was started. */
  since: 'opencode.since',
  /** Id of the message that tells its end. */
  notice: 'opencode.notice',
  /** Its end has been told. */
  noticed: 'opencode.noticed',
};

/** The panes that OpenCode has started in this directory; nobody else's exist here. */
export async function projectPanes(client: Client, directory: string): Promise<readonly PaneInfo[]> {
  const panes = await client.call('pane:list', {});
  return panes.filter(({ meta }) => meta[notes.directory] === directory);
}

export async function projectPane(client: Client, directory: string, id: string): Promise<PaneInfo> {
  const pane = (await projectPanes(client, directory)).find((one) => one.id === id);
  if (pane) return pane;
  throw new PolyError('not_found', `there is no terminal "${id}" in this project.`, {
    hint: 'pty_list shows those there are.',
  });
}

/** Ends what a session has started, and forgets it. */
export async function closeSessionPanes(client: Client, directory: string, session: string): Promise<void> {
  const panes = await projectPanes(client, directory);
  const closing = panes
    .filter(({ meta }) => meta[notes.session] === session)
    .map(({ id }) => client.call('pane:close', { paneId: id, cleanup: true }).catch(unlessGone));
  await Promise.all(closing);
}

/** Somebody else was faster. */
export function unlessGone(error: unknown): undefined {
  if (error instanceof PolyError && error.code === 'not_found') return undefined;
  throw error;
}
