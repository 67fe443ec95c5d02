import { type Engine, execute } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import type { PaneId } from '../operation/target.ts';
import { displayMessage } from '../operations/index.ts';

/** How a process ended: one of the two is known, or neither where tmux (before 3.3) does not say. */
export interface Exit {
  readonly status: number | null;
  readonly signal: number | null;
}

export interface PaneState {
  readonly pid: number;
  readonly tty: string;
  readonly exit: Exit | null;
}

const format =
  '#{pid},#{pane_id},#{pane_dead},#{pane_dead_status},#{pane_dead_signal},#{pane_pid},#{pane_tty}';

/** What tmux knows about a pane now; null when it is gone. Without a server that is an error: no_server. */
export async function paneState(engine: Engine, paneId: PaneId): Promise<PaneState | null> {
  const result = await execute(engine, displayMessage({ target: paneId, message: format }));
  if (result.stderr[0]?.startsWith("can't find pane")) return null;
  const [server, id, dead, status, signal, pid, tty = ''] = result.unwrap().text.split(',');
  // A server that is about to end lets its clients go with nothing said.
  if (!server)
    throw new TmuxError('no_server', `The server ended while ${paneId} was looked at.`, { paneId });
  // tmux answers with empty fields, not with an error, when there is no such pane.
  if (id !== paneId) return null;
  const number = (text: string | undefined): number | null => (text ? Number(text) : null);
  return {
    pid: Number(pid),
    tty,
    exit: dead === '1' ? { status: number(status), signal: number(signal) } : null,
  };
}
