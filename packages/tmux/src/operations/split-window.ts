import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedPane, createdPane } from '../operation/outcome.ts';
import {
  argument,
  environment,
  flag,
  side,
  size,
  startDirectory,
  target,
  unless,
} from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface SplitWindow {
  readonly target: Target;
  readonly direction?: 'right' | 'left' | 'below' | 'above';
  readonly size?: number | `${number}%`;
  readonly fullSize?: boolean;
  readonly select?: boolean;
  readonly zoom?: boolean;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly shell?: string;
}

export const splitWindow: Builder<SplitWindow, CreatedPane> = defineOperation<SplitWindow, CreatedPane>({
  kind: 'split_window',
  scope: 'window',
  effect: 'write',
  summary: 'Splits a pane and starts a process in the new one.',
  params: {
    target: target('the pane to split'),
    direction: side('where the new pane goes; below unless told'),
    size: size('-l', 'lines or columns of the new pane, or a share'),
    fullSize: flag('-f', 'span the whole window'),
    select: unless('-d', 'make the new pane the active one'),
    zoom: flag('-Z', 'let the active pane fill the window afterwards'),
    startDirectory: startDirectory(),
    environment: environment(),
    shell: argument('command the shell runs; the user’s shell unless told'),
  },
  result: createdPane,
  creates: 'pane',
  example: { target: { session: 'demo', window: 0, pane: 0 }, direction: 'right' },
});
