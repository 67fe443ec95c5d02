import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { partOf, readGiven, shown } from './given.ts';

export type PaneId = `%${number}`;
export type WindowId = `@${number}`;
export type SessionId = `$${number}`;

/** A place given by exact names or indexes: `{ session: 'work', window: 1, pane: 0 }`. Never matches by prefix. */
export interface PathTarget {
  readonly session: string;
  readonly window?: string | number | undefined;
  readonly pane?: number | undefined;
}

/** A pane of a known window by its index: `{ window: '@3', pane: 1 }`. */
export interface WindowPaneTarget {
  readonly window: WindowId;
  readonly pane: number;
}

/**
 * A place found by tmux relative to a known one: `{ special: 'right-of', of: '@3' }`.
 * It must be anchored: unanchored, tmux would start from whatever session our own client sits in.
 */
export interface SpecialTarget {
  readonly special: (typeof windowSpecials)[number] | (typeof paneSpecials)[number];
  readonly of: SessionId | WindowId;
}

/** What an earlier operation of a plan will create; it becomes an id when that operation has run. */
export interface SlotRef {
  readonly slot: number;
  readonly part: 'self' | 'window' | 'pane';
}

/** Where an operation acts; every member is exact. */
export type Target = PaneId | WindowId | SessionId | PathTarget | WindowPaneTarget | SlotRef;
/** Where an operation looks: also places that depend on what is active at the moment. */
export type AnyTarget = Target | SpecialTarget;
export interface ClientTarget {
  readonly client: string;
}

const windowSpecials = ['start', 'end', 'last', 'next', 'previous'] as const;
const paneSpecials = [
  'active', 'last', 'next', 'previous', 'top', 'bottom', 'left', 'right',
  'top-left', 'top-right', 'bottom-left', 'bottom-right', 'up-of', 'down-of', 'left-of', 'right-of',
] as const; // biome-ignore format: a table

interface Refusal {
  /** Alternatives of a union that are refused alike are all told. */
  readonly abort: true;
  readonly error: (issue: { readonly input?: unknown }) => string;
}

function noId(form: string): Refusal {
  return { abort: true, error: ({ input }) => `${form}, not ${shown(input)}` };
}

/** What is wrong with a name; of an empty one only that it is empty. */
function unlessEmpty(what: string, why: string): Refusal {
  return { abort: true, error: ({ input }) => `${what} ${input === '' ? 'cannot be empty' : why}` };
}

export const paneIdSchema: z.ZodType<PaneId> = z
  .string()
  .regex(/^%\d+$/, noId('a pane id is % and a number')) as unknown as z.ZodType<PaneId>;
export const windowIdSchema: z.ZodType<WindowId> = z
  .string()
  .regex(/^@\d+$/, noId('a window id is @ and a number')) as unknown as z.ZodType<WindowId>;
export const sessionIdSchema: z.ZodType<SessionId> = z
  .string()
  .regex(/^\$\d+$/, noId('a session id is $ and a number')) as unknown as z.ZodType<SessionId>;

/** tmux itself sets no limit, and tells every client every name: one of a megabyte stops it from answering (3.3a). */
export const longestName = 1000;
export const tooLong: string = `a name has at most ${longestName} characters here`;

/**
 * tmux reads `:` and `.` as separators, the leading marks as other kinds of target, and turns both into `_` in new names.
 * It stores a backslash as two, and 3.3a puts one before a dollar that could begin a variable: asked for by the name it
 * was given, such a session would not be found.
 */
export const sessionNameSchema: z.ZodType<string> = z
  .string()
  .max(longestName, tooLong)
  .regex(
    /^(?!.*(\\|\$[A-Za-z_{]))/s,
    'a session name here cannot hold "\\", or "$" before a letter, "_" or "{", which tmux stores otherwise; use its id',
  )
  .regex(/^[^:.\p{Cc}]+$/u, unlessEmpty('a session name', 'cannot hold ":", "." or control characters'))
  .regex(/^[^$@%={}!^+~-]/, 'a session name here cannot start with one of $@%={}!^+~-; use its id');
const windowNameSchema = z
  .string()
  .regex(
    /^[^:.\p{Cc}]+$/u,
    unlessEmpty('a window name', 'cannot hold ":", "." or control characters here; give its id'),
  )
  .regex(/^[^\\]*$/, 'a window name with a backslash must be replaced by its id: tmux 3.7 stores it as two')
  .regex(/^[^$@%={}!^+~-]/, 'a window name starting with one of $@%={}!^+~- must be given by its id')
  .regex(/\D/, 'a window whose name is a number must be given by its id: tmux would read it as an index');

const index = z.int().min(0);
const pathSchema = z
  .strictObject({
    session: z.union([sessionIdSchema, sessionNameSchema]),
    window: z.union([index, windowNameSchema]).optional(),
    pane: index.optional(),
  })
  .refine((path) => path.pane === undefined || path.window !== undefined, {
    message: 'a pane index needs a window',
  });
const windowPaneSchema = z.strictObject({ window: windowIdSchema, pane: index });
const specialSchema = z.union([
  z.strictObject({ special: z.enum(windowSpecials), of: sessionIdSchema }),
  z.strictObject({ special: z.enum(paneSpecials), of: windowIdSchema }),
]);
export const slotSchema: z.ZodType<SlotRef> = z.strictObject({
  slot: index,
  part: z.enum(['self', 'window', 'pane']),
});

/** What to give instead of what was given; the commonest slip is tmux's own form, which matches by prefix. */
const noTarget = {
  error: ({ input }: { readonly input?: unknown }): string =>
    `${shown(input)} is no target${partOf(input) || ": give an id ('%1', '@1', '$1') or exact names, { session: 'work', window: 0, pane: 1 }"}`,
};

const targets = [
  paneIdSchema,
  windowIdSchema,
  sessionIdSchema,
  slotSchema,
  windowPaneSchema,
  pathSchema,
] as const;
export const targetSchema: z.ZodType<Target> = z.union(targets, noTarget);
export const anyTargetSchema: z.ZodType<AnyTarget> = z.union([...targets, specialSchema], noTarget);
/** Client names are the paths of their terminals, or `client-PID` for control clients. */
export const clientTargetSchema: z.ZodType<ClientTarget> = z.strictObject({
  client: z.string().regex(/^[^\p{Cc}]+$/u, unlessEmpty('a client name', 'cannot hold control characters')),
});

/**
 * An exact place by name, validated when made.
 *
 * @example exact('work', 'editor') // renders as =work:=editor
 */
export function exact(session: string, window?: string | number, pane?: number): PathTarget {
  const path = { session, ...(window !== undefined && { window }), ...(pane !== undefined && { pane }) };
  readGiven(pathSchema, path, `${JSON.stringify(path)} is not a target`, 'invalid_target');
  return Object.freeze(path);
}

export function isSlot(value: unknown): value is SlotRef {
  return typeof value === 'object' && value !== null && 'slot' in value && 'part' in value;
}

/** The word tmux understands. A slot has none before its creator has run. */
export function renderTarget(target: AnyTarget | ClientTarget): string {
  if (typeof target === 'string') return target;
  if ('client' in target) return target.client;
  if ('slot' in target) {
    throw new TmuxError(
      'forward_reference',
      `Slot ${target.slot} has no id yet: its operation has not run.`,
      { target },
    );
  }
  if ('special' in target) return `${target.of}${target.of.startsWith('$') ? ':' : '.'}{${target.special}}`;
  if (!('session' in target)) return `${target.window}.${target.pane}`;
  const session = target.session.startsWith('$') ? target.session : `=${target.session}`;
  const window = typeof target.window === 'string' ? `=${target.window}` : (target.window ?? '');
  return `${session}:${window}${target.pane === undefined ? '' : `.${target.pane}`}`;
}
