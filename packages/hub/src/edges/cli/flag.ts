import { asSentence, mustBeOneOf, PolyError } from '@polyphony/protocol';
import { durationMs, durationText } from '../../platform/duration.ts';

/** A flag of a command: how it is written, and what its words become. */
export interface Flag<T = unknown> {
  readonly help: string;
  /** Names the value in help; a flag without one is a switch. */
  readonly value?: string;
  readonly short?: string;
  /** Whether giving it more than once makes sense. */
  readonly repeated?: boolean;
  readonly required?: boolean;
  /** What it may be, for completion and help. */
  readonly choices?: readonly string[];
  read(words: readonly string[], name: string): T;
}

export type Flags = Readonly<Record<string, Flag>>;

/** What was given, by the flag's name. */
export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F]?: F[Name] extends Flag<infer T> ? T : never;
};

interface Wording {
  readonly value?: string;
  readonly short?: string;
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

export function text(help: string, wording: Wording = {}): Flag<string> {
  return { help, value: 'TEXT', ...wording, read: ([word = '']) => word };
}

export function wholeNumber(
  help: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER, ...wording }: Wording & Bounds = {},
): Flag<number> {
  return {
    help,
    value: 'N',
    ...wording,
    read: ([word = ''], name) => {
      const number = toNumber(word, name, true);
      if (number >= least && number <= most) return number;
      const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
      throw new PolyError('invalid_arguments', `--${name} must be ${range}, not ${number}.`);
    },
  };
}

/** A time in milliseconds, given as `500ms`, `5s`, `2m`, or as a bare number of the unit that its value is named for. */
export function time(
  help: string,
  unit: 'ms' | 's',
  { most = Number.MAX_SAFE_INTEGER }: Pick<Bounds, 'most'> = {},
): Flag<number> {
  const named = unit === 'ms' ? 'milliseconds' : 'seconds';
  return {
    help: `${help} In ${named}, or as 500ms, 5s, 2m.`,
    value: unit.toUpperCase(),
    read: ([word = ''], name) => {
      const ms = durationMs(word, unit);
      const must = `--${name} must be`;
      if (ms === undefined)
        throw new PolyError(
          'invalid_arguments',
          `${must} a number of ${named}, or a time like 500ms, 5s or 2m, not "${word}".`,
        );
      if (ms >= 1 && ms <= most) return ms;
      const range = most === Number.MAX_SAFE_INTEGER ? '1ms or more' : `1ms to ${durationText(most)}`;
      throw new PolyError('invalid_arguments', `${must} ${range}, not "${word}".`);
    },
  };
}

export function toggle(help: string, wording: Wording = {}): Flag<boolean> {
  return { help, ...wording, read: ([word = 'true'], name) => toBoolean(word, name) };
}

/** One of a few words. */
export function choice(help: string, choices: readonly string[]): Flag<string> {
  return {
    help,
    value: choices.join('|'),
    choices,
    read: ([word = ''], name) => toChoice(word, name, choices),
  };
}

/** `--env K=V`, as often as there are variables. */
export function pairs(help: string, wording: Wording = {}): Flag<Readonly<Record<string, string>>> {
  return { help, value: 'K=V', repeated: true, ...wording, read: toRecord };
}

export function toNumber(word: string, name: string, whole: boolean): number {
  const number = Number(word);
  if (word.trim() !== '' && (whole ? Number.isSafeInteger(number) : Number.isFinite(number))) return number;
  throw new PolyError(
    'invalid_arguments',
    `--${name} takes a ${whole ? 'whole number' : 'number'}, not "${word}".`,
  );
}

export function toBoolean(word: string, name: string): boolean {
  if (word === 'true' || word === 'false') return word === 'true';
  throw new PolyError('invalid_arguments', `--${name} is true or false, not "${word}".`);
}

export function toChoice(word: string, name: string, choices: readonly string[]): string {
  if (choices.includes(word)) return word;
  throw new PolyError('invalid_arguments', asSentence([`--${name} ${mustBeOneOf(choices, word)}`]));
}

export function toRecord(words: readonly string[], name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const cut = word.indexOf('=');
      if (cut > 0) return [word.slice(0, cut), word.slice(cut + 1)];
      throw new PolyError('invalid_arguments', `--${name} takes a name and a value, K=V, not "${word}".`);
    }),
  );
}
