import { layoutColumn } from '../operation/layout.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { anyTarget, flag, optional, text } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import { countColumn, flagColumn, idColumn, rows, textColumn } from '../operation/rows.ts';
import {
  type AnyTarget,
  type SessionId,
  sessionIdSchema,
  type WindowId,
  windowIdSchema,
} from '../operation/target.ts';

export interface ListWindows {
  readonly all?: boolean;
  readonly target?: AnyTarget;
  readonly filter?: string;
}

/** One window in one session: a window linked into two has two rows. */
export interface WindowRow {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly windowId: WindowId;
  readonly windowIndex: number;
  readonly windowName: string;
  readonly active: boolean;
  /** It was the current one before the current one. */
  readonly last: boolean;
  readonly flags: string;
  readonly linked: boolean;
  readonly zoomed: boolean;
  readonly layout: string;
  readonly visibleLayout: string;
  readonly panes: number;
  readonly width: number;
  readonly height: number;
  readonly bell: boolean;
  readonly activity: boolean;
  readonly silence: boolean;
}

const windowRows = rows<WindowRow>('WindowRows', {
  sessionId: idColumn('#{session_id}', sessionIdSchema),
  sessionName: textColumn('#{session_name}'),
  windowId: idColumn('#{window_id}', windowIdSchema),
  windowIndex: countColumn('#{window_index}'),
  windowName: textColumn('#{window_name}'),
  active: flagColumn('#{window_active}'),
  last: flagColumn('#{window_last_flag}'),
  flags: textColumn('#{window_flags}'),
  linked: flagColumn('#{window_linked}'),
  zoomed: flagColumn('#{window_zoomed_flag}'),
  layout: layoutColumn('#{window_layout}'),
  visibleLayout: layoutColumn('#{window_visible_layout}'),
  panes: countColumn('#{window_panes}'),
  width: countColumn('#{window_width}'),
  height: countColumn('#{window_height}'),
  bell: flagColumn('#{window_bell_flag}'),
  activity: flagColumn('#{window_activity_flag}'),
  silence: flagColumn('#{window_silence_flag}'),
});

export const listWindows: Builder<ListWindows, readonly WindowRow[]> = defineOperation<
  ListWindows,
  readonly WindowRow[]
>({
  kind: 'list_windows',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the windows of a session, or of the whole server.',
  params: {
    all: flag('-a', 'every window of the server'),
    target: optional(anyTarget('the session')),
    filter: text('-f', 'a format; only windows for which it is true'),
  },
  refuse: (params) => exactlyOne(params, 'all', 'target'),
  result: windowRows,
  example: { target: { session: 'demo' } },
});
