import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';

export type MetaValue = string | number | boolean | null;
/** What somebody noted about a pane. */
export type Meta = Readonly<Record<string, MetaValue>>;
export type Backend = 'pty' | 'tmux';
export type PaneStatus = 'running' | 'exited';

const metaValue: z.ZodType<MetaValue> = z.union([z.string().max(8192), z.number(), z.boolean(), z.null()]);
const metaKey = z
  .string()
  .min(1)
  .max(128)
  .refine((key) => key !== '__proto__', 'cannot be a key');
const meta: z.ZodType<Meta> = z
  .record(metaKey, metaValue)
  .refine((notes) => Object.keys(notes).length <= 100, 'must be at most 100 notes');
export const text: z.ZodString = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');
const backend = z.enum(['pty', 'tmux']);
/** Of one column a terminal could not show a wide character. */
const cols = z.int().min(2).max(1000).describe('Number of columns.');
const rows = z.int().min(1).max(1000).describe('Number of rows.');

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

export interface PaneParams {
  readonly paneId: string;
}

const paneParams: z.ZodType<PaneParams> = z.strictObject({ paneId });

export interface PaneMeta {
  readonly id: string;
  readonly meta: Meta;
}

export const paneGetMeta: Action<PaneParams, PaneMeta> = defineAction({
  name: 'pane:get-meta',
  summary: 'Answers the notes kept with a pane.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: paneParams,
  result: z.object({ id: paneId, meta }),
});

export interface PaneMetaChange extends PaneMeta {
  readonly previousMeta: Meta;
  /** Whether anything is different from before. */
  readonly changed: boolean;
}

const metaChange: z.ZodType<PaneMetaChange> = z.object({
  id: paneId,
  previousMeta: meta,
  meta,
  changed: z.boolean(),
});

export interface PaneSetMetaParams extends PaneParams {
  readonly key: string;
  readonly value: MetaValue;
}

export const paneSetMeta: Action<PaneSetMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:set-meta',
  summary: 'Sets one note of a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, key: metaKey, value: metaValue }),
  result: metaChange,
});

export interface PaneDeleteMetaParams extends PaneParams {
  readonly keys: readonly string[];
}

export const paneDeleteMeta: Action<PaneDeleteMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:delete-meta',
  summary: 'Removes notes of a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, keys: z.array(metaKey).min(1) }),
  result: metaChange,
});

export interface PaneUpdateMetaParams extends PaneParams {
  readonly set?: Meta | undefined;
  readonly deleteKeys?: readonly string[] | undefined;
}

export const paneUpdateMeta: Action<PaneUpdateMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:update-meta',
  summary: 'Sets and removes notes of a pane in one step.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, set: meta.optional(), deleteKeys: z.array(metaKey).optional() }),
  result: metaChange,
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

export interface PaneWriteParams extends PaneParams {
  readonly data: string;
  readonly enter?: boolean | undefined;
  readonly encoding?: 'utf8' | 'base64' | undefined;
}

export const paneWrite: Action<PaneWriteParams, { readonly bytes: number }> = defineAction({
  name: 'pane:write',
  summary: 'Types the caller’s own bytes into a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({
    paneId,
    data: z.string().describe('Exactly what is typed.'),
    enter: z.boolean().optional().describe('Press Enter after it.'),
    encoding: z
      .enum(['utf8', 'base64'])
      .optional()
      .describe('How data is written; base64 for bytes that are no text.'),
  }),
  result: z.object({ bytes: z.int() }),
  secrets: ['data'],
});

export interface PaneKeysParams extends PaneParams {
  readonly keys: readonly string[];
}

export const paneKeys: Action<PaneKeysParams, Record<string, never>> = defineAction({
  name: 'pane:keys',
  summary: 'Presses named keys in a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({
    paneId,
    keys: z
      .array(z.string().min(1).max(32))
      .min(1)
      .max(256)
      .describe('C-c, Up, F5, Enter, M-x, or one character.'),
  }),
  result: nothing,
  secrets: ['keys'],
});

export interface PaneReadParams extends PaneParams {
  readonly tail?: number | undefined;
  readonly since?: number | undefined;
  readonly fromLine?: number | undefined;
  readonly limit?: number | undefined;
  readonly view?: 'plain' | 'raw' | undefined;
}

export interface PaneLine {
  /** Absolute number of the line, from 1; never another line's. */
  readonly n: number;
  readonly text: string;
}

export interface PaneReadResult {
  readonly lines?: readonly PaneLine[] | undefined;
  /** The bytes in base64, in the raw view. */
  readonly data?: string | undefined;
  /** Absolute byte offsets of what is answered. */
  readonly from: number;
  readonly next: number;
  /** The first byte still kept. */
  readonly retainedFrom: number;
  /** Whether there is more behind `next`. */
  readonly more: boolean;
  /** Whether something asked for is no longer kept. */
  readonly truncated: boolean;
  /** Whether the last line that is answered may still grow. */
  readonly partial?: boolean | undefined;
}

const count = z.int().min(0);

export const paneRead: Action<PaneReadParams, PaneReadResult> = defineAction({
  name: 'pane:read',
  summary: 'Answers what a pane has printed.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: z
    .strictObject({
      paneId,
      tail: count.max(100_000).optional().describe('The last lines; 500 when nothing else is said.'),
      since: count.optional().describe('From this byte on.'),
      fromLine: z.int().min(1).optional().describe('From this line on.'),
      limit: z.int().min(1).max(100_000).optional().describe('At most so many lines.'),
      view: z.enum(['plain', 'raw']).optional().describe('Text without escapes, or the bytes.'),
    })
    .refine(
      ({ tail, since, fromLine }) =>
        [tail, since, fromLine].filter((given) => given !== undefined).length < 2,
      {
        message: 'say only one of tail, since and fromLine',
      },
    ),
  result: z.object({
    lines: z.array(z.object({ n: z.int(), text: z.string() })).optional(),
    data: z.string().optional(),
    from: count,
    next: count,
    retainedFrom: count,
    more: z.boolean(),
    truncated: z.boolean(),
    partial: z.boolean().optional(),
  }),
});

export interface PaneScreen {
  readonly rows: number;
  readonly cols: number;
  readonly lines: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
  /** Whether a full-screen program has the terminal. */
  readonly alternate: boolean;
  /** Whether the program marks pastes; unknown for panes of a tmux before 3.7. */
  readonly bracketedPaste?: boolean | undefined;
}

export const paneScreen: Action<PaneParams, PaneScreen> = defineAction({
  name: 'pane:screen',
  summary: 'Answers what a pane shows now.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: paneParams,
  result: z.object({
    rows: z.int(),
    cols: z.int(),
    lines: z.array(z.string()),
    cursor: z.object({ x: z.int(), y: z.int(), visible: z.boolean() }),
    title: z.string(),
    alternate: z.boolean(),
    bracketedPaste: z.boolean().optional(),
  }),
});

export interface PaneResizeParams extends PaneParams {
  readonly cols: number;
  readonly rows: number;
}

export const paneResize: Action<PaneResizeParams, Record<string, never>> = defineAction({
  name: 'pane:resize',
  summary: 'Changes the size of a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, cols, rows }),
  result: nothing,
});
