import type * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { shown } from '../operation/given.ts';
import { nearest } from '../operation/nearest.ts';
import { type Path, type RawSession, showPath } from './parse.ts';
import { type Level, sessionLevel, sessionSchema } from './schema.ts';
import type { WorkspaceWarning } from './workspace.ts';
import type { SessionFile } from './workspace-file.ts';

export interface ReadSession {
  readonly file: SessionFile;
  readonly warnings: readonly WorkspaceWarning[];
}

/** Checks one declared session: a wrong value is an error, a key without effect a warning. */
export function readSession(raw: RawSession): ReadSession {
  if (typeof raw.value === 'string') {
    const message = `${shown(raw.value)} is no session; a file is read by readWorkspace(path)`;
    throw invalidWorkspace(raw, [{ path: [], message }]);
  }
  const file = parseRaw(sessionSchema, raw);
  return { file, warnings: strayKeys(raw, sessionLevel, raw.value, []) };
}

/** What a schema makes of a part of a file; what it refuses is an error with the place of every problem. */
export function parseRaw<T>(schema: z.ZodType<T, unknown>, raw: RawSession): T {
  const parsed = schema.safeParse(raw.value, { error: say });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => furthest(issue));
  throw invalidWorkspace(
    raw,
    problems.map(({ path, message }) => ({
      path,
      message: isMissing(raw.value, path) ? `is missing${instead(raw.value, path)}` : message,
    })),
  );
}

/** What is wrong with a value, in the words of a file; undefined leaves them to the schema. */
function say(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'too_small' && issue.origin === 'string') return 'cannot be empty';
  if (issue.code === 'invalid_union') return `cannot be ${shown(issue.input)}`;
  if (issue.code !== 'invalid_type') return undefined;
  const wanted = typeNames[issue.expected];
  return wanted && `must be ${wanted}, not ${shown(issue.input)}`;
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
};

/** A warning about one key of a session, with its place in the file. */
export function warnAbout(
  raw: RawSession,
  path: Path,
  code: WorkspaceWarning['code'],
  message: string,
): WorkspaceWarning {
  const shown = showPath([...raw.path, ...path]);
  return { code, path: shown, message: `${shown || raw.name}: ${message}`, ...raw.locate(path) };
}

function strayKeys(raw: RawSession, level: Level, value: unknown, path: Path): WorkspaceWarning[] {
  if (Array.isArray(value)) return value.flatMap((inner, i) => strayKeys(raw, level, inner, [...path, i]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    if (!level.keys.includes(key)) return [strayKey(raw, level, key, here)];
    const next = level.inside.get(key);
    return next ? strayKeys(raw, next, inner, here) : [];
  });
}

function strayKey(raw: RawSession, level: Level, key: string, path: Path): WorkspaceWarning {
  const reason = level.unsupported.get(key);
  if (reason !== undefined) return warnAbout(raw, path, 'unsupported_key', `has no effect here: ${reason}.`);
  const meant = nearest(key, level.keys);
  const known = meant === undefined ? `Known here: ${level.keys.join(', ')}.` : `Did you mean ${meant}?`;
  return warnAbout(raw, path, 'unknown_key', `is not a known key and has no effect. ${known}`);
}

export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** The error for a session that cannot be meant, with the place of every problem. */
export function invalidWorkspace(raw: RawSession, found: readonly Problem[]): TmuxError {
  const problems = found.map(({ path, message }) => ({
    path: showPath([...raw.path, ...path]),
    message,
    ...raw.locate(path),
  }));
  const lines = problems.map(({ path, message, line, column }) => {
    const at = line === undefined ? '' : `:${line}:${column}`;
    return `${raw.name}${at}: ${path || 'the session'}: ${message}`;
  });
  return new TmuxError('invalid_workspace', `${lines.join('; ')}.`, { name: raw.name, problems });
}

function isMissing(value: unknown, path: Path): boolean {
  return path.length > 0 && at(value, path) === undefined;
}

/** The key that stands there and was probably meant to be the one that is missing. */
function instead(value: unknown, path: Path): string {
  const strays = Object.keys(at(value, path.slice(0, -1)) ?? {}).filter(
    (key) => !sessionLevel.keys.includes(key),
  );
  const meant = nearest(String(path.at(-1)), strays);
  return meant === undefined ? '' : `; there is "${meant}"`;
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key],
    value,
  );
}

/** Of the alternatives of a union, the one that got deepest into the value is what was meant. */
function furthest(issue: z.core.$ZodIssue, above: Path = []): Problem {
  const path = [...above, ...issue.path.filter((key) => typeof key !== 'symbol')];
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flatMap((branch) => branch.slice(0, 1).map((first) => furthest(first, path)));
    const deepest = inner.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest && deepest.path.length > path.length) return deepest;
  }
  if (issue.code === 'invalid_key') return { path, message: issue.issues[0]?.message ?? issue.message };
  return { path, message: issue.message };
}
