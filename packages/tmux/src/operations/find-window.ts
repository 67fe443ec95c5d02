import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { custom, flag, required, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface FindWindow {
  readonly target: Target;
  readonly match: string;
  readonly content?: boolean;
  readonly name?: boolean;
  readonly title?: boolean;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  readonly zoom?: boolean;
}

/** tmux writes the text into a format, once for each thing to look at: with a "#" it could run a shell command. */
const pattern = z
  .string()
  .regex(/^[^\0#]*$/, 'tmux expands formats in it, so that it cannot hold "#", nor a NUL byte');

export const findWindow: Builder<FindWindow, Ack> = defineOperation<FindWindow, Ack>({
  kind: 'find_window',
  scope: 'pane',
  effect: 'write',
  summary: 'Shows the windows that match a text in a pane, for a person to choose from.',
  params: {
    target: target('the pane the list is shown in'),
    content: flag('-C', 'match what is on the screen; this, names and titles unless told'),
    name: flag('-N', 'match names of windows'),
    title: flag('-T', 'match titles of windows'),
    regex: flag('-r', 'the text is a regular expression, not a pattern with * and ?'),
    ignoreCase: flag('-i', 'upper and lower case are the same'),
    zoom: flag('-Z', 'zoom the pane meanwhile'),
    match: required(custom(pattern, '', 'the text; it cannot hold “#”', (match) => [match])),
  },
  result: ack,
  example: { target: { session: 'demo', window: 0, pane: 0 }, match: 'logs', name: true },
});
