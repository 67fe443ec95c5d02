import * as z from 'zod';
import { custom, oneOf, type Param } from './param.ts';

const places = { centre: 'C', right: 'R', pane: 'P', mouse: 'M', window: 'W', status: 'S' } as const;

/** Where a menu or popup is drawn: a column or row, or a place tmux works out. */
export type Position = number | keyof typeof places;

const positionSchema: z.ZodType<Position> = z.union([
  z.int().min(0),
  z.enum(Object.keys(places) as (keyof typeof places)[]),
]);

/** The position of a menu or popup along one axis. */
export function position(letter: '-x' | '-y', doc: string): Param<Position, false> {
  return custom(positionSchema, letter, doc, (at) => [
    letter,
    typeof at === 'number' ? String(at) : places[at],
  ]);
}

export type BorderLines = 'single' | 'double' | 'heavy' | 'rounded' | 'simple' | 'padded' | 'none';

/** How the border of a menu or popup is drawn. */
export function borderLines(since: string): Param<BorderLines, false> {
  const lines: readonly BorderLines[] = ['single', 'double', 'heavy', 'rounded', 'simple', 'padded', 'none'];
  return oneOf('-b', lines, 'how the border is drawn', { since });
}
