import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';

/** A stretch of time in parts of equal length. */
export interface FloorActivityParams extends ProjectChoice {
  readonly from: string;
  readonly until: string;
  readonly parts: number;
}

/** How much happened in one session, part by part. */
export interface SessionActivity {
  readonly session_id: string;
  readonly entries: readonly number[];
  /** Those of the entries that people asked for. */
  readonly prompts: readonly number[];
}

export interface FloorActivity {
  /** Only sessions in which something happened. */
  readonly sessions: readonly SessionActivity[];
}

const time = z.iso.datetime({ error: 'must be a time in UTC like 2026-11-16T09:00:00Z' });

export const floorActivity: Action<FloorActivityParams, FloorActivity> = defineAction({
  name: 'floor:activity',
  summary: 'Counts what happened in each session, by parts of a stretch of time.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    from: time,
    until: time,
    parts: z.int().min(1).max(366).describe('Into how many parts the time is divided.'),
  }),
  result: z.object({
    sessions: z.array(
      z.object({ session_id: z.string(), entries: z.array(z.int()), prompts: z.array(z.int()) }),
    ),
  }),
});
