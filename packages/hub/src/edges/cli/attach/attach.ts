import { type PaneInfo, PolyError } from '@polyphony/protocol';
import type { Call } from '../command.ts';
import { fullPaneId, noPane } from '../panes.ts';

/** Shows a pane: a tmux pane in a tmux client, a pty pane in this terminal itself. */
export async function attach({ args: [given = ''], hub, env, out, json }: Call): Promise<number> {
  if (json)
    throw new PolyError('invalid_arguments', 'attach shows a pane to a person and has no JSON.', {
      hint: `For programs: poly screen ${given} --json, or poly read ${given} --json`,
    });
  const paneId = await fullPaneId(hub, given);
  const pane = (await hub.call('pane:list', {})).find(({ id }) => id === paneId);
  if (!pane) throw noPane(given, env);
  refuse(pane, env.POLY_PANE);
  const readOnly = await isAnothers(hub, paneId, out);
  if (pane.backend === 'tmux') {
    const session = await hub.call('session:status', {});
    return (await import('./tmux-client.ts')).attachTmuxPane(session, paneId, { env, out, readOnly });
  }
  return (await import('./pty-client.ts')).attachPty(pane, { hub, env, out });
}

/** Whether somebody else drives the session that a pane feeds, which is said. */
async function isAnothers(hub: Call['hub'], pane: string, out: Call['out']): Promise<boolean> {
  // A program in another pane does not hear of it here: the hub refuses what it types.
  const { session, you } = await hub
    .call('floor:status', { pane })
    .catch(() => ({ session: undefined, you: '' }));
  if (session?.driver === undefined || session.driver === you) return false;
  out.note(
    `poly: ${session.driver} drives ${session.project}/${session.slug}: you look on, and what you type is refused.`,
  );
  out.note(`poly: ask for the seat with: poly claim ${session.slug} --takeover`);
  return true;
}

function refuse({ id, status }: PaneInfo, here: string | undefined): void {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new PolyError('invalid_arguments', 'attaching needs a terminal.', {
      hint: `poly read ${id} and poly screen ${id} do not.`,
    });
  if (here === id)
    throw new PolyError('conflict', `this is pane ${id} itself: it cannot show itself in itself.`);
  if (status === 'exited')
    throw new PolyError('pane_exited', `the program of ${id} has ended.`, {
      hint: `poly read ${id} shows what it printed.`,
    });
}
