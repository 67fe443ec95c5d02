import { type Builder, defineOperation } from '../operation/operation.ts';
import { anyTarget, optional, text } from '../operation/param.ts';
import { countColumn, flagColumn, idColumn, rows, textColumn } from '../operation/rows.ts';
import { type AnyTarget, type SessionId, sessionIdSchema } from '../operation/target.ts';

export interface ListClients {
  readonly target?: AnyTarget;
  readonly filter?: string;
}

/** Times are seconds since 1970. */
export interface ClientRow {
  readonly name: string;
  /** Empty for a control client. */
  readonly tty: string;
  readonly pid: number;
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly width: number;
  readonly height: number;
  readonly terminal: string;
  readonly flags: string;
  readonly controlMode: boolean;
  readonly readOnly: boolean;
  readonly utf8: boolean;
  readonly created: number;
  readonly activity: number;
}

const clientRows = rows<ClientRow>('ClientRows', {
  name: textColumn('#{client_name}'),
  tty: textColumn('#{client_tty}'),
  pid: countColumn('#{client_pid}'),
  sessionId: idColumn('#{session_id}', sessionIdSchema),
  sessionName: textColumn('#{client_session}'),
  width: countColumn('#{client_width}'),
  height: countColumn('#{client_height}'),
  terminal: textColumn('#{client_termname}'),
  flags: textColumn('#{client_flags}'),
  controlMode: flagColumn('#{client_control_mode}'),
  readOnly: flagColumn('#{client_readonly}'),
  utf8: flagColumn('#{client_utf8}'),
  created: countColumn('#{client_created}'),
  activity: countColumn('#{client_activity}'),
});

export const listClients: Builder<ListClients, readonly ClientRow[]> = defineOperation<
  ListClients,
  readonly ClientRow[]
>({
  kind: 'list_clients',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the clients that are attached, to one session or to any.',
  params: {
    target: optional(anyTarget('the session')),
    filter: text('-f', 'a format; only clients for which it is true', { since: '3.4' }),
  },
  result: clientRows,
  example: { target: { session: 'demo' } },
});
