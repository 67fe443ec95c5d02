import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type SessionChoice, sessionChoice } from './floor-session.ts';
import { type TimelineEntry, timelineEntryShape } from './floor-timeline.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';

export const annotationKinds = ['star', 'tag', 'decision'] as const;
export type AnnotationKind = (typeof annotationKinds)[number];

/** What somebody put on a session, or on one entry of it. */
export interface Annotation {
  readonly annotation_id: string;
  readonly session_id: string;
  readonly entry_id?: string | undefined;
  readonly kind: AnnotationKind;
  /** The tag, or what was decided. */
  readonly value?: string | undefined;
  readonly by: string;
  readonly at: string;
}

export const annotationShape: z.ZodType<Annotation> = z.object({
  annotation_id: z.string(),
  session_id: z.string(),
  entry_id: z.string().optional(),
  kind: z.enum(annotationKinds),
  value: z.string().optional(),
  by: z.string(),
  at: z.string(),
});

export interface FloorAnnotateParams extends SessionChoice {
  readonly entry?: string | undefined;
  readonly kind: AnnotationKind;
  readonly value?: string | undefined;
}

export const floorAnnotate: Action<FloorAnnotateParams, Annotation> = defineAction({
  name: 'floor:annotate',
  summary: 'Stars or tags an entry or a whole session, or marks what was decided there.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  // What somebody wrote is kept without its secrets, and the log has no place for it.
  secrets: ['value'],
  params: z.strictObject({
    ...sessionChoice,
    entry: z.string().min(1).max(80).optional().describe('One entry; the whole session when left out.'),
    kind: z.enum(annotationKinds),
    value: z.string().min(1).max(2000).optional().describe('The tag, or what was decided.'),
  }),
  result: annotationShape,
});

export const floorAnnotations: Action<SessionChoice, { readonly annotations: readonly Annotation[] }> =
  defineAction({
    name: 'floor:annotations',
    summary: 'Lists what was put on a session and its entries, the oldest first.',
    scope: 'floor:read',
    effect: 'read',
    params: z.strictObject(sessionChoice),
    result: z.object({ annotations: z.array(annotationShape) }),
  });

export const floorUnannotate: Action<{ readonly annotation: string }, { readonly annotation_id: string }> =
  defineAction({
    name: 'floor:unannotate',
    summary: 'Takes away a star, a tag or a decision: your own, or, for the driver and the user, any.',
    scope: 'floor:write',
    effect: 'write',
    oneStep: true,
    params: z.strictObject({
      annotation: z.string().regex(/^ann_[0-9a-f]{16}$/, 'must be ann_ and 16 hex digits'),
    }),
    result: z.object({ annotation_id: z.string() }),
  });

/** Something that was decided, and where. */
export interface FloorDecision extends Annotation {
  readonly project: string;
  readonly slug: string;
  readonly entry?: TimelineEntry | undefined;
}

export interface FloorDecisionsParams extends ProjectChoice {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface FloorDecisionList {
  readonly decisions: readonly FloorDecision[];
  readonly has_more: boolean;
}

export const floorDecisions: Action<FloorDecisionsParams, FloorDecisionList> = defineAction({
  name: 'floor:decisions',
  summary: 'Lists what was decided, in a project or in all, the newest first.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    before: z
      .string()
      .regex(/^ann_[0-9a-f]{16}$/, 'must be ann_ and 16 hex digits')
      .optional()
      .describe('Go on behind this annotation_id.'),
    limit: z.int().min(1).max(200).optional().describe('50 when left out.'),
  }),
  result: z.object({
    decisions: z.array(
      z.intersection(
        annotationShape,
        z.object({ project: z.string(), slug: z.string(), entry: timelineEntryShape.optional() }),
      ),
    ),
    has_more: z.boolean(),
  }),
});
