import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, custom, integer, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface ResizeWindow {
  readonly target: Target;
  readonly width?: number;
  readonly height?: number;
  readonly fit?: 'smallest' | 'largest';
  readonly direction?: 'left' | 'right' | 'up' | 'down';
  readonly adjustment?: number;
}

function refuse({ width, height, fit, direction, adjustment }: ResizeWindow): string | undefined {
  if (adjustment !== undefined && direction === undefined) return 'an adjustment needs a direction';
  return (width ?? height ?? fit ?? direction) === undefined
    ? 'give width, height, fit or direction'
    : undefined;
}

export const resizeWindow: Builder<ResizeWindow, Ack> = defineOperation<ResizeWindow, Ack>({
  kind: 'resize_window',
  scope: 'window',
  effect: 'write',
  summary: 'Sets the size of a window by hand; from then on it does not follow its clients.',
  params: {
    target: target('the window'),
    width: integer('-x', 'columns', { min: 1 }),
    height: integer('-y', 'lines', { min: 1 }),
    fit: choice(
      { smallest: ['-a'], largest: ['-A'] },
      'the size of the smallest or largest session it is in',
    ),
    direction: choice(
      { left: ['-L'], right: ['-R'], up: ['-U'], down: ['-D'] },
      'narrower, wider, lower or higher',
    ),
    adjustment: custom(z.int().min(1), '', 'by how many cells; 1 unless told', (by) => [String(by)]),
  },
  refuse,
  result: ack,
  example: { target: { session: 'demo', window: 1 }, width: 100, height: 30 },
});
