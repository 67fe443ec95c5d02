import * as z from 'zod';
import { asSentence, listed, mustBeOneOf, shownValue, unknownName } from './allowed.ts';
import { PolyError } from './error.ts';

/** One thing that is wrong with a value: where, and in words that stand behind the name of the place. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

export interface ReadGivenOptions {
  /** What the value is, to begin the message with. */
  readonly what: string;
  readonly hint?: string;
  /** Names of parts that no message repeats. */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * Reads what came in by a door, or refuses it in words: which part, what it must be, and what was given.
 *
 * @example readGiven(z.strictObject({ kind: z.enum(['ws', 'ui']) }), body, { what: 'the body' });
 */
export function readGiven<T>(
  schema: z.ZodType<T>,
  given: unknown,
  { what, hint, secrets }: ReadGivenOptions,
): T {
  const read = schema.safeParse(given, { error: inWords });
  if (read.success) return read.data;
  const problems = problemsOf(read.error, given, secrets);
  throw new PolyError('invalid_arguments', `${what}: ${sayProblems(problems)}`, {
    ...(hint !== undefined && { hint }),
    details: problems,
  });
}

/** Problems as one sentence, each with the name of its place. */
export function sayProblems(problems: readonly Problem[]): string {
  return asSentence(
    problems.map(({ path, code, message }) => {
      if (code === 'unrecognized_keys') return message;
      if (path.length > 0) return `${path.join('.')} ${message}`;
      return message.startsWith('must ') ? `it ${message}` : message;
    }),
  );
}

/** What a schema, asked with `inWords`, found wrong with a value. */
export function problemsOf(
  { issues }: { readonly issues: readonly z.core.$ZodIssue[] },
  given: unknown,
  secrets: readonly string[] = [],
): readonly Problem[] {
  return issues.map((issue) => {
    const { path, code } = issue;
    const value = path.reduce<unknown>(
      (whole, name) => (whole as Record<PropertyKey, unknown>)?.[name],
      given,
    );
    const secret = path.some((name) => secrets.includes(String(name)));
    return { path, code, message: describe(issue, value, secret) };
  });
}

function describe(issue: z.core.$ZodIssue, value: unknown, secret: boolean): string {
  const { code, path, message } = issue;
  const shown = secret ? kindOf(value) : shownValue(value);
  switch (code) {
    case 'unrecognized_keys':
      return message;
    case 'invalid_key':
      return issue.issues[0]?.message ?? message;
    case 'invalid_value':
      if (value === undefined) return `is missing: it must be ${listed(issue.values.map(String), 'or')}`;
      return secret ? message : mustBeOneOf(issue.values.map(String), value);
    case 'invalid_union': {
      if ('options' in issue && issue.options) return mustBeOneOf(issue.options.map(String), value);
      // What fits no branch at all is told what each wants; what only goes wrong deeper in one was meant as that one.
      const deeper = issue.errors.find((branch) => branch.every((one) => one.path.length > 0));
      if (deeper) return deeper.map((one) => `${one.path.join('.')} ${one.message}`).join('; ');
      const wanted = issue.errors.flat().map((one) => one.message.replace(/^must be /, ''));
      return given(`must be ${listed([...new Set(wanted)], 'or')}`, value, shown);
    }
    case 'too_small':
    case 'too_big':
      return given(
        message,
        value,
        lengths[issue.origin] ? String((value as string | object[]).length) : shown,
      );
    case 'custom':
      return path.length === 0 ? message : given(message, value, shown);
    default:
      return given(message, value, shown);
  }
}

/** Adds what was there instead, unless it speaks for itself. */
function given(message: string, value: unknown, shown: string): string {
  if (value === undefined && message.startsWith('must ')) return `is missing: it ${message}`;
  if (message === 'must not be empty') return message;
  if (message.startsWith('must not ') || !message.startsWith('must ')) return `${message} (given: ${shown})`;
  return `${message}, not ${shown}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return `this text of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const lengths: Readonly<Record<string, string>> = { string: 'characters', array: 'items', file: 'bytes' };

/** zod's error map for what comes from outside: what must be there. What was there is added by `problemsOf`. */
export const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type': {
      const whole = issue.inst instanceof z.ZodNumberFormat;
      return `must be ${typeNames[whole ? 'int' : issue.expected] ?? issue.expected}`;
    }
    case 'invalid_value':
      return `must be ${listed(issue.values.map(String), 'or')}`;
    case 'too_small':
    case 'too_big':
      return sizeOf(issue);
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be written as ${issue.format}`;
    case 'unrecognized_keys': {
      const names = Object.keys((issue.inst as Partial<z.ZodObject> | undefined)?.shape ?? {});
      return issue.keys.map((key) => unknownName(key, names, issue.path?.join('.'))).join('; ');
    }
  }
  return undefined;
};

function sizeOf(
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall> | z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>,
): string {
  const small = issue.code === 'too_small';
  const bound = String(small ? issue.minimum : issue.maximum);
  const unit = lengths[issue.origin ?? ''];
  if (unit) {
    if (small && bound === '1') return 'must not be empty';
    return `must have at ${small ? 'least' : 'most'} ${bound} ${unit}`;
  }
  const { minValue, maxValue } = (issue.schema ?? {}) as Partial<z.ZodNumber>;
  const [least, most] = [minValue ?? -limit, maxValue ?? limit];
  if (least > -limit && most < limit) return `must be ${least} to ${most}`;
  return `must be ${bound} or ${small ? 'more' : 'less'}`;
}

const limit = Number.MAX_SAFE_INTEGER;
