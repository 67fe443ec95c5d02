import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { paneId } from './id.ts';
import { type PaneNewResult, paneNew, paneNewShape } from './pane.ts';
import type { PaneParams } from './pane-parts.ts';

export interface PaneRestartParams extends PaneParams {
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export const paneRestart: Action<PaneRestartParams, PaneNewResult> = defineAction({
  name: 'pane:restart',
  summary: 'Ends a pane, if it runs, and starts its program anew in a pane that takes its place and id.',
  scope: 'pane:spawn',
  effect: 'write',
  onPane: true,
  params: z.strictObject({
    paneId,
    env: paneNewShape.env.describe('Variables added to its environment; those kept with it when left out.'),
  }),
  result: paneNew.result,
  secrets: ['env'],
});
