import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { paneId } from './id.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { agentName, displayName, label } from './mail-names.ts';

/** That the conversation of a coding agent feeds a session, from when on, and until when. */
export interface FloorBinding {
  readonly pane?: string | undefined;
  /** Which coding agent: `claude`, `codex` … */
  readonly vendor?: string | undefined;
  /** What the coding agent itself calls the conversation. */
  readonly conversation?: string | undefined;
  /** Whose words it brings, where that is known. */
  readonly agent?: string | undefined;
  readonly from: string;
  readonly until?: string | undefined;
}

/** One conversation in a project. */
export interface FloorSession {
  readonly session_id: string;
  /** Its name in its project: `s-7a3f`, or one that somebody chose. */
  readonly slug: string;
  /** As the project is called now. */
  readonly project: string;
  readonly project_key: string;
  readonly label?: string | undefined;
  /** Whose words those of the agent are. */
  readonly agent?: string | undefined;
  /** Who may type; nobody when left out. */
  readonly driver?: string | undefined;
  /** Counts who has had the seat: who holds an older number holds nothing. */
  readonly fence: number;
  readonly lease_until?: string | undefined;
  readonly forked_from?: string | undefined;
  readonly resumed_from?: string | undefined;
  /** What feeds it now. */
  readonly bindings: readonly FloorBinding[];
  readonly prompts: number;
  readonly entries: number;
  readonly last_activity_at?: string | undefined;
  readonly created_by: string;
  readonly created_at: string;
  readonly archived_at?: string | undefined;
}

const binding: z.ZodType<FloorBinding> = z.object({
  pane: z.string().optional(),
  vendor: z.string().optional(),
  conversation: z.string().optional(),
  agent: z.string().optional(),
  from: z.string(),
  until: z.string().optional(),
});

export const floorSessionShape: z.ZodType<FloorSession> = z.object({
  session_id: z.string(),
  slug: z.string(),
  project: z.string(),
  project_key: z.string(),
  label: z.string().optional(),
  agent: z.string().optional(),
  driver: z.string().optional(),
  fence: z.int(),
  lease_until: z.string().optional(),
  forked_from: z.string().optional(),
  resumed_from: z.string().optional(),
  bindings: z.array(binding),
  prompts: z.int(),
  entries: z.int(),
  last_activity_at: z.string().optional(),
  created_by: z.string(),
  created_at: z.string(),
  archived_at: z.string().optional(),
});

/** Which session is meant: its id alone, or its name in a project. */
export interface SessionChoice extends ProjectChoice {
  readonly session: string;
}

export const sessionName: z.ZodType<string> = label.describe('Name or id of the session.');
export const projectDir: z.ZodOptional<z.ZodType<string>> = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe('Names the project where none is named.');

/** What names a session; without a project it is one of the caller's project, or the only one of that name. */
export const sessionChoice: {
  readonly session: z.ZodType<string>;
  readonly project: z.ZodOptional<z.ZodType<string>>;
  readonly team: z.ZodOptional<z.ZodType<string>>;
} = { session: sessionName, ...projectChoice };

/** Which agent is meant, by whoever is not in its pane. */
interface FeedChoice {
  readonly pane?: string | undefined;
  readonly vendor?: string | undefined;
  readonly conversation?: string | undefined;
}

const feedChoice = {
  pane: paneId.optional().describe('The pane of the agent; your own when left out.'),
  vendor: label.optional().describe('Which coding agent it is, where it is in no pane.'),
  conversation: z
    .string()
    .regex(/^[\w.:-]{1,200}$/, 'must be 1-200 letters, digits, ".", "_", ":" or "-"')
    .optional()
    .describe('What the coding agent calls the conversation, where it is in no pane.'),
};

export interface FloorJoinParams extends ProjectChoice, FeedChoice {
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  readonly label?: string | undefined;
}

export interface FloorJoined {
  /** `created`: the session is new; `again`: it was fed by this agent already. */
  readonly status: 'created' | 'joined' | 'again';
  readonly session: FloorSession;
  readonly hint: string;
}

export const floorJoin: Action<FloorJoinParams, FloorJoined> = defineAction({
  name: 'floor:join',
  tool: 'floor_connect',
  summary: 'Puts what you do into a session of a project, so that others can follow, advise and take over.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...projectChoice,
    session: sessionName.optional().describe('One that is there, or the name of a new one.'),
    agent: agentName.optional().describe('Whose words yours are; your own name when left out.'),
    label: displayName.optional().describe('What it is about.'),
    project_dir: projectDir,
    ...feedChoice,
  }),
  result: z.object({
    status: z.enum(['created', 'joined', 'again']),
    session: floorSessionShape,
    hint: z.string(),
  }),
});

export interface FloorLeft {
  /** The session that is fed no longer; nothing where none was. */
  readonly session?: FloorSession | undefined;
}

export const floorLeave: Action<FeedChoice, FloorLeft> = defineAction({
  name: 'floor:leave',
  tool: 'floor_disconnect',
  summary: 'Stops putting what you do into a session; what is there stays.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject(feedChoice),
  result: z.object({ session: floorSessionShape.optional() }),
});

export interface FloorStatus {
  readonly connected: boolean;
  readonly session?: FloorSession | undefined;
  /** Who asks, as the floor knows it. */
  readonly you: string;
  /** Whether the hub is yours: whoever was invited may neither start nor end programs, nor put anything away. */
  readonly owner: boolean;
  /** Project, session and driver in a few words, for a status line; empty where nothing is joined. */
  readonly line: string;
}

export const floorStatus: Action<FeedChoice, FloorStatus> = defineAction({
  name: 'floor:status',
  tool: 'floor_status',
  summary: 'Says which session what you do is put into, and who drives it.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject(feedChoice),
  result: z.object({
    connected: z.boolean(),
    session: floorSessionShape.optional(),
    you: z.string(),
    owner: z.boolean(),
    line: z.string(),
  }),
});

export interface FloorOpenParams extends ProjectChoice {
  readonly name?: string | undefined;
  readonly label?: string | undefined;
}

export const floorOpen: Action<FloorOpenParams, FloorSession> = defineAction({
  name: 'floor:open',
  summary: 'Makes a session that no agent feeds yet.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...projectChoice,
    project_dir: projectDir,
    name: label.optional().describe('s- and hex digits when left out.'),
    label: displayName.optional(),
  }),
  result: floorSessionShape,
});

export interface FloorSessionsParams extends ProjectChoice {
  readonly archived?: boolean | undefined;
  readonly live?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface FloorSessionList {
  readonly sessions: readonly FloorSession[];
  readonly has_more: boolean;
}

export const floorSessions: Action<FloorSessionsParams, FloorSessionList> = defineAction({
  name: 'floor:sessions',
  summary: 'Lists the sessions of a project, or of all, that with the newest activity first.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    archived: z.boolean().optional().describe('true: only those that are archived; else those that are not.'),
    live: z
      .boolean()
      .optional()
      .describe('Only those that an agent feeds now, or only those that none does.'),
    limit: z.int().min(1).max(500).optional().describe('100 when left out.'),
  }),
  result: z.object({ sessions: z.array(floorSessionShape), has_more: z.boolean() }),
});

export const floorSession: Action<SessionChoice, FloorSession> = defineAction({
  name: 'floor:session',
  summary: 'Shows a session.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject(sessionChoice),
  result: floorSessionShape,
});

export interface FloorLabelParams extends SessionChoice {
  readonly label: string | null;
}

export const floorLabel: Action<FloorLabelParams, FloorSession> = defineAction({
  name: 'floor:label',
  summary: 'Says in a few words what a session is about; null takes them away.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ ...sessionChoice, label: displayName.nullable() }),
  result: floorSessionShape,
});

export interface FloorArchiveParams extends SessionChoice {
  readonly undo?: boolean | undefined;
}

export const floorArchive: Action<FloorArchiveParams, FloorSession> = defineAction({
  name: 'floor:archive',
  summary: 'Puts a session away: nothing feeds it, and search leaves it out; all of it is kept.',
  scope: 'floor:admin',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...sessionChoice,
    undo: z.boolean().optional().describe('Take it out again.'),
  }),
  result: floorSessionShape,
});

export const floorDelete: Action<SessionChoice, { readonly session_id: string; readonly entries: number }> =
  defineAction({
    name: 'floor:delete',
    summary: 'Forgets a session and what was captured for it.',
    scope: 'floor:admin',
    effect: 'destructive',
    oneStep: true,
    onFullDisk: true,
    params: z.strictObject(sessionChoice),
    result: z.object({ session_id: z.string(), entries: z.int() }),
  });
