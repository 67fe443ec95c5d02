import { type Builder, defineOperation } from '../operation/operation.ts';
import { text } from '../operation/param.ts';
import { countColumn, idColumn, optionalCountColumn, rows, textColumn } from '../operation/rows.ts';
import { type SessionId, sessionIdSchema } from '../operation/target.ts';

export interface ListSessions {
  readonly filter?: string;
}

/** Times are seconds since 1970. */
export interface SessionRow {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly windows: number;
  /** How many clients are attached. */
  readonly attached: number;
  readonly created: number;
  readonly activity: number;
  readonly lastAttached: number | null;
  /** Empty when the session is in no group. */
  readonly group: string;
  readonly path: string;
}

const sessionRows = rows<SessionRow>('SessionRows', {
  sessionId: idColumn('#{session_id}', sessionIdSchema),
  sessionName: textColumn('#{session_name}'),
  windows: countColumn('#{session_windows}'),
  attached: countColumn('#{session_attached}'),
  created: countColumn('#{session_created}'),
  activity: countColumn('#{session_activity}'),
  lastAttached: optionalCountColumn('#{session_last_attached}'),
  group: textColumn('#{session_group}'),
  path: textColumn('#{session_path}'),
});

export const listSessions: Builder<ListSessions, readonly SessionRow[]> = defineOperation<
  ListSessions,
  readonly SessionRow[]
>({
  kind: 'list_sessions',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the sessions of the server.',
  params: { filter: text('-f', 'a format; only sessions for which it is true') },
  result: sessionRows,
  example: { filter: '#{==:#{session_name},demo}' },
});
