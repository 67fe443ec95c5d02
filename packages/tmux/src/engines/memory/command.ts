import type { MemoryServer } from './server.ts';

/** What tmux writes to standard error when a command cannot be carried out. */
export class CommandFailure extends Error {}

/** The flags and words of one command, read by the command's own pattern. */
export interface Arguments {
  has(flag: string): boolean;
  get(flag: string): string | undefined;
  all(flag: string): readonly string[];
  readonly words: readonly string[];
}

/** One tmux command: which flags it takes (a colon after those with a value), how many words, and what it does. */
export interface MemoryCommand {
  readonly flags: string;
  /** At least and at most; none unless told. */
  readonly words?: readonly [least: number, most: number];
  /** Answers what it prints. */
  run(server: MemoryServer, args: Arguments): string | undefined;
  /** It can be the first one: it starts the server. */
  readonly starts?: boolean;
}

export type CommandTable = Readonly<Record<string, MemoryCommand>>;

/** Reads argv the way tmux does before it runs anything; what it cannot read fails with tmux's words. */
export function readArguments(
  argv: readonly string[],
  { flags, words: [least, most] = [0, 0] }: MemoryCommand,
): Arguments {
  const name = argv[0] ?? '';
  const fail = (what: string): never => {
    throw new CommandFailure(`command ${name}: ${what}`);
  };
  const values = new Map<string, string[]>();
  let at = 1;
  for (; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (!/^-[A-Za-z0-9?]/.test(word)) break;
    for (let i = 1; i < word.length; i++) {
      const flag = word[i] ?? '';
      const place = flag === ':' ? -1 : flags.indexOf(flag);
      if (place < 0) fail(`unknown flag -${flag}`);
      const list = values.get(flag) ?? [];
      values.set(flag, list);
      if (flags[place + 1] !== ':') continue;
      const value = i + 1 < word.length ? word.slice(i + 1) : argv[++at];
      list.push(value ?? fail(`-${flag} expects an argument`));
      break;
    }
  }
  const words = argv.slice(at);
  if (words.length < least) fail(`too few arguments (need at least ${least})`);
  if (words.length > most) fail(`too many arguments (need at most ${most})`);
  return {
    has: (flag) => values.has(flag),
    get: (flag) => values.get(flag)?.at(-1),
    all: (flag) => values.get(flag) ?? [],
    words,
  };
}
