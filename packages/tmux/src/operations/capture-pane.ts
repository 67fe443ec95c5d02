import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Lines, lines } from '../operation/outcome.ts';
import { anyTarget, custom, flag, type Param } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface CapturePane {
  readonly target: AnyTarget;
  readonly start?: number | '-';
  readonly end?: number | '-';
  readonly escapeSequences?: boolean;
  readonly joinWrapped?: boolean;
  readonly trimTrailing?: boolean;
  readonly keepTrailing?: boolean;
  readonly modeScreen?: boolean;
  readonly alternateScreen?: boolean;
  readonly quiet?: boolean;
  readonly octal?: boolean;
  readonly pending?: boolean;
}

const lineNumber = (letter: string, doc: string): Param<number | '-', false> =>
  custom(z.union([z.int(), z.literal('-')]), letter, doc, (value) => [letter, String(value)]);

export const capturePane: Builder<CapturePane, Lines> = defineOperation<CapturePane, Lines>({
  kind: 'capture_pane',
  scope: 'pane',
  effect: 'read',
  summary: 'Reads what a pane shows, and its history if asked.',
  params: {
    target: anyTarget('the pane'),
    start: lineNumber(
      '-S',
      'first line: 0 is the top of the screen, -1 the line above it, "-" the oldest there is',
    ),
    end: lineNumber('-E', 'last line, counted alike; "-" is the bottom of the screen'),
    escapeSequences: flag('-e', 'with the escape sequences of colours and attributes'),
    joinWrapped: flag('-J', 'wrapped lines as one, with the spaces at their ends'),
    trimTrailing: flag('-T', 'without the positions at the ends of lines that never held a character', {
      since: '3.4',
    }),
    keepTrailing: flag('-N', 'with the spaces at the ends of lines'),
    modeScreen: flag('-M', 'the screen of the mode the pane is in', { since: '3.6' }),
    alternateScreen: flag('-a', 'the screen hidden by a full-screen program; fails when there is none'),
    quiet: flag('-q', 'no failure when there is no alternate screen'),
    octal: flag('-C', 'what cannot be printed as octal escapes'),
    pending: flag('-P', 'only the start of an escape sequence that has not been finished'),
  },
  fixed: ['-p'],
  result: lines,
  example: { target: { session: 'demo', window: 0, pane: 0 }, start: '-', joinWrapped: true },
});
