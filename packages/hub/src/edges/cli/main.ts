import { didYouMean, type ErrorInfo, errorKinds, PolyError, withFullStop } from '@polyphony/protocol';
import { version } from './build.ts';
import type { Call, Command, Offline } from './command.ts';
import { commands, groups } from './commands.ts';
import type { Env } from './env.ts';
import { asksForHelp, beforeDashes, showCommand, showGroup, showOverview, synopsis } from './help.ts';
import { hubWhenAsked } from './hub-when-asked.ts';
import { Output, type Streams } from './output.ts';
import { globalFlags, parse } from './parse.ts';
import { revealedLines } from './revealed.ts';

export interface MainOptions {
  readonly env: Env;
  readonly streams: Streams;
  readonly offline: Offline;
}

/** Runs one command line and answers its exit code. */
export async function main(argv: readonly string[], { env, streams, offline }: MainOptions): Promise<number> {
  const out = new Output(env, streams);
  const words = spelled(argv);
  const json = beforeDashes(words).some((word) => word === '--json' || word === '--json=true');
  try {
    const result = await run(words, { env, out, json, offline });
    return typeof result === 'number' ? result : 0;
  } catch (error) {
    return fail(error, out, json);
  }
}

/** `poly help read` and `poly version` are what people try first. */
function spelled(argv: readonly string[]): readonly string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help'];
  return argv[0] === 'version' ? ['--version', ...argv.slice(1)] : argv;
}

type Surroundings = Pick<Call, 'env' | 'out' | 'json' | 'offline'>;

async function run(given: readonly string[], around: Surroundings): Promise<unknown> {
  const { env, out, json } = around;
  if (given[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    for (const candidate of await complete(given.slice(1), env)) out.line(candidate);
    return 0;
  }
  const first = given.findIndex((word) => !word.startsWith('-'));
  if (first < 0) {
    if (given.some((word) => ['--version', '-v', '-V'].includes(word)))
      return json ? out.json({ version }) : out.line(version);
    const { flags } = parse(given, globalFlags);
    showOverview(out, groups);
    return flags.help ? 0 : 2;
  }
  const found = findCommand(given.slice(first));
  if (!found) return showNoun(given.slice(first), out);
  const { command } = found;
  // Flags that every command has may stand before its name.
  const after = [...given.slice(0, first), ...found.after];
  if (command.ownWords)
    return command.run(callOf(around, command, { flags: {}, args: [], rest: undefined, words: after }));
  if (asksForHelp(after)) return showCommand(out, command, verbsOf(command.name));
  const parsed = parse(
    after,
    { ...command.flags, ...globalFlags },
    command.rest === undefined ? {} : { program: command.name },
  );
  const { json: _json, help: _help, ...flags } = parsed.flags;
  const dashed = command.rest === undefined ? (parsed.rest ?? []) : [];
  const args = [...parsed.args, ...dashed];
  checkArguments(command, args);
  return command.run(callOf(around, command, { ...parsed, flags, args, words: after }));
}

function findCommand(words: readonly string[]): { command: Command; after: readonly string[] } | undefined {
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = commands.find((candidate) => candidate.name === name);
    if (command) return { command, after: words.slice(count) };
  }
  return undefined;
}

/** A noun without a verb, or a word that is no command. */
function showNoun(words: readonly string[], out: Output): number {
  const [noun = '', verb] = words;
  const verbs = verbsOf(noun);
  if (verbs.length > 0 && (verb === undefined || verb.startsWith('-'))) {
    showGroup(out, noun, verbs);
    return asksForHelp(words) ? 0 : 2;
  }
  if (verbs.length === 0)
    throw new PolyError('invalid_arguments', `there is no command "${noun}".`, {
      hint: `${didYouMean(noun, nouns())} See poly --help.`,
    });
  throw new PolyError('invalid_arguments', `there is no command "${noun} ${verb}".`, {
    hint: `${didYouMean(
      verb ?? '',
      verbs.map(({ name }) => name.slice(noun.length + 1)),
      `${noun} `,
    )} See poly ${noun} --help.`,
  });
}

function verbsOf(noun: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${noun} `));
}

function nouns(): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

function checkArguments(command: Command, given: readonly string[]): void {
  const { args = [], name } = command;
  const least = args.filter((arg) => arg.startsWith('<')).length;
  const most = args.some((arg) => arg.includes('…')) ? Number.POSITIVE_INFINITY : args.length;
  if (given.length >= least && given.length <= most) return;
  const missing = given.length < least;
  const verbs = verbsOf(name).map((verb) => verb.name.slice(name.length + 1));
  if (!missing && verbs.length > 0)
    throw new PolyError('invalid_arguments', `there is no command "${name} ${given[most]}".`, {
      hint: `${didYouMean(given[most] ?? '', verbs, `${name} `)} See poly ${name} --help.`,
    });
  throw new PolyError(
    'invalid_arguments',
    missing
      ? `${name} needs ${args.slice(given.length, least).join(' and ')}.`
      : `${name} takes no "${given[most]}".`,
    { hint: `Usage: poly ${synopsis(command)}` },
  );
}

function callOf(
  around: Surroundings,
  { startsHub }: Command,
  parsed: Pick<Call, 'flags' | 'args' | 'rest' | 'words'>,
): Call {
  return { ...around, ...parsed, hub: hubWhenAsked(around, startsHub) };
}

/** Says what went wrong on standard error, in the form asked for; answers the exit code. */
function fail(error: unknown, out: Output, json: boolean): number {
  const info = infoOf(error);
  if (json) out.note(JSON.stringify({ error: info }));
  else
    out.note(
      revealedLines(`poly: ${info.hint ? `${withFullStop(info.message)} ${info.hint}` : info.message}`),
    );
  return errorKinds[info.code].exit;
}

function infoOf(error: unknown): ErrorInfo {
  if (isPolyError(error)) return error.info;
  if ((error as NodeJS.ErrnoException)?.syscall === 'uv_cwd')
    return { code: 'unavailable', message: 'the folder you are in is gone.', hint: 'Go to another one.' };
  return {
    code: 'internal',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** One of a bundle that is loaded apart is of a class of its own. */
function isPolyError(error: unknown): error is PolyError {
  return error instanceof Error && error.name === 'PolyError';
}
