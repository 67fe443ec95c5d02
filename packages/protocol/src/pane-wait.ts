import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { paneId } from './id.ts';
import { count, type PaneParams } from './pane-parts.ts';
import type { PaneLine } from './pane-terminal.ts';

export interface PaneWaitParams extends PaneParams {
  readonly exit?: boolean | undefined;
  readonly text?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly since?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The end of a pane ends every wait: nothing else can come any more. */
export interface PaneWaitResult {
  readonly reason: 'exit' | 'text' | 'idle' | 'timeout';
  /** The line in which the text was found. */
  readonly match?: PaneLine | undefined;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
  /** The byte to go on from: behind the line that matched, otherwise behind what has been printed. */
  readonly next: number;
}

export const paneWait: Action<PaneWaitParams, PaneWaitResult> = defineAction({
  name: 'pane:wait',
  summary: 'Waits until a pane has ended, has printed something or has fallen silent.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: z
    .strictObject({
      paneId,
      exit: z.literal(true).optional().describe('Until it has ended; every wait ends then.'),
      text: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          'Until a line matches this regular expression; only what is printed from now on, or from since on.',
        ),
      idleMs: z
        .int()
        .min(1)
        .max(3_600_000)
        .optional()
        .describe('Until nothing was printed for so long; not before something has been.'),
      since: count.optional().describe('From this byte on, as an earlier next says; now when left out.'),
      timeoutMs: z
        .int()
        .min(1)
        .max(3_600_000)
        .optional()
        .describe('At most so long; 30 seconds when left out.'),
    })
    .refine(({ exit, text, idleMs }) => exit ?? text ?? idleMs, {
      message: 'say what for: exit, text or idleMs',
    }),
  result: z.object({
    reason: z.enum(['exit', 'text', 'idle', 'timeout']),
    match: z.object({ n: z.int(), text: z.string() }).optional(),
    exitCode: z.int().nullable().optional(),
    exitSignal: z.string().nullable().optional(),
    next: count,
  }),
});
