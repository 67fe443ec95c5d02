import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';

export const panePrune: Action<Record<string, never>, { readonly ids: readonly string[] }> = defineAction({
  name: 'pane:prune',
  summary: 'Forgets every pane that has ended, with its output; for a pane those it owns.',
  scope: 'pane:write',
  effect: 'write',
  onFullDisk: true,
  params: nothing,
  result: z.object({ ids: z.array(paneId).describe('Those that are forgotten.') }),
});
