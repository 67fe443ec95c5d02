import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import * as z from 'zod';
import type { ToolAnswer } from '../tool.ts';
import { paneText } from './answers.ts';
import { capture } from './capture.ts';
import { grepPane } from './grep-pane.ts';
import { firstLine, ignoreCase, pattern, target } from './params.ts';
import { resolveTarget } from './target.ts';
import type { Look, Use } from './use.ts';
import { type Verb, verb } from './verb.ts';

const sides = ['up', 'down', 'left', 'right', 'above', 'below', 'next', 'previous', 'last'] as const;
const corners = ['top-left', 'top-right', 'bottom-left', 'bottom-right'] as const;
type Direction = Exclude<(typeof sides)[number], 'above' | 'below' | 'last'>;
/** Two words for one direction. */
const sameAs = { above: 'up', below: 'down' } as const;
type Corner = (typeof corners)[number];

const from = {
  direction: z.enum(sides),
  origin: target.optional().describe('Yours unless given'),
};

/** Panes by where they are, seen from another. */
export const relative: Readonly<Record<string, Verb>> = {
  resolve_relative_pane: verb({
    description: 'Which pane is beside another, or was active last.',
    effect: 'read',
    answers: { pane_id: z.string() },
    params: from,
    run: async (from, use) => found(await relativeTo(from, use)),
  }),
  capture_relative_pane: verb({
    description: 'The text of the pane beside another.',
    effect: 'read',
    params: { ...from, start: firstLine },
    async run({ direction, origin, start }, use) {
      const { paneId } = await relativeTo({ direction, origin }, use);
      return paneText(paneId, await capture(use, paneId, { start }));
    },
  }),
  grep_relative_pane: verb({
    description: 'The lines that match, of the pane beside another.',
    effect: 'read',
    params: { ...from, pattern, ignore_case: ignoreCase, start: firstLine },
    async run({ direction, origin, ...query }, use: Use) {
      const { paneId } = await relativeTo({ direction, origin }, use);
      return grepPane(use, paneId, query);
    },
  }),
  find_pane_by_position: verb({
    description: 'Which pane is in a corner of a window, yours unless given.',
    effect: 'read',
    answers: { pane_id: z.string() },
    params: { corner: z.enum(corners), target: target.optional() },
    async run({ corner, target: window }, { look }) {
      const seen = await look();
      const inside = windowOf(seen, originOf(seen, window));
      const best = [...inside].sort((a, b) => distance(a, corner) - distance(b, corner))[0];
      if (best) return found(best);
      throw new PolyError('not_found', 'this window has no pane.');
    },
  }),
};

function found(row: PaneRow): ToolAnswer {
  const { paneId, windowId, paneIndex, currentCommand } = row;
  return {
    text: `${paneId} (${currentCommand})`,
    structured: {
      pane_id: paneId,
      window_id: windowId,
      pane_index: paneIndex,
      current_command: currentCommand,
    },
  };
}

/** Where one starts from: what is named, else the pane of the caller. */
function originOf({ panes, isCaller }: Look, origin: string | undefined): PaneRow {
  if (origin !== undefined) return resolveTarget(panes, origin);
  const own = panes.find((row) => isCaller(row.paneId));
  if (own) return own;
  throw new PolyError('invalid_arguments', 'which pane is yours is not known on this server.', {
    hint: 'Say from which pane: list_panes shows them.',
  });
}

const windowOf = ({ panes }: Look, { windowId, sessionId }: PaneRow): readonly PaneRow[] =>
  panes.filter((row) => row.windowId === windowId && row.sessionId === sessionId);

async function relativeTo(
  { direction, origin }: { readonly direction: (typeof sides)[number]; readonly origin?: string | undefined },
  { look, run, tmux }: Use,
): Promise<PaneRow> {
  const seen = await look();
  const from = originOf(seen, origin);
  if (direction !== 'last')
    return beside(seen, direction in sameAs ? sameAs[direction as 'above'] : (direction as Direction), from);
  const target = { special: 'last', of: from.windowId } as const;
  const { text } = await run(tmux.displayMessage({ target, message: '#{pane_id} #{pane_active}' }));
  // Where there is no last one tmux answers for another, or with nothing.
  const [id, active] = text.split(' ');
  const row = active === '0' ? windowOf(seen, from).find(({ paneId }) => paneId === id) : undefined;
  if (row) return row;
  throw new PolyError('not_found', `the window of ${from.paneId} has no pane that was active before.`, {
    hint: 'list_panes shows those there are.',
  });
}

function beside(look: Look, direction: Direction, origin: PaneRow): PaneRow {
  const others = windowOf(look, origin);
  const at = others.findIndex((row) => row.paneId === origin.paneId);
  const neighbour =
    direction === 'next' || direction === 'previous'
      ? others.at((at + (direction === 'next' ? 1 : -1)) % others.length)
      : touching(origin, others, direction);
  if (neighbour && neighbour.paneId !== origin.paneId) return neighbour;
  throw new PolyError('not_found', `there is no pane ${direction} of ${origin.paneId} in its window.`, {
    hint: 'list_panes shows those there are.',
  });
}

/** The edges of a pane along one direction, and across it. */
function edges({ left, top, width, height }: PaneRow, direction: Direction): { along: Span; across: Span } {
  const columns = { start: left, end: left + width };
  const lines = { start: top, end: top + height };
  const upright = direction === 'up' || direction === 'down';
  return upright ? { along: lines, across: columns } : { along: columns, across: lines };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Of the panes behind the border on one side, the one that shares most of it. A border is one cell wide. */
function touching(origin: PaneRow, others: readonly PaneRow[], direction: Direction): PaneRow | undefined {
  const own = edges(origin, direction);
  const before = direction === 'up' || direction === 'left';
  const shared = (row: PaneRow): number => {
    const { along, across } = edges(row, direction);
    const touches = before ? along.end + 1 === own.along.start : along.start === own.along.end + 1;
    return touches ? Math.min(across.end, own.across.end) - Math.max(across.start, own.across.start) : 0;
  };
  const [best] = [...others].sort((a, b) => shared(b) - shared(a));
  return best && shared(best) > 0 ? best : undefined;
}

/** How far the corner of a pane is from that corner of its window. */
function distance({ left, top, width, height, windowWidth, windowHeight }: PaneRow, corner: Corner): number {
  const across = corner.endsWith('left') ? left : windowWidth - (left + width);
  const down = corner.startsWith('top') ? top : windowHeight - (top + height);
  return Math.abs(across) + Math.abs(down);
}
