import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type Delivery, type DeliveryState, deliveryShape, deliveryStates } from './agent.ts';
import { type OwnSessionChoice, ownSessionChoice } from './floor-seat.ts';
import { isStorable, mustBeStorable } from './text.ts';

/** What is said to a session; more belongs into a file. */
const words = z
  .string()
  .min(1)
  .max(8000)
  .refine(isStorable, mustBeStorable)
  .refine((text) => /\S/.test(text), 'must say something');

export interface FloorAdviseParams extends OwnSessionChoice {
  readonly text: string;
  readonly to?: 'agent' | 'driver' | undefined;
}

/** That advice is kept and on its way; mail:status tells how far it has got. */
export interface FloorAdvised {
  readonly message_id: string;
  readonly event_id: number;
  /** Who says it, as the hub knows it. */
  readonly from: string;
  /** Whom it goes to: the session, or somebody who was named. */
  readonly to: string;
  readonly session_id?: string | undefined;
  readonly state: DeliveryState;
}

export const floorAdvise: Action<FloorAdviseParams, FloorAdvised> = defineAction({
  name: 'floor:advise',
  tool: 'floor_advise',
  summary:
    'Says something to the agent of a session as information marked as yours, or with to: driver to its driver; @name at its beginning is for that agent or person.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    ...ownSessionChoice,
    text: words.describe('What you have to say; @name at the beginning says to whom.'),
    to: z
      .enum(['agent', 'driver'])
      .optional()
      .describe('driver: only to who drives, who may say it on; the agent hears it when left out.'),
  }),
  result: z.object({
    message_id: z.string(),
    event_id: z.int(),
    from: z.string(),
    to: z.string(),
    session_id: z.string().optional(),
    state: z.enum(deliveryStates),
  }),
});

export interface FloorInjectParams extends OwnSessionChoice {
  readonly text: string;
}

export interface FloorInjected extends Delivery {
  readonly session_id: string;
}

export const floorInject: Action<FloorInjectParams, FloorInjected> = defineAction({
  name: 'floor:inject',
  summary: 'Types a prompt at the agent of a session, as the words of its driver, who alone may.',
  scope: 'pane:drive',
  effect: 'write',
  params: z.strictObject({ ...ownSessionChoice, text: words }),
  result: z.intersection(deliveryShape, z.object({ session_id: z.string() })),
});

export interface FloorHandOnParams {
  readonly message_id: string;
  readonly to: string;
  readonly note?: string | undefined;
}

export interface FloorHandedOn {
  readonly message_id: string;
  readonly event_id: number;
  readonly thread_id: string;
  /** Whose message it was. */
  readonly from: string;
  readonly to: string;
}

export const floorHandOn: Action<FloorHandOnParams, FloorHandedOn> = defineAction({
  name: 'floor:hand-on',
  tool: 'floor_hand_on',
  summary: 'Hands a message you were sent on to a sub-agent of yours, which answers who wrote it by itself.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    message_id: z.string().regex(/^msg_[0-9a-f]{16}$/, 'must be msg_ and 16 hex digits'),
    to: z.string().min(1).max(80).describe('The sub-agent: dean.sql, or sql alone.'),
    note: words.optional().describe('What you have to say to it.'),
  }),
  result: z.object({
    message_id: z.string(),
    event_id: z.int(),
    thread_id: z.string(),
    from: z.string(),
    to: z.string(),
  }),
});
