import { constants } from 'node:os';
import { layoutColumn } from '../operation/layout.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { anyTarget, flag, optional, text } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import {
  type Column,
  countColumn,
  flagColumn,
  idColumn,
  optionalCountColumn,
  rows,
  textColumn,
} from '../operation/rows.ts';
import {
  type AnyTarget,
  type PaneId,
  paneIdSchema,
  type SessionId,
  sessionIdSchema,
  type WindowId,
  windowIdSchema,
} from '../operation/target.ts';

export interface ListPanes {
  readonly all?: boolean;
  readonly target?: AnyTarget;
  readonly wholeSession?: boolean;
  readonly filter?: string;
}

/** One pane in one place: a window linked into two sessions gives each of its panes two rows. */
export interface PaneRow {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  /** How many clients are attached to the session. */
  readonly sessionAttached: number;
  /** Empty when the session is in no group. */
  readonly sessionGroup: string;
  /** Seconds since 1970. */
  readonly sessionCreated: number;
  readonly windowId: WindowId;
  readonly windowIndex: number;
  readonly windowName: string;
  readonly windowActive: boolean;
  readonly windowFlags: string;
  readonly windowLinked: boolean;
  readonly windowWidth: number;
  readonly windowHeight: number;
  readonly zoomed: boolean;
  readonly layout: string;
  readonly visibleLayout: string;
  readonly paneId: PaneId;
  readonly paneIndex: number;
  readonly active: boolean;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  /** Before 3.7 no pane floats. */
  readonly floating: boolean;
  readonly title: string;
  readonly currentCommand: string;
  /** Control characters other than tab and newline come as octal escapes from 3.4 and 3.5. */
  readonly currentPath: string;
  readonly startCommand: string;
  readonly pid: number | null;
  readonly tty: string;
  readonly dead: boolean;
  readonly deadStatus: number | null;
  /** Never known before 3.3. */
  readonly deadSignal: number | null;
  readonly inMode: boolean;
  readonly pipe: boolean;
  readonly synchronized: boolean;
  readonly alternateOn: boolean;
  readonly historySize: number;
  readonly cursorX: number;
  readonly cursorY: number;
}

/** tmux gives a signal by number on Linux and by name (`KILL`) where the system has a table of names. */
const signalColumn = (format: string): Column<number | null> => ({
  ...optionalCountColumn(format),
  read: (text) => {
    const names: Readonly<Record<string, number>> = constants.signals;
    return text === '' ? null : Number(text) || (names[`SIG${text.toUpperCase()}`] ?? null);
  },
});

const paneRows = rows<PaneRow>('PaneRows', {
  sessionId: idColumn('#{session_id}', sessionIdSchema),
  sessionName: textColumn('#{session_name}'),
  sessionAttached: countColumn('#{session_attached}'),
  sessionGroup: textColumn('#{session_group}'),
  sessionCreated: countColumn('#{session_created}'),
  windowId: idColumn('#{window_id}', windowIdSchema),
  windowIndex: countColumn('#{window_index}'),
  windowName: textColumn('#{window_name}'),
  windowActive: flagColumn('#{window_active}'),
  windowFlags: textColumn('#{window_flags}'),
  windowLinked: flagColumn('#{window_linked}'),
  windowWidth: countColumn('#{window_width}'),
  windowHeight: countColumn('#{window_height}'),
  zoomed: flagColumn('#{window_zoomed_flag}'),
  layout: layoutColumn('#{window_layout}'),
  visibleLayout: layoutColumn('#{window_visible_layout}'),
  paneId: idColumn('#{pane_id}', paneIdSchema),
  paneIndex: countColumn('#{pane_index}'),
  active: flagColumn('#{pane_active}'),
  width: countColumn('#{pane_width}'),
  height: countColumn('#{pane_height}'),
  left: countColumn('#{pane_left}'),
  top: countColumn('#{pane_top}'),
  floating: flagColumn('#{pane_floating_flag}'),
  title: textColumn('#{pane_title}'),
  currentCommand: textColumn('#{pane_current_command}'),
  currentPath: textColumn('#{pane_current_path}'),
  startCommand: textColumn('#{pane_start_command}'),
  pid: optionalCountColumn('#{pane_pid}'),
  tty: textColumn('#{pane_tty}'),
  dead: flagColumn('#{pane_dead}'),
  deadStatus: optionalCountColumn('#{pane_dead_status}'),
  deadSignal: signalColumn('#{pane_dead_signal}'),
  inMode: flagColumn('#{pane_in_mode}'),
  pipe: flagColumn('#{pane_pipe}'),
  synchronized: flagColumn('#{pane_synchronized}'),
  alternateOn: flagColumn('#{alternate_on}'),
  historySize: countColumn('#{history_size}'),
  cursorX: countColumn('#{cursor_x}'),
  cursorY: countColumn('#{cursor_y}'),
});

export const listPanes: Builder<ListPanes, readonly PaneRow[]> = defineOperation<
  ListPanes,
  readonly PaneRow[]
>({
  kind: 'list_panes',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the panes of a window, of a session, or of the whole server.',
  params: {
    all: flag('-a', 'every pane of the server'),
    target: optional(anyTarget('the window, or of a session its current one')),
    wholeSession: flag('-s', 'every pane of the target’s session'),
    filter: text('-f', 'a format; only panes for which it is true'),
  },
  refuse: (params) => exactlyOne(params, 'all', 'target'),
  result: paneRows,
  example: { all: true },
});
