import { type Engine, execute } from '../engine.ts';
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

const format = '#{pane_id},#{pane_dead},#{pane_dead_status},#{pane_dead_signal},#{pane_pid},#{pane_tty}';

/** What tmux knows about a pane now; null when it is gone. */
export async function paneState(engine: Engine, paneId: PaneId): Promise<PaneState | null> {
  const result = await execute(engine, displayMessage({ target: paneId, message: format }));
  if (!result.ok) return null;
  const [id, dead, status, signal, pid, tty = ''] = result.unwrap().text.split(',');
  // tmux answers with empty fields, not with an error, when there is no such pane.
  if (id !== paneId) return null;
  const number = (text: string | undefined): number | null => (text ? Number(text) : null);
  return {
    pid: Number(pid),
    tty,
    exit: dead === '1' ? { status: number(status), signal: number(signal) } : null,
  };
}
