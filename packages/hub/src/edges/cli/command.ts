import type { Client } from '@polyphony/protocol';
import type { Env } from './env.ts';
import type { Flags, FlagValues } from './flag.ts';
import type { Output } from './output.ts';

/** Where rules for the screens of agents are: ours, and the user's. */
interface RuleFolders {
  readonly shipped: string;
  readonly own: string;
}

interface CheckedScreen {
  readonly file: string;
  readonly problem?: string;
  readonly status?: string;
  readonly evidence?: string;
}

/** What is done to files while no hub runs; the nouns that know how are not this edge's to import. */
export interface Offline {
  /** Puts a backup in the place of a record; answers where the replaced one is. */
  restoreRecord(from: string, to: string): Promise<{ readonly aside: string | undefined }>;
  /** Writes an extension to begin with; answers which files. */
  initExtension(directory: string): Promise<readonly string[]>;
  /** Whether recorded screens below a folder are read as what they are. */
  checkScreens(folder: string, rules: RuleFolders): Promise<readonly CheckedScreen[]>;
  /** What is wrong with rules by which screens are read. */
  ruleProblems(rules: RuleFolders): Promise<readonly string[]>;
  /** The events that are captured of each agent, in its own words. */
  capturedEvents(): Promise<Readonly<Record<string, readonly string[]>>>;
  /** How many events of each agent the record has, and when the last of them happened. */
  countCaptured(
    database: string,
  ): Promise<Readonly<Record<string, { readonly captured: number; readonly lastAt: number }>>>;
}

/** What a command gets to work with. */
export interface Call<F extends Flags = Flags> {
  readonly flags: FlagValues<F>;
  readonly args: readonly string[];
  /** Everything behind `--`. */
  readonly rest: readonly string[] | undefined;
  /** The words as given, for commands that read them on their own. */
  readonly words: readonly string[];
  readonly env: Env;
  readonly json: boolean;
  readonly out: Output;
  /** The hub, found when it is first asked. */
  readonly hub: Client;
  readonly offline: Offline;
}

/** One row of the table of commands. */
export interface Command<F extends Flags = Flags> {
  /** One word, or a noun and a verb. */
  readonly name: string;
  readonly summary: string;
  /** What its noun is about, said by the first command of a noun. */
  readonly about?: string;
  /** What help tells beside that, line by line. */
  readonly teaches?: readonly string[];
  /** Its arguments: `<needed>`, `[optional]`, and `…` for as many as there are. */
  readonly args?: readonly string[];
  /** How the program behind `--` is written in help; without it nothing may stand there. */
  readonly rest?: string;
  readonly flags?: F;
  readonly examples: readonly string[];
  /** Reads its words itself, as its flags depend on its arguments. */
  readonly ownWords?: boolean;
  /** Whether it starts a hub where none runs; when left out, only where the last one was killed. */
  readonly startsHub?: boolean;
  /** What the arguments are, for completion. */
  readonly completes?: 'pane' | 'agent' | 'approval' | 'action' | 'client' | 'hook client' | 'file';
  /** A number it answers is the exit code. */
  run(call: Call<F>): Promise<unknown>;
}

/** Ties the flags a command declares to those it is called with. */
export function command<F extends Flags>(spec: Command<F>): Command {
  return spec as unknown as Command;
}
