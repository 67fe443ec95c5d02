import { z } from 'zod';
import { TmuxError } from '../errors.ts';

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

export const paneIdSchema: z.ZodType<PaneId> = z
  .string()
  .regex(/^%\d+$/, 'a pane id is % and a number') as unknown as z.ZodType<PaneId>;
export const windowIdSchema: z.ZodType<WindowId> = z
  .string()
  .regex(/^@\d+$/, 'a window id is @ and a number') as unknown as z.ZodType<WindowId>;
export const sessionIdSchema: z.ZodType<SessionId> = z
  .string()
  .regex(/^\$\d+$/, 'a session id is $ and a number') as unknown as z.ZodType<SessionId>;

/** tmux reads `:` and `.` as separators, the leading marks as other kinds of target, and turns both into `_` in new names. */
export const sessionNameSchema: z.ZodType<string> = z
  .string()
  .regex(/^[^:.\p{Cc}]+$/u, 'a session name cannot hold ":", "." or control characters')
  .regex(/^[^$@%={}!^+~-]/, 'a session name here cannot start with one of $@%={}!^+~-; use its id');
const windowNameSchema = z
  .string()
  .regex(/^[^:.\p{Cc}]+$/u, 'a window named with ":", "." or control characters must be given by its id')
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
    `${JSON.stringify(input)} is no target: give an id ('%1', '@1', '$1') or exact names, { session: 'work', window: 0, pane: 1 }`,
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
  client: z.string().regex(/^[^\p{Cc}]+$/u, 'a client name cannot hold control characters'),
});

/**
 * An exact place by name, validated when made.
 *
 * @example exact('work', 'editor') // renders as =work:=editor
 */
export function exact(session: string, window?: string | number, pane?: number): PathTarget {
  const path = { session, ...(window !== undefined && { window }), ...(pane !== undefined && { pane }) };
  const parsed = pathSchema.safeParse(path);
  if (!parsed.success) {
    throw new TmuxError(
      'invalid_target',
      `${JSON.stringify(path)} is not a target: ${problems(parsed.error)}.`,
      { path },
    );
  }
  return Object.freeze(path);
}

/** The part of a zod error a person reads: where, and what. */
export function problems(error: z.ZodError): string {
  return error.issues.map(describeIssue).join('; ');
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  if (issue.code === 'invalid_union') {
    // The branch that came furthest is the one that was meant; if none came anywhere, the union speaks for itself.
    const [best] = issue.errors.toSorted((a, b) => depth(b) - depth(a));
    return where + (best && depth(best) > 1 ? best.map(describeIssue).join('; ') : issue.message);
  }
  return where + issue.message;
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(
    ...issues.map(
      (issue) => issue.path.length * 2 + (issue.code === 'custom' || issue.code === 'invalid_format' ? 1 : 0),
    ),
  );
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
