import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { paneId } from './id.ts';
import type { PaneParams } from './pane-parts.ts';
import type { PaneLine } from './pane-terminal.ts';

export interface PaneSearchParams extends PaneParams {
  readonly pattern: string;
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly before?: number | undefined;
}

export interface PaneSearchResult {
  /** The lines that match, in the plain view; the newest first. */
  readonly matches: readonly PaneLine[];
  /** Whether there are older matches: ask again with `before`, the number of the last line here. */
  readonly more: boolean;
  /** Whether everything kept was searched; otherwise time ran out, and these are the matches found by then. */
  readonly complete: boolean;
}

const longestPattern = 4096;

export const paneSearch: Action<PaneSearchParams, PaneSearchResult> = defineAction({
  name: 'pane:search',
  summary: 'Finds lines that a pane has printed, the newest first.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: z.strictObject({
    paneId,
    pattern: z
      .string()
      .min(1)
      .max(longestPattern)
      .describe('A regular expression of JavaScript (flag u), held against each line of the plain view.'),
    literal: z.boolean().optional().describe('The pattern is the text itself.'),
    ignoreCase: z.boolean().optional().describe('Upper and lower case are alike.'),
    limit: z.int().min(1).max(10_000).optional().describe('At most so many matches; 500 when left out.'),
    before: z.int().min(1).optional().describe('Only lines before the one of this number.'),
  }),
  result: z.object({
    matches: z.array(z.object({ n: z.int(), text: z.string() })),
    more: z.boolean(),
    complete: z.boolean(),
  }),
});
