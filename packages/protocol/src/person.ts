import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { agentName, displayName } from './mail-names.ts';

/** Somebody beside the user whom the user has let into the room. */
export interface Person {
  readonly participant: string;
  readonly display_name: string;
  readonly invited_at: string;
  /** Whether an invitation waits to be taken. */
  readonly invited: boolean;
  /** When the person last came in by one; never when left out. */
  readonly came_at?: string | undefined;
}

const personName = agentName.describe('The part of the id behind user:');

const person: z.ZodType<Person> = z.object({
  participant: z.string(),
  display_name: z.string(),
  invited_at: z.string(),
  invited: z.boolean(),
  came_at: z.string().optional(),
});

export interface PersonInviteParams {
  readonly name: string;
  readonly display_name?: string | undefined;
}

export interface PersonInvited {
  readonly person: Person;
  /** Lets one browser in as this person, once; it stands behind `/#ticket=` in the address of the page. */
  readonly ticket?: string | undefined;
  readonly expires_at: string;
}

export const personInvite: Action<PersonInviteParams, PersonInvited> = defineAction({
  name: 'person:invite',
  summary:
    'Lets another person into the room, to watch, advise and take the seat; answers a ticket for one browser.',
  scope: 'floor:admin',
  effect: 'write',
  oneStep: true,
  secrets: ['ticket'],
  params: z.strictObject({ name: personName, display_name: displayName.optional() }),
  result: z.object({ person, ticket: z.string().optional(), expires_at: z.string() }),
});

export interface PersonList {
  readonly user: string;
  readonly people: readonly Person[];
}

export const personList: Action<Record<string, never>, PersonList> = defineAction({
  name: 'person:list',
  summary: 'Lists the people in the room: whose hub it is, and who was invited.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({}),
  result: z.object({
    user: z.string(),
    people: z.array(person),
  }),
});

export const personRemove: Action<{ readonly name: string }, { readonly participant: string }> = defineAction(
  {
    name: 'person:remove',
    summary: 'Takes back the invitation and every key of a person, at once; what that person said stays.',
    scope: 'floor:admin',
    effect: 'write',
    oneStep: true,
    onFullDisk: true,
    params: z.strictObject({ name: personName }),
    result: z.object({ participant: z.string() }),
  },
);
