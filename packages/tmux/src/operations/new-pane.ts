import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedPane, createdPane } from '../operation/outcome.ts';
import {
  argument,
  environment,
  flag,
  integer,
  size,
  startDirectory,
  target,
  text,
  unless,
} from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface NewPane {
  readonly target: Target;
  readonly width?: number | `${number}%`;
  readonly height?: number | `${number}%`;
  readonly x?: number;
  readonly y?: number;
  readonly zoom?: boolean;
  readonly select?: boolean;
  readonly empty?: boolean;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly style?: string;
  readonly activeBorderStyle?: string;
  readonly inactiveBorderStyle?: string;
  readonly message?: string;
  readonly shell?: string;
}

export const newPane: Builder<NewPane, CreatedPane> = defineOperation<NewPane, CreatedPane>({
  kind: 'new_pane',
  scope: 'window',
  effect: 'write',
  summary: 'Opens a pane that floats above the others of its window.',
  since: '3.7',
  params: {
    target: target('a pane of the window'),
    width: size('-x', 'columns, or a share of the window'),
    height: size('-y', 'lines, or a share of the window'),
    x: integer('-X', 'column of its left edge'),
    y: integer('-Y', 'line of its upper edge'),
    zoom: flag('-Z', 'keep the window zoomed if it is'),
    select: unless('-d', 'make the new pane the active one'),
    empty: flag('-E', 'start no process in it'),
    startDirectory: startDirectory(),
    environment: environment(),
    style: text('-s', 'colours of the pane'),
    activeBorderStyle: text('-S', 'colours of its border while it is active'),
    inactiveBorderStyle: text('-R', 'colours of its border otherwise'),
    message: text('-m', 'a format it shows once its process has ended, until a key is pressed'),
    shell: argument('command the shell runs; the user’s shell unless told'),
  },
  refuse: ({ empty, shell }) => (empty && shell !== undefined ? 'an empty pane runs no shell' : undefined),
  result: createdPane,
  creates: 'pane',
  example: { target: { session: 'demo', window: 0, pane: 0 }, width: 20, height: 6, x: 2, y: 2 },
});
