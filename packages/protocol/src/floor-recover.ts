import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { sessionName } from './floor-session.ts';
import { paneId } from './id.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';

export interface FloorRecoverParams extends ProjectChoice {
  readonly session?: string | undefined;
  readonly pane?: string | undefined;
  readonly dry_run?: boolean | undefined;
}

/** What a coding agent has kept of one conversation, and what of that was missing. */
export interface RecoveredTranscript {
  readonly vendor: string;
  readonly conversation: string;
  /** Where it lies; nowhere when left out. */
  readonly path?: string | undefined;
  /** What of it belongs into this session. */
  readonly events: number;
  readonly missing: number;
  /** Why it, or something in it, could not be read. */
  readonly problem?: string | undefined;
}

/** What was missing in the timeline of one session. */
export interface RecoveredSession {
  readonly session_id: string;
  readonly slug: string;
  readonly project: string;
  /** Captured, and not in the timeline. */
  readonly from_record: number;
  /** Told by no hook, and kept by the coding agent. */
  readonly from_transcripts: number;
  readonly transcripts: readonly RecoveredTranscript[];
}

export interface FloorRecovered {
  readonly dry_run: boolean;
  readonly journal: {
    /** Files that could not be taken in before, and can now. */
    readonly revived: number;
    /** Those that still cannot. */
    readonly dead: readonly { readonly name: string; readonly why: string }[];
  };
  /** How many sessions were looked at. */
  readonly looked_at: number;
  /** Those in which something was missing, or could not be looked at. */
  readonly sessions: readonly RecoveredSession[];
  readonly restored: number;
}

export const floorRecover: Action<FloorRecoverParams, FloorRecovered> = defineAction({
  name: 'floor:recover',
  summary:
    'Compares timelines with the journal, the record and what coding agents have kept themselves, and fills in what is missing.',
  scope: 'floor:admin',
  effect: 'write',
  params: z.strictObject({
    session: sessionName.optional().describe('Only this session.'),
    ...projectChoice,
    pane: paneId.optional().describe('Only the sessions that this pane has fed.'),
    dry_run: z.boolean().optional().describe('Only say what is missing.'),
  }),
  result: z.object({
    dry_run: z.boolean(),
    journal: z.object({
      revived: z.int(),
      dead: z.array(z.object({ name: z.string(), why: z.string() })),
    }),
    looked_at: z.int(),
    sessions: z.array(
      z.object({
        session_id: z.string(),
        slug: z.string(),
        project: z.string(),
        from_record: z.int(),
        from_transcripts: z.int(),
        transcripts: z.array(
          z.object({
            vendor: z.string(),
            conversation: z.string(),
            path: z.string().optional(),
            events: z.int(),
            missing: z.int(),
            problem: z.string().optional(),
          }),
        ),
      }),
    ),
    restored: z.int(),
  }),
});
