import * as z from 'zod';

/** Whether an action looks, changes something, or destroys what cannot be had back. */
export type Effect = 'read' | 'write' | 'destructive';

/** What a credential must hold for an action; a pane's credential holds some, the user's all. */
export const scopes = [
  'pane:read',
  'pane:write',
  'pane:drive',
  'pane:spawn',
  'shell:run',
  'agent:write',
  'mail:read',
  'mail:write',
  'mail:watch',
  'task:read',
  'task:write',
  'contract:read',
  'contract:write',
  'file:read',
  'file:write',
  'floor:read',
  'floor:write',
  'floor:admin',
  'approval:read',
  'approval:write',
  'events:read',
  'events:emit',
  'session:write',
  'extensions:read',
  'extensions:write',
  'extensions:run',
  'server:read',
  'server:write',
] as const;
export type Scope = (typeof scopes)[number];

export interface ActionSpec<Params, Result> {
  readonly name: string;
  /** One sentence: what it does. */
  readonly summary: string;
  readonly scope: Scope;
  readonly effect: Effect;
  readonly params: z.ZodType<Params>;
  readonly result: z.ZodType<Result>;
  /** Acts on the pane that the parameter `paneId` names: a pane's credential must own it. */
  readonly onPane?: boolean;
  /** Ends or forgets something: on a full disk it is still done, and written down in the space kept free for that. */
  readonly onFullDisk?: boolean;
  /** Parameters, and parts of the result, that never reach the event log. */
  readonly secrets?: readonly string[];
  /** What it writes and the note that it was done are one commit; where it changes nothing, nothing is noted. */
  readonly oneStep?: boolean;
  /** The tool agents know it by, where that is not its own name. */
  readonly tool?: string;
}

/** A named, typed, permitted thing the hub can do, declared once: every face of it derives from this value. */
export type Action<Params = unknown, Result = unknown> = Readonly<ActionSpec<Params, Result>>;

const actionName = /^[a-z0-9][a-z0-9-]*:[a-z0-9][a-z0-9-]*$/;

/**
 * Checks and freezes the declaration of an action.
 *
 * @example defineAction({ name: 'demo:hello', summary: 'Greets.', scope: 'pane:read', effect: 'read', params: nothing, result: nothing })
 */
export function defineAction<Params, Result>(spec: ActionSpec<Params, Result>): Action<Params, Result> {
  if (!actionName.test(spec.name)) {
    throw new TypeError(
      `"${spec.name}" is no action's name: say noun:verb in lower case, for example pane:new.`,
    );
  }
  if (!scopes.includes(spec.scope)) {
    throw new TypeError(
      `${spec.name} has no known scope ("${String(spec.scope)}"): say one of ${scopes.join(', ')}.`,
    );
  }
  return Object.freeze({ ...spec });
}

/** Takes or gives nothing. */
export const nothing: z.ZodType<Record<string, never>> = z.strictObject({});

/** The JSON Schema of what an action takes or gives, with an object at its root. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, reused: 'inline', unrepresentable: 'any' });
  return json;
}
