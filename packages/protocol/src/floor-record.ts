import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import {
  type FloorSession,
  floorSessionShape,
  type SessionChoice,
  sessionChoice,
  sessionName,
} from './floor-session.ts';
import {
  type FloorChanges,
  floorChangesShape,
  type TimelineEntry,
  timelineEntryShape,
} from './floor-timeline.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { label } from './mail-names.ts';
import { type Project, projectRename } from './project.ts';

/** A hook event of a coding agent that is handed over by its own word, and not by a capture hook. */
export interface FloorRecordParams extends SessionChoice {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly vendor?: string | undefined;
  readonly sender?: string | undefined;
  readonly event_id?: string | undefined;
  readonly at?: string | undefined;
}

export const floorRecord: Action<FloorRecordParams, TimelineEntry> = defineAction({
  name: 'floor:record',
  summary: 'Puts an event of a coding agent, as its hooks tell it, into a session; each event_id once.',
  scope: 'floor:write',
  effect: 'write',
  secrets: ['payload', 'text', 'data'],
  params: z.strictObject({
    ...sessionChoice,
    payload: z.record(z.string(), z.unknown()).describe('The event, with hook_event_name.'),
    vendor: label.optional().describe('Whose event it is; claude when left out.'),
    sender: z.string().min(1).max(80).optional().describe('Refused unless it is who it must be.'),
    event_id: z
      .string()
      .regex(/^[\w.:-]{1,128}$/, 'must be 1-128 letters, digits, ".", "_", ":" or "-"')
      .optional()
      .describe('The same event given again is answered as it was.'),
    at: z.iso.datetime({ offset: true }).optional().describe('When it happened; now when left out.'),
  }),
  result: timelineEntryShape,
});

export interface FloorReplyParams extends ProjectChoice {
  readonly message: string;
  readonly session?: string | undefined;
}

export const floorReply: Action<FloorReplyParams, TimelineEntry> = defineAction({
  name: 'floor:reply',
  tool: 'floor_reply',
  summary: 'Says something to everybody who follows your session.',
  scope: 'floor:write',
  effect: 'write',
  secrets: ['message', 'text'],
  params: z.strictObject({
    message: z.string().min(1).max(65_536),
    session: sessionName.optional().describe('Another one than that which you feed.'),
    ...projectChoice,
  }),
  result: timelineEntryShape,
});

/** What somebody needs to know of a session to go on with it, in bounded size. */
export interface FloorContext {
  readonly session: FloorSession;
  readonly changes: FloorChanges;
  /** The newest, the oldest first; long texts are cut. */
  readonly entries: readonly TimelineEntry[];
}

export interface FloorContextParams extends SessionChoice {
  readonly max_bytes?: number | undefined;
}

export const floorContext: Action<FloorContextParams, FloorContext> = defineAction({
  name: 'floor:context',
  tool: 'floor_context',
  summary:
    'Tells what happened in a session, of your project or another, shortly: what was done, decided and is open.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...sessionChoice,
    max_bytes: z.int().min(1000).max(262_144).optional().describe('16384 when left out.'),
  }),
  result: z.object({
    session: floorSessionShape,
    changes: floorChangesShape,
    entries: z.array(timelineEntryShape),
  }),
});

export const floorRename: Action<{ readonly name: string }, Project> = defineAction({
  name: 'floor:rename',
  tool: 'floor_rename',
  summary: 'Gives the project of your session another name; those it had still lead to it.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ name: label }),
  result: projectRename.result,
});

/** Somebody who takes part: a person or an agent. */
export interface TeamMember {
  readonly participant: string;
  readonly kind: 'person' | 'agent';
  readonly name: string;
  readonly display_name?: string | undefined;
  /** As people see a named agent: of a sub-agent the name of the one above it. */
  readonly shown_as?: string | undefined;
  readonly icon?: string | undefined;
  /** Projects they have registered in, or have a session in. */
  readonly projects: readonly string[];
  /** Sessions they drive, or whose agent they are, that are not archived. */
  readonly sessions: readonly string[];
  readonly liveness?: string | undefined;
  readonly last_seen_at?: string | undefined;
}

export const floorTeam: Action<ProjectChoice, { readonly team: readonly TeamMember[] }> = defineAction({
  name: 'floor:team',
  tool: 'floor_team',
  summary: 'Lists people and agents, of a project or of all.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject(projectChoice),
  result: z.object({
    team: z.array(
      z.object({
        participant: z.string(),
        kind: z.enum(['person', 'agent']),
        name: z.string(),
        display_name: z.string().optional(),
        shown_as: z.string().optional(),
        icon: z.string().optional(),
        projects: z.array(z.string()),
        sessions: z.array(z.string()),
        liveness: z.string().optional(),
        last_seen_at: z.string().optional(),
      }),
    ),
  }),
});
