import { constants } from 'node:os';

/** One tmux pane that is ours, as tmux lists it. */
export interface TmuxPaneRow {
  readonly tmuxPane: string;
  readonly id: string;
  readonly pid: number;
  readonly piped: boolean;
  readonly dead: boolean;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}

/** What marks a tmux pane as ours; panes made by hand, and those of another hub, lack it and are left alone. */
export const mark = '@poly-pane';
export const hostMark = '@poly-host';
/** What tmux is to say of each pane, for `rowOf`. */
export const rowFormat: string = `#{pane_id} #{pane_pid} #{pane_pipe} #{pane_dead} #{pane_dead_status}: #{pane_dead_signal}: #{${mark}} #{${hostMark}}`;
const rowPattern = /^(%\d+) (\d+) ([01]) ([01]) (\d*): (\w*): ([A-Za-z0-9][\w.-]*) (.*)$/;

/** One line of what tmux says; nothing when the pane is not of the hub whose host has this folder. */
export function rowOf(line: string, host: string): TmuxPaneRow | undefined {
  const [, tmuxPane = '', pid, piped, dead, status = '', signal = '', id = '', of] =
    rowPattern.exec(line) ?? [];
  if (id === '' || of !== host) return undefined;
  return {
    tmuxPane,
    id,
    pid: Number(pid),
    piped: piped === '1',
    dead: dead === '1',
    exitCode: status === '' ? null : Number(status),
    exitSignal: signalName(signal),
  };
}

/** tmux says a number or, in some versions, a name without SIG. */
function signalName(said: string): string | null {
  if (said === '' || said === '0') return null;
  const names = Object.entries(constants.signals);
  return (
    names.find(([, number]) => number === Number(said))?.[0] ??
    `SIG${said.replace(/^SIG/i, '').toUpperCase()}`
  );
}
