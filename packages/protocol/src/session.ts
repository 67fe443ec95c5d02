import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';

/** Where the tmux session that holds tmux panes is found. */
export interface TmuxSession {
  readonly running: boolean;
  /** Why nobody can know whether it runs. */
  readonly trouble?: string | undefined;
  readonly tmux: string;
  readonly socket: string;
  readonly name: string;
}

const tmuxSession: z.ZodType<TmuxSession> = z.object({
  running: z.boolean(),
  trouble: z.string().optional(),
  tmux: z.string(),
  socket: z.string(),
  name: z.string(),
});

export const sessionStart: Action<Record<string, never>, TmuxSession> = defineAction({
  name: 'session:start',
  summary: 'Starts the tmux session that holds tmux panes, if it is not there.',
  scope: 'session:write',
  effect: 'write',
  params: nothing,
  result: tmuxSession,
});

export const sessionStop: Action<Record<string, never>, Record<string, never>> = defineAction({
  name: 'session:stop',
  summary: 'Ends the tmux session and every pane in it.',
  scope: 'session:write',
  effect: 'destructive',
  onFullDisk: true,
  params: nothing,
  result: nothing,
});

export const sessionStatus: Action<Record<string, never>, TmuxSession> = defineAction({
  name: 'session:status',
  summary: 'Answers whether the tmux session is there, and where.',
  scope: 'pane:read',
  effect: 'read',
  params: nothing,
  result: tmuxSession,
});
