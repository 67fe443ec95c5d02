import type { PaneId } from '@polyphony/tmux';
import type { ToolAnswer } from '../tool.ts';
import { paneText } from './answers.ts';
import { capture } from './capture.ts';
import type { LineQuery } from './line-search.ts';
import type { Use } from './use.ts';

interface PaneQuery extends LineQuery {
  readonly start?: number | '-' | undefined;
}

/** The lines of one pane that match. */
export async function grepPane(
  use: Use,
  paneId: PaneId,
  { start, ...query }: PaneQuery,
): Promise<ToolAnswer> {
  const lines = await capture(use, paneId, { start });
  const [matches = []] = await use.seat.search.find([lines], query, use.context.signal);
  return paneText(paneId, matches, { matches: String(matches.length) });
}
