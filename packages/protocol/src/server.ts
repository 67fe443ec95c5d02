import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';

export interface ServerStopParams {
  readonly all?: boolean | undefined;
}

export const serverStop: Action<ServerStopParams, Record<string, never>> = defineAction({
  name: 'server:stop',
  summary: 'Stops the hub. Panes live on, unless all of them are to end.',
  scope: 'server:write',
  effect: 'destructive',
  onFullDisk: true,
  params: z.strictObject({ all: z.boolean().optional().describe('End panes, tmux session and host too.') }),
  result: nothing,
});

export interface ServerBackupResult {
  readonly file: string;
  readonly bytes: number;
}

export const serverBackup: Action<{ readonly file?: string | undefined }, ServerBackupResult> = defineAction({
  name: 'server:backup',
  summary: 'Writes a verified copy of the database while work goes on.',
  scope: 'server:write',
  effect: 'write',
  params: z.strictObject({
    file: z.string().min(1).optional().describe('Where to; a dated file when left out.'),
  }),
  result: z.object({ file: z.string(), bytes: z.int() }),
});

/** What the hub knows about itself, for people and for `poly doctor`. */
export interface ServerStatus {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly socket: string;
  readonly url?: string | undefined;
  /** Where it finds programs, which may differ from where a shell does. */
  readonly path?: string | undefined;
  readonly panes: number;
  /** Calls that wait for the user. */
  readonly approvals: number;
  readonly session: boolean;
  /** Why nobody can know whether the tmux session is there. */
  readonly sessionTrouble?: string | undefined;
  readonly gauges: Readonly<Record<string, number>>;
  /** What a person should look at. */
  readonly problems: readonly string[];
}

export const serverStatus: Action<Record<string, never>, ServerStatus> = defineAction({
  name: 'server:status',
  summary: 'Answers what the hub knows about itself.',
  scope: 'server:read',
  effect: 'read',
  params: nothing,
  result: z.object({
    version: z.string(),
    pid: z.int(),
    startedAt: z.string(),
    socket: z.string(),
    url: z.string().optional(),
    path: z.string().optional(),
    panes: z.int(),
    approvals: z.int(),
    session: z.boolean(),
    sessionTrouble: z.string().optional(),
    gauges: z.record(z.string(), z.number()),
    problems: z.array(z.string()),
  }),
});
