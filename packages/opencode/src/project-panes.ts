import { type Client, type Meta, type PaneInfo, PolyError } from '@polyphony/protocol';
import type { Hub } from './hub.ts';

/** Notes on a pane that say whose it is. */
export const notes: {
  readonly [Name in 'session' | 'directory' | 'seal' | 'process' | 'since' | 'notice' | 'noticed']: string;
} = {
  session: 'opencode.sessionID',
  directory: 'opencode.directory',
  /** Proves that we wrote the two above: any program in a pane can write notes on panes it makes. */
  seal: 'opencode.seal',
  /** The OpenCode that started it, by its number. */
  process: 'opencode.pid',
  /** The newest event before it was started. */
  since: 'opencode.since',
  /** Id of the message that tells its end. */
  notice: 'opencode.notice',
  /** Its end has been told. */
  noticed: 'opencode.noticed',
};

/** Where a pane belongs, as we have written and sealed it. */
export interface Owner {
  readonly session: string;
  readonly directory: string;
}

export function ownerNotes(hub: Hub, paneId: string, { session, directory }: Owner): Meta {
  const seal = hub.seal(JSON.stringify([paneId, session, directory]));
  return { [notes.session]: session, [notes.directory]: directory, [notes.seal]: seal };
}

/** Nobody, where the notes are not ours. */
export function ownerOf(hub: Hub, paneId: string, meta: Meta): Owner | undefined {
  const { [notes.session]: session, [notes.directory]: directory } = meta;
  if (typeof session !== 'string' || typeof directory !== 'string') return undefined;
  const owner = { session, directory };
  return meta[notes.seal] === ownerNotes(hub, paneId, owner)[notes.seal] ? owner : undefined;
}

/** Whose panes are meant, and with whose patience they are asked for. */
export interface Project {
  readonly hub: Hub;
  readonly client: Client;
  readonly directory: string;
}

/** The panes that OpenCode has started in this directory; nobody else's exist here. */
export async function projectPanes({ hub, client, directory }: Project): Promise<readonly PaneInfo[]> {
  const panes = await client.call('pane:list', {});
  return panes.filter(({ id, meta }) => ownerOf(hub, id, meta)?.directory === directory);
}

export async function projectPane(project: Project, id: string): Promise<PaneInfo> {
  const pane = (await projectPanes(project)).find((one) => one.id === id);
  if (pane) return pane;
  throw new PolyError('not_found', `there is no terminal "${id}" in this project.`, {
    hint: 'pty_list shows those there are.',
  });
}

/** Ends what a session has started, and forgets it. */
export async function closeSessionPanes(project: Project, session: string): Promise<void> {
  const panes = await projectPanes(project);
  const closing = panes
    .filter(({ meta }) => meta[notes.session] === session)
    .map(({ id }) => project.client.call('pane:close', { paneId: id, cleanup: true }).catch(unlessGone));
  await Promise.all(closing);
}

/** Somebody else was faster. */
export function unlessGone(error: unknown): undefined {
  if (error instanceof PolyError && error.code === 'not_found') return undefined;
  throw error;
}
