import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';

export interface ShellRunParams {
  readonly command: string;
  readonly cwd?: string | undefined;
}

export const shellRun: Action<ShellRunParams, Record<string, never>> = defineAction({
  name: 'shell:run',
  summary: "Runs a command line in the user's shell, in the background and without a pane.",
  scope: 'shell:run',
  effect: 'destructive',
  params: z.strictObject({ command: z.string().min(1), cwd: z.string().optional() }),
  result: nothing,
});
