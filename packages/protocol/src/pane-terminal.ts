import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';
import { cols, count, type PaneParams, paneParams, rows } from './pane-parts.ts';

export interface PaneWriteParams extends PaneParams {
  readonly data: string;
  readonly enter?: boolean | undefined;
  readonly encoding?: 'utf8' | 'base64' | undefined;
}

export const paneWrite: Action<PaneWriteParams, { readonly bytes: number }> = defineAction({
  name: 'pane:write',
  summary: 'Types the caller’s own bytes into a pane.',
  scope: 'pane:drive',
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
  scope: 'pane:drive',
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
  scope: 'pane:drive',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, cols, rows }),
  result: nothing,
});
