import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type SessionChoice, sessionChoice } from './floor-session.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { label } from './mail-names.ts';
import { type TimelineKind, timelineKinds } from './timeline-kind.ts';

/** What is known beside the words of an entry; which of it there is depends on the kind. */
export interface TimelineData {
  readonly tool?: string | undefined;
  readonly input?: string | undefined;
  readonly call?: string | undefined;
  readonly error?: string | undefined;
  readonly reason?: string | undefined;
  readonly turn?: string | undefined;
  readonly subagent?: string | undefined;
  readonly cwd?: string | undefined;
  readonly vendor?: string | undefined;
  readonly conversation?: string | undefined;
  /** As the coding agent calls the event. */
  readonly event?: string | undefined;
  readonly [more: string]: unknown;
}

/** How the tool of an entry ended. */
export interface ToolResult {
  readonly entry_id: string;
  readonly text: string;
  readonly error?: string | undefined;
  readonly at: string;
}

export interface TimelineEntry {
  readonly entry_id: string;
  /** Orders streams; never reused. */
  readonly seq: number;
  readonly session_id: string;
  readonly kind: TimelineKind;
  /** Whose words or deeds, as stamped by the hub. */
  readonly sender: string;
  readonly at: string;
  readonly received_at: string;
  /** Readable; long ones are cut, and `floor:entry` has the rest. */
  readonly text: string;
  readonly data: TimelineData;
  readonly result?: ToolResult | undefined;
  readonly starred?: true | undefined;
  readonly tags?: readonly string[] | undefined;
  /** What was decided here, in the words of whoever marked it. */
  readonly decision?: string | undefined;
  /** Refilled later from what the coding agent itself had kept. */
  readonly reconstructed?: true | undefined;
}

export const timelineEntryShape: z.ZodType<TimelineEntry> = z.object({
  entry_id: z.string(),
  seq: z.int(),
  session_id: z.string(),
  kind: z.enum(timelineKinds),
  sender: z.string(),
  at: z.string(),
  received_at: z.string(),
  text: z.string(),
  data: z.record(z.string(), z.unknown()),
  result: z
    .object({ entry_id: z.string(), text: z.string(), error: z.string().optional(), at: z.string() })
    .optional(),
  starred: z.literal(true).optional(),
  tags: z.array(z.string()).optional(),
  decision: z.string().optional(),
  reconstructed: z.literal(true).optional(),
});

/** Where a page ends, in the order in which things happened. */
const cursor = z
  .string()
  .regex(/^\d{1,15}\.\d{1,15}$/, 'must be a cursor that a page answered, as next_before or next_after');
const limit = z.int().min(1).max(500).optional();

export interface FloorTimelineParams extends SessionChoice {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly kinds?: readonly TimelineKind[] | undefined;
  readonly limit?: number | undefined;
}

export interface TimelinePage {
  /** As they happened, the oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Give it as before for what happened earlier; left out at the beginning. */
  readonly next_before?: string | undefined;
  /** Give it as after for what happens later. */
  readonly next_after?: string | undefined;
  /** The newest entry there is, for a stream that begins here. */
  readonly last_seq: number;
}

export const floorTimeline: Action<FloorTimelineParams, TimelinePage> = defineAction({
  name: 'floor:timeline',
  summary: 'Shows what happened in a session; without a cursor the newest of it, the oldest first.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...sessionChoice,
    before: cursor.optional().describe('Only what happened before a page: its next_before.'),
    after: cursor.optional().describe('Only what happened behind a page: its next_after.'),
    kinds: z
      .array(z.enum(timelineKinds))
      .max(timelineKinds.length)
      .optional()
      .describe('Only these; all but other when left out.'),
    limit: limit.describe('100 when left out.'),
  }),
  result: z.object({
    entries: z.array(timelineEntryShape),
    next_before: z.string().optional(),
    next_after: z.string().optional(),
    last_seq: z.int(),
  }),
});

/** An entry with the payload that the coding agent handed over, secrets made unreadable. */
export interface WholeEntry extends TimelineEntry {
  readonly payload?: unknown;
}

export const floorEntry: Action<{ readonly entry: string }, WholeEntry> = defineAction({
  name: 'floor:entry',
  summary: 'Shows one entry with everything that the coding agent told.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({ entry: z.string().min(1).max(80) }),
  result: z.intersection(timelineEntryShape, z.object({ payload: z.unknown() })),
});

export interface FloorSearchParams extends ProjectChoice {
  readonly query: string;
  readonly session?: string | undefined;
  readonly sender?: string | undefined;
  readonly kind?: TimelineKind | undefined;
  readonly tag?: string | undefined;
  readonly before_seq?: number | undefined;
  readonly limit?: number | undefined;
}

export interface FloorFound {
  readonly entry: TimelineEntry;
  readonly project: string;
  readonly slug: string;
  /** What stands around the first word that was found. */
  readonly snippet: string;
}

export interface FloorSearchResult {
  readonly results: readonly FloorFound[];
  readonly has_more: boolean;
}

const found: z.ZodType<FloorFound> = z.object({
  entry: timelineEntryShape,
  project: z.string(),
  slug: z.string(),
  snippet: z.string(),
});

export const floorSearch: Action<FloorSearchParams, FloorSearchResult> = defineAction({
  name: 'floor:search',
  summary: 'Finds entries by their words, the newest first; a word may end in *.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    query: z.string().min(1).max(1000),
    ...projectChoice,
    session: label.optional(),
    sender: z.string().min(1).max(80).optional().describe('Only of this participant.'),
    kind: z.enum(timelineKinds).optional(),
    tag: label.optional().describe('Only what has this tag.'),
    before_seq: z.int().min(1).optional().describe('Go on behind the entry with this seq.'),
    limit: z.int().min(1).max(100).optional().describe('20 when left out.'),
  }),
  result: z.object({ results: z.array(found), has_more: z.boolean() }),
});

/** A branch, a commit or a pull request that was seen in a session. */
export interface FloorLink {
  readonly kind: 'branch' | 'commit' | 'pull_request';
  readonly value: string;
  readonly entry_id: string;
  readonly at: string;
}

export const floorLinkShape: z.ZodType<FloorLink> = z.object({
  kind: z.enum(['branch', 'commit', 'pull_request']),
  value: z.string(),
  entry_id: z.string(),
  at: z.string(),
});

export const floorLinks: Action<SessionChoice, { readonly links: readonly FloorLink[] }> = defineAction({
  name: 'floor:links',
  summary: 'Lists branches, commits and pull requests seen in a session, the newest first.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject(sessionChoice),
  result: z.object({ links: z.array(floorLinkShape) }),
});

/** What happened in a session since somebody last drove it, or since its beginning. */
export interface FloorChanges {
  readonly session_id: string;
  /** When they last drove; left out where they never did. */
  readonly since?: string | undefined;
  readonly drivers: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** What people asked for, the newest last. */
  readonly prompts: readonly TimelineEntry[];
  readonly last_answer?: TimelineEntry | undefined;
  /** What waits for an answer. */
  readonly open: readonly TimelineEntry[];
  readonly failures: readonly TimelineEntry[];
  readonly decisions: readonly TimelineEntry[];
  readonly files: readonly string[];
  readonly links: readonly FloorLink[];
}

export const floorChangesShape: z.ZodType<FloorChanges> = z.object({
  session_id: z.string(),
  since: z.string().optional(),
  drivers: z.array(z.string()),
  counts: z.record(z.string(), z.int()),
  prompts: z.array(timelineEntryShape),
  last_answer: timelineEntryShape.optional(),
  open: z.array(timelineEntryShape),
  failures: z.array(timelineEntryShape),
  decisions: z.array(timelineEntryShape),
  files: z.array(z.string()),
  links: z.array(floorLinkShape),
});

export interface FloorChangesParams extends SessionChoice {
  readonly after_seq?: number | undefined;
}

export const floorChanges: Action<FloorChangesParams, FloorChanges> = defineAction({
  name: 'floor:changes',
  summary: 'Says what changed in a session since you last drove it, in bounded size.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...sessionChoice,
    after_seq: z.int().min(0).optional().describe('Since this entry instead.'),
  }),
  result: floorChangesShape,
});
