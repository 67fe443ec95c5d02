import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type FloorSession, floorSessionShape, sessionChoice } from './floor-session.ts';
import type { ProjectChoice } from './mail-identity.ts';

/** Which session is meant; that which the caller's own pane feeds when left out. */
export interface OwnSessionChoice extends ProjectChoice {
  readonly session?: string | undefined;
}

export const ownSessionChoice: {
  readonly session: z.ZodOptional<z.ZodType<string>>;
  readonly project: z.ZodOptional<z.ZodType<string>>;
  readonly team: z.ZodOptional<z.ZodType<string>>;
} = {
  ...sessionChoice,
  session: sessionChoice.session
    .optional()
    .describe('Name or id of the session; that of your own pane when left out.'),
};

export interface FloorClaimParams extends OwnSessionChoice {
  readonly takeover?: boolean | undefined;
}

/** That somebody has the seat from now on. */
export interface FloorClaimed {
  /** `again`: it was theirs already, and is for longer now. */
  readonly status: 'claimed' | 'again';
  readonly session: FloorSession;
  /** Tells this hold of the seat from every other. */
  readonly fence: number;
  readonly lease_until: string;
  /** Who had it before, where somebody had. */
  readonly before?: string | undefined;
  /** What a driver should know who has not followed, in at most 8 KiB. */
  readonly digest: string;
}

export const floorClaim: Action<FloorClaimParams, FloorClaimed> = defineAction({
  name: 'floor:claim',
  tool: 'floor_claim',
  summary: 'Takes the seat of a session: only its driver can type there.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...ownSessionChoice,
    takeover: z
      .boolean()
      .optional()
      .describe('Ask whoever has the seat for it, and wait for the answer; an agent gives way to people.'),
  }),
  result: z.object({
    status: z.enum(['claimed', 'again']),
    session: floorSessionShape,
    fence: z.int(),
    lease_until: z.string(),
    before: z.string().optional(),
    digest: z.string(),
  }),
});

export interface FloorHandoffParams extends OwnSessionChoice {
  readonly to?: string | undefined;
  readonly fence?: number | undefined;
}

/** That somebody has given the seat away. */
export interface FloorHandedOver {
  readonly status: 'handed-over' | 'open';
  readonly session: FloorSession;
}

export const floorHandoff: Action<FloorHandoffParams, FloorHandedOver> = defineAction({
  name: 'floor:handoff',
  tool: 'floor_handoff',
  summary: 'Gives the seat of a session to somebody, or leaves it open for whoever claims it.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...ownSessionChoice,
    to: z
      .string()
      .min(1)
      .max(80)
      .optional()
      .describe('A person or an agent of the project, with or without @; nobody when left out.'),
    fence: z.int().min(0).optional().describe('The hold that you mean: its fence.'),
  }),
  result: z.object({ status: z.enum(['handed-over', 'open']), session: floorSessionShape }),
});

export const floorDigest: Action<OwnSessionChoice, { readonly session_id: string; readonly digest: string }> =
  defineAction({
    name: 'floor:digest',
    summary:
      'Says what happened in a session since you last drove it, as a new driver hears it, in at most 8 KiB.',
    scope: 'floor:read',
    effect: 'read',
    params: z.strictObject(ownSessionChoice),
    result: z.object({ session_id: z.string(), digest: z.string() }),
  });
