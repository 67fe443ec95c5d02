import * as z from 'zod';
import { shown } from './given.ts';
import { literalFormat } from './quote.ts';
import {
  type AnyTarget,
  anyTargetSchema,
  type ClientTarget,
  clientTargetSchema,
  longestName,
  renderTarget,
  type Target,
  targetSchema,
  tooLong,
} from './target.ts';

/** One parameter of an operation: what it accepts, how tmux is told, and since when tmux knows it. */
export interface Param<T, R extends boolean = boolean> {
  readonly schema: z.ZodType<T>;
  readonly required: R;
  readonly doc: string;
  /** The tmux flag, or '' for a positional argument; shown in the reference. */
  readonly flag: string;
  readonly since?: string;
  /** The words for a value; `params` are all the operation was given, for what depends on another parameter. */
  render(value: T, params: Readonly<Record<string, unknown>>): readonly string[];
  /** The words sent when the parameter is not given. */
  readonly absent?: readonly string[];
}

interface ParamOptions {
  /** The first tmux that knows the flag; older ones refuse the parameter with version_unsupported. */
  readonly since?: string;
  /** tmux expands formats in this text; it is written so that what arrives is what was given. */
  readonly expanded?: boolean;
}

type Optional<T> = Param<T, false>;

const words: z.ZodType<string> = z.string().regex(/^[^\0]*$/, 'a tmux argument cannot hold a NUL byte');
const name: z.ZodType<string> = z
  .string()
  .min(1)
  .max(longestName, tooLong)
  .regex(/^[^\p{Cc}]*$/u, 'a name cannot hold control characters');

function param<T>(
  schema: z.ZodType<T>,
  flag: string,
  doc: string,
  render: Param<T>['render'],
  options: ParamOptions = {},
): Optional<T> {
  const { since } = options;
  return Object.freeze({ schema, flag, doc, render, required: false, ...(since !== undefined && { since }) });
}

/** A parameter whose value is one word, after its flag if it has one. */
function word(
  schema: z.ZodType<string>,
  letter: string,
  doc: string,
  options: ParamOptions = {},
): Optional<string> {
  const write = (value: string): string => (options.expanded ? literalFormat(value) : value);
  return param(
    schema,
    letter,
    doc,
    (value) => (letter === '' ? [write(value)] : [letter, write(value)]),
    options,
  );
}

/** A flag with no value, sent when true. */
export function flag(letter: string, doc: string, options?: ParamOptions): Optional<boolean> {
  return param(z.boolean(), letter, doc, (on) => (on ? [letter] : []), options);
}

/** A flag that is sent unless the parameter is true: what is new stays in the background unless it is selected. */
export function unless(letter: string, doc: string): Optional<boolean> {
  return Object.freeze({
    ...param(z.boolean(), letter, doc, (on) => (on ? [] : [letter])),
    absent: [letter],
  });
}

/** A flag with a text, any but NUL. */
export function text(letter: string, doc: string, options?: ParamOptions): Optional<string> {
  return word(words, letter, doc, options);
}

/** A flag with a name: not empty, no control characters. */
export function named(letter: string, doc: string, options?: ParamOptions): Optional<string> {
  return word(name, letter, doc, options);
}

/** A flag with an absolute path: tmux would resolve a relative one against a folder of its own. */
export function path(letter: string, doc: string, options?: ParamOptions): Optional<string> {
  return word(absolutePath, letter, doc, options);
}

/**
 * The working directory of a process that is started; tmux expands formats in it.
 * Not given, tmux would take the folder of the tmux process that carries the command, and engines would differ.
 */
export function startDirectory(
  doc = 'working directory of the process; the session’s unless told',
): Optional<string> {
  return Object.freeze({ ...path('-c', doc, { expanded: true }), absent: ['-c', '#{session_path}'] });
}

/** A flag with a whole number. */
export function integer(
  letter: string,
  doc: string,
  options?: ParamOptions & { readonly min?: number; readonly max?: number },
): Optional<number> {
  const schema = z
    .int()
    .min(options?.min ?? 0)
    .max(options?.max ?? Number.MAX_SAFE_INTEGER);
  return param(schema, letter, doc, (value) => [letter, String(value)], options);
}

const notASize = {
  error: ({ input }: { readonly input?: unknown }): string =>
    `a size is a number of cells, or a share from '1%' to '100%', not ${shown(input)}`,
};

/** A size in cells, or of the available space: 20 or '30%'. */
export function size(letter: string, doc: string, options?: ParamOptions): Optional<number | `${number}%`> {
  const schema = z.union([z.int().min(1), z.string().regex(/^([1-9]\d?|100)%$/, notASize)], notASize);
  return param(
    schema as unknown as z.ZodType<number | `${number}%`>,
    letter,
    doc,
    (value) => [letter, String(value)],
    options,
  );
}

/** One word of a few, each standing for its own flags: `{ up: ['-U'], down: ['-D'] }`. */
export function choice<K extends string>(
  flags: Readonly<Record<K, readonly string[]>>,
  doc: string,
  options?: ParamOptions,
): Optional<K> {
  const keys = Object.keys(flags) as K[];
  const shown = keys
    .map((key) => flags[key].join(' '))
    .filter(Boolean)
    .join(' | ');
  return param(z.enum(keys) as unknown as z.ZodType<K>, shown, doc, (key) => flags[key], options);
}

/** A flag with one word of a few. */
export function oneOf<K extends string>(
  letter: string,
  keys: readonly K[],
  doc: string,
  options?: ParamOptions,
): Optional<K> {
  return param(z.enum(keys) as unknown as z.ZodType<K>, letter, doc, (key) => [letter, key], options);
}

/** On which side of a pane another goes. */
export function side(doc: string): Optional<'right' | 'left' | 'below' | 'above'> {
  return choice({ right: ['-h'], left: ['-h', '-b'], below: ['-v'], above: ['-v', '-b'] }, doc);
}

/** Environment variables of what is started: one `-e NAME=value` each. */
export function environment(
  doc = 'variables of the new process',
  options?: ParamOptions,
): Optional<Readonly<Record<string, string>>> {
  const schema = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'), words);
  return param(
    schema,
    '-e',
    doc,
    (map) => Object.entries(map).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
    options,
  );
}

/** Where the operation acts. */
export function target(doc = 'what it acts on', letter = '-t'): Param<Target, true> {
  return required(param(targetSchema, letter, doc, (value) => [letter, renderTarget(value)]));
}

/** Where the operation looks: also relative places, anchored to a window or session. */
export function anyTarget(doc = 'what it looks at', letter = '-t'): Param<AnyTarget, true> {
  return required(param(anyTargetSchema, letter, doc, (value) => [letter, renderTarget(value)]));
}

/** A client, by the name list_clients gives. */
export function client(doc = 'the client', letter = '-t'): Param<ClientTarget, true> {
  return required(param(clientTargetSchema, letter, doc, (value) => [letter, renderTarget(value)]));
}

/** A text after the flags. */
export function argument(doc: string, options?: ParamOptions): Optional<string> {
  return word(words, '', doc, options);
}

/** A name after the flags. */
export function nameArgument(doc: string, options?: ParamOptions): Optional<string> {
  return word(name, '', doc, options);
}

/** An absolute path after the flags. */
export function pathArgument(doc: string, options?: ParamOptions): Optional<string> {
  return word(absolutePath, '', doc, options);
}

/** The name of an option or a hook after the flags, with the index of one item if it is an array: `status-format[1]`. */
export function optionName(doc: string): Optional<string> {
  const schema = z
    .string()
    .regex(/^@?[\w./-]+(\[\d+\])?$/, 'not the name of an option: mouse, @mine, status-format[1]');
  return word(schema, '', doc);
}

/** Texts after the flags, at least one. */
export function argumentList(doc: string): Optional<readonly string[]> {
  return param(z.array(words).min(1).readonly(), '', doc, (values) => values);
}

/** Any other shape, with its own rendering; `letter` '' makes it positional. */
export function custom<T>(
  schema: z.ZodType<T>,
  letter: string,
  doc: string,
  render: Param<T>['render'],
  options?: ParamOptions,
): Optional<T> {
  return param(schema, letter, doc, render, options);
}

export function required<T>(optional: Param<T>): Param<T, true> {
  return Object.freeze({ ...optional, required: true as const });
}

export function optional<T>(given: Param<T>): Param<T, false> {
  return Object.freeze({ ...given, required: false as const });
}

export const absolutePath: z.ZodType<string> = words.and(
  z.string().regex(/^\//, {
    error: ({ input }) =>
      `must be an absolute path, not ${shown(input)}: tmux would look in a folder of its own`,
  }),
);
