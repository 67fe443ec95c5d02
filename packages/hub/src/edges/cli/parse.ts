import { parseArgs } from 'node:util';
import { didYouMean, PolyError } from '@polyphony/protocol';
import { type Flag, type Flags, type FlagValues, toggle } from './flag.ts';
import { shellWord } from './shell-word.ts';

export interface Parsed<F extends Flags> {
  readonly flags: FlagValues<F>;
  readonly args: readonly string[];
  /** Everything behind `--`, or undefined when there was none. */
  readonly rest: readonly string[] | undefined;
}

/** Flags that every command has. */
export const globalFlags: { readonly json: Flag<boolean>; readonly help: Flag<boolean> } = {
  json: toggle('Print JSON, for programs.'),
  help: toggle('Show this.', { short: 'h' }),
};

export interface ParseOptions {
  /** Takes `true` or `false` behind a switch as its value; for commands without arguments of their own. */
  readonly spelledSwitches?: boolean;
  /** The command that gives its arguments to a program, for the advice where its own flags end. */
  readonly program?: string;
}

/** Reads words as flags and arguments. A flag that is not in the table is refused, never guessed at. */
export function parse<F extends Flags>(
  words: readonly string[],
  flags: F,
  { spelledSwitches = false, program }: ParseOptions = {},
): Parsed<F> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const args: string[] = [];
  let rest: readonly string[] | undefined;
  let lastSwitch: string[] | undefined;
  let firstArgument: number | undefined;
  for (const token of tokens) {
    const before = lastSwitch;
    lastSwitch = undefined;
    if (token.kind === 'option-terminator') {
      rest = words.slice(token.index + 1);
      break;
    }
    if (token.kind === 'positional') {
      firstArgument ??= token.index;
      if (spelledSwitches && before && /^(true|false)$/.test(token.value)) before[0] = token.value;
      else args.push(token.value);
      continue;
    }
    const advice =
      program === undefined || firstArgument === undefined
        ? undefined
        : `To give it to the program: ${commandLine(['poly', program], words, firstArgument)}`;
    const { name, flag, off } = find(flags, token.name, token.rawName, advice);
    const collected = given.get(name) ?? [];
    if (collected.length > 0 && !flag.repeated)
      throw new PolyError('invalid_arguments', `--${name} is given twice.`);
    if (flag.value === undefined) {
      if (off && token.value !== undefined)
        throw new PolyError('invalid_arguments', `${token.rawName} takes no value.`);
      collected.push(off ? 'false' : (token.value ?? 'true'));
      if (!off && token.value === undefined) lastSwitch = collected;
    } else if (token.value === undefined || (token.value === '--' && !token.inlineValue)) {
      throw new PolyError('invalid_arguments', `--${name} needs a value: --${name} ${flag.value}`);
    } else collected.push(token.value);
    given.set(name, collected);
  }
  const missing = Object.keys(flags).filter((name) => flags[name]?.required && !given.has(name));
  if (missing.length > 0 && !given.has('help')) {
    const named = missing.map((name) => `--${name}`).join(' and ');
    throw new PolyError('invalid_arguments', `${named} ${missing.length > 1 ? 'are' : 'is'} missing.`);
  }
  const values = [...given].map(([name, collected]) => [name, flags[name]?.read(collected, name)]);
  return { flags: Object.fromEntries(values) as FlagValues<F>, args, rest };
}

function commandLine(before: readonly string[], words: readonly string[], cut: number): string {
  const line = [...words.slice(0, cut), '--', ...words.slice(cut)];
  return [...before, ...line.map(shellWord)].join(' ');
}

function find(
  flags: Flags,
  name: string,
  raw: string,
  advice: string | undefined,
): { name: string; flag: Flag; off: boolean } {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag) return { name, flag, off: false };
  const positive = name.replace(/^no-/, '');
  const switched = positive !== name && Object.hasOwn(flags, positive) ? flags[positive] : undefined;
  if (switched && switched.value === undefined) return { name: positive, flag: switched, off: true };
  throw new PolyError('invalid_arguments', `there is no flag ${raw}.`, {
    hint:
      advice ??
      didYouMean(
        `--${name}`,
        Object.keys(flags).map((known) => `--${known}`),
      ),
  });
}
