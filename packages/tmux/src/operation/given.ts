import { inspect } from 'node:util';
import type * as z from 'zod';
import { TmuxError, type TmuxErrorCode } from '../errors.ts';
import { nearest } from './nearest.ts';

/** Reads what a caller gave, or refuses it in words: what is wrong, what was given, what to give instead. */
export function readGiven<T>(
  schema: z.ZodType<T>,
  given: unknown,
  what: string,
  code: TmuxErrorCode = 'invalid_parameters',
): T {
  // To zod a RegExp or a promise is an object without keys, and so as good as no options at all.
  const read = isBuiltIn(given)
    ? { success: false as const, error: { issues: [{ path: [], message: notAnObject(given, schema) }] } }
    : schema.safeParse(given, { error: say });
  if (read.success) return read.data;
  throw new TmuxError(code, `${what}: ${problems(read.error)}.`.replace(/\?\.$/, '?'), { given });
}

/** Refuses what is no engine; the commonest slip is the server that holds it. */
export function requireEngine(given: { readonly version?: unknown; readonly engine?: unknown }): void {
  if (typeof given?.version === 'function') return;
  const instead = given?.engine === undefined ? 'make one with createEngine()' : 'give its .engine';
  throw new TmuxError('invalid_parameters', `${shown(given)} is no engine: ${instead}.`, { given });
}

/** The part of a zod error a person reads: where, and what. */
function problems(error: { readonly issues: readonly Issue[] }): string {
  return error.issues.map(describe).join('; ');
}

type Issue = Pick<z.core.$ZodIssueBase, 'path' | 'message'> & {
  readonly code?: string | undefined;
  readonly errors?: readonly (readonly Issue[])[];
};

function describe(issue: Issue): string {
  const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  // A branch of a union that has all its keys, and a wrong value in one, was meant; else the union speaks for itself.
  const meant = issue.errors?.find((branch) =>
    branch.every(({ path, code, message }) => (path.length > 0 || code === 'custom') && message !== missing),
  );
  return where + (meant ? meant.map(describe).join('; ') : issue.message);
}

const missing = 'is missing';

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
  RegExp: 'a regular expression such as /done/',
};

/** zod's error map for all that comes from a caller; undefined leaves the words to zod. */
function say(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'object') return notAnObject(input, issue.inst);
      if (issue.expected === 'array' && typeof input === 'string') return `must be a list: [${shown(input)}]`;
      return input === undefined
        ? missing
        : `must be ${typeNames[issue.expected] ?? issue.expected}, not ${shown(input)}${partOf(input)}`;
    case 'invalid_value':
      if (input === undefined) return missing;
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}, not ${shown(input)}${meantOf(input, issue.values.map(String))}`;
    case 'too_small':
      return issue.origin === 'number'
        ? `must be at least ${issue.minimum}, not ${shown(input)}`
        : 'cannot be empty';
    case 'unrecognized_keys': {
      const names = namesOf(issue.inst);
      // A text that was spread into an object: `{ target, ...'right' }`.
      if (issue.keys.every((key, i) => key === String(i)))
        return notAnObject(
          issue.keys.map((key) => (input as Record<string, unknown>)[key]).join(''),
          issue.inst,
        );
      const unknown = issue.keys.map((key) => `unknown parameter ${key}${meantOf(key, names)}`).join('; ');
      const text = unknown + partOf(input);
      return `${text}${text.endsWith('?') ? '' : '.'} Parameters: ${names.join(', ')}`;
    }
    case 'invalid_key':
      return problems(issue);
    case 'invalid_union':
      return [...new Set(issue.errors.map((issues) => problems({ issues })))].join(', or ') || undefined;
  }
  return undefined;
}

function notAnObject(input: unknown, schema: unknown): string {
  const names = namesOf(schema).join(', ');
  return `give an object${names && ` of ${names}`}, not ${shown(input)}${partOf(input)}`;
}

function namesOf(schema: unknown): readonly string[] {
  return Object.keys((schema as Partial<z.ZodObject> | undefined)?.shape ?? {});
}

function meantOf(given: unknown, words: readonly string[]): string {
  const meant = typeof given === 'string' ? nearest(given, words) : undefined;
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** A value as a message shows it: short, and whatever it is. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0, breakLength: Infinity });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

const places = ['id', 'ref', 'pane', 'window', 'self', 'paneId', 'windowId', 'sessionId'];

/** What to take instead of a whole handle, slot or row: the part of it that is a place. */
export function partOf(value: unknown): string {
  if (value instanceof Promise) return ': await it first';
  if (typeof value !== 'object' || value === null) return '';
  const own = value as Readonly<Record<string, unknown>>;
  const found = places.filter((name) => isPlace(own[name])).map((name) => `.${name}`);
  return found.length === 0 ? '' : `: give its ${found.join(' or ')}`;
}

function isPlace(value: unknown): boolean {
  if (typeof value === 'string') return /^[%@$]\d+$/.test(value);
  return typeof value === 'object' && value !== null && 'slot' in value && 'part' in value;
}

function isBuiltIn(value: unknown): boolean {
  return value instanceof RegExp || value instanceof Promise || value instanceof Map || value instanceof Date;
}
