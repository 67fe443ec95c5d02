import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, custom, flag, size, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ResizePane {
  readonly target: Target;
  readonly width?: number | `${number}%`;
  readonly height?: number | `${number}%`;
  readonly zoom?: boolean;
  readonly direction?: 'left' | 'right' | 'up' | 'down';
  readonly adjustment?: number;
}

function refuse({ width, height, zoom, direction, adjustment }: ResizePane): string | undefined {
  if (adjustment !== undefined && direction === undefined) return 'an adjustment needs a direction';
  const sized = width ?? height ?? direction;
  if (zoom && sized !== undefined) return 'tmux ignores sizes beside zoom: send two operations';
  if (!zoom && sized === undefined) return 'give width, height, direction or zoom';
  return undefined;
}

export const resizePane: Builder<ResizePane, Ack> = defineOperation<ResizePane, Ack>({
  kind: 'resize_pane',
  scope: 'pane',
  effect: 'write',
  summary: 'Changes the size of a pane, or zooms it.',
  params: {
    target: target('the pane'),
    width: size('-x', 'columns, or a share of the window'),
    height: size('-y', 'lines, or a share of the window'),
    zoom: flag('-Z', 'let it fill the window, or end that'),
    direction: choice({ left: ['-L'], right: ['-R'], up: ['-U'], down: ['-D'] }, 'move a border this way'),
    // Right behind the direction: an argument of the command up to 3.7, of the flag from 3.8 on.
    adjustment: custom(z.int().min(1), '-L | -R | -U | -D', 'by how many cells; 1 unless told', (by) => [
      String(by),
    ]),
  },
  refuse,
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 1 }, direction: 'up', adjustment: 2 },
});
