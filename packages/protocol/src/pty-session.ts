import * as z from 'zod';
import type { Backend, PaneNewParams } from './pane.ts';

/** A pane in the words of opencode-pty: what `/api/sessions` and `/ws` show. */
export interface PtySession {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly workdir: string;
  /** `killed` once it is dead because somebody closed it. */
  readonly status: 'running' | 'exited' | 'killed';
  readonly pid: number;
  /** Null while it runs, and when a signal ended it. */
  readonly exitCode: number | null;
  /** The name of the signal that ended it. */
  readonly exitSignal: string | null;
  readonly lineCount: number;
  readonly createdAt: string;
  readonly backend: Backend;
}

export interface PtySpawn {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly notifyOnExit?: boolean | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
}

/** What a session is started with; `pane:new` says which values it takes. */
export const ptySpawnShape: { readonly [Name in keyof PtySpawn]-?: z.ZodType<PtySpawn[Name]> } = {
  command: z.string().min(1).describe('The program.'),
  args: z.array(z.string()).optional(),
  workdir: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  notifyOnExit: z.boolean().optional(),
  cols: z.int().optional(),
  rows: z.int().optional(),
};

/** The same, as parameters of `pane:new`. */
export function paneOfSpawn(spawn: PtySpawn): PaneNewParams {
  const { command, args = [], workdir, description, env, title, notifyOnExit, cols, rows } = spawn;
  return {
    backend: 'pty',
    argv: [command, ...args],
    ...(workdir !== undefined && { cwd: workdir }),
    ...(description !== undefined && { meta: { description } }),
    ...{ env, title, notifyOnExit, cols, rows },
  };
}
