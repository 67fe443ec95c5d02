import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';
import { type Meta, meta } from './pane-meta.ts';
import { cols, type PaneParams, paneParams, rows, text } from './pane-parts.ts';

export type Backend = 'pty' | 'tmux';
export type PaneStatus = 'running' | 'exited';

const backend = z.enum(['pty', 'tmux']);

export interface PaneNewParams {
  readonly id?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly meta?: Meta | undefined;
  readonly persist?: boolean | undefined;
  readonly backend?: Backend | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  readonly title?: string | undefined;
  readonly notifyOnExit?: boolean | undefined;
}

export interface PaneNewResult {
  readonly id: string;
  readonly meta: Meta;
  readonly backend: Backend;
  readonly pid: number;
  /** Why it is not where it would be expected. */
  readonly notice?: string | undefined;
}

/** The parameters of `pane:new`, one by one, for the actions that share some. */
export const paneNewShape: { readonly [Name in keyof PaneNewParams]-?: z.ZodType<PaneNewParams[Name]> } = {
  id: paneId.optional().describe('An id of your own; otherwise one is made.'),
  argv: z.array(text).min(1).optional().describe("Program and arguments; the user's shell when left out."),
  cwd: text.optional().describe("Where it starts; the user's home when left out."),
  env: z
    .record(z.string().regex(/^[^=\0]+$/, 'must be a name without "="'), text)
    .optional()
    .describe('Variables added to its environment.'),
  meta: meta.optional().describe('Notes to keep with the pane.'),
  persist: z.boolean().optional().describe('Start the command again when it is found dead after a reboot.'),
  backend: backend.optional().describe('tmux when the tmux session is up, otherwise pty.'),
  cols: cols.optional(),
  rows: rows.optional(),
  title: text.max(200).optional().describe('What people see.'),
  notifyOnExit: z.boolean().optional().describe('Put a notice about the end into pane:exited.'),
};

export const paneNew: Action<PaneNewParams, PaneNewResult> = defineAction({
  name: 'pane:new',
  summary: 'Starts a program in a new pane.',
  scope: 'pane:spawn',
  effect: 'write',
  params: z.strictObject(paneNewShape),
  result: z.object({ id: paneId, meta, backend, pid: z.int(), notice: z.string().optional() }),
  secrets: ['env'],
});

export interface PaneCloseParams {
  readonly paneId: string;
  readonly cleanup?: boolean | undefined;
}

export const paneClose: Action<PaneCloseParams, Record<string, never>> = defineAction({
  name: 'pane:close',
  summary: 'Ends a pane with everything it started.',
  scope: 'pane:write',
  effect: 'write',
  onFullDisk: true,
  onPane: true,
  params: z.strictObject({
    paneId,
    cleanup: z.boolean().optional().describe('Forget its record and output too; true when left out.'),
  }),
  result: nothing,
});

export interface PaneCloseAllParams {
  readonly backend?: Backend | undefined;
  readonly cleanup?: boolean | undefined;
}

export const paneCloseAll: Action<PaneCloseAllParams, { readonly closed: readonly string[] }> = defineAction({
  name: 'pane:close-all',
  summary: 'Ends every pane the caller has, its own last; each as pane:close does.',
  scope: 'pane:write',
  effect: 'write',
  onFullDisk: true,
  params: z.strictObject({
    backend: backend.optional().describe('Only those that live there.'),
    cleanup: z.boolean().optional().describe('Forget their records and output too; true when left out.'),
  }),
  result: z.object({ closed: z.array(paneId) }),
});

export interface PaneInfo {
  readonly id: string;
  readonly meta: Meta;
  readonly backend: Backend;
  readonly title: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly status: PaneStatus;
  readonly pid: number;
  /** How many lines it has printed; unknown while the host is away. */
  readonly lines?: number | undefined;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
  readonly createdAt: string;
}

const paneInfo: z.ZodType<PaneInfo> = z.object({
  id: paneId,
  meta,
  backend,
  title: z.string(),
  argv: z.array(z.string()),
  cwd: z.string(),
  status: z.enum(['running', 'exited']),
  pid: z.int(),
  lines: z.int().optional(),
  exitCode: z.int().nullable().optional(),
  exitSignal: z.string().nullable().optional(),
  createdAt: z.string(),
});

export const paneList: Action<Record<string, never>, readonly PaneInfo[]> = defineAction({
  name: 'pane:list',
  summary: 'Lists every pane; to a pane those it owns.',
  scope: 'pane:read',
  effect: 'read',
  params: nothing,
  result: z.array(paneInfo),
});

export const paneActivate: Action<PaneParams, Record<string, never>> = defineAction({
  name: 'pane:activate',
  summary: 'Brings a pane to the front of its tmux session, and says so.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: paneParams,
  result: nothing,
});
