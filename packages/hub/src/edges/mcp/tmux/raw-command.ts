import type { PolyError } from '@polyphony/protocol';
import type { Commands } from './commands.ts';
import { raisedByFormat, raisedByOption } from './raised.ts';
import type { Use } from './use.ts';
import { flagsOf, type Words, wordsOfLine } from './words.ts';

/** Something that a client must not do by any command of tmux, now or later. */
export interface Rule {
  /** Whether nothing this client does could break it. */
  isFree(use: Use): Promise<boolean> | boolean;
  /** The commands that do it by their own name. */
  readonly names: ReadonlySet<string>;
  /** Nobody can tell what comes of them. */
  readonly closed: ReadonlySet<string>;
  /** Options that do it; a beginning is enough for tmux. */
  readonly options: readonly string[];
  /** A flag among the words of commands inside others that does it. */
  readonly flag: RegExp;
  /** What does it by some other way, where a word of a command says it. */
  readonly suspicious: RegExp;
  /** Looks at one command: answers the words to send instead, or nothing where others have to be looked at as well. */
  look(command: string, args: readonly string[], words: Words, guard: Guard): Promise<Sent> | Sent;
  /** Of what cannot be read well enough to know. */
  unclear(guard: Guard, name: string): PolyError;
}

type Sent = readonly string[] | undefined;

export interface Guard {
  readonly rule: Rule;
  readonly use: Use;
  readonly commands: Commands;
  /** Who asks, for the refusal. */
  readonly tool: string;
}

/** Their words are commands themselves, now or later. */
const carriers: ReadonlySet<string> = new Set([
  'if-shell', 'run-shell', 'bind-key', 'set-hook', 'confirm-before', 'command-prompt', 'display-menu', 'display-panes',
]); // biome-ignore format: a list
/** They make commands, or words of a shell, of what a format becomes, and that may be anything by then. */
const expanders: ReadonlySet<string> = new Set([
  'run-shell', 'if-shell', 'display-menu', 'command-prompt', 'set-option', 'set-window-option',
]); // biome-ignore format: a list
const setters: ReadonlySet<string> = new Set(['set-option', 'set-window-option']);
/** Their words are places, names and texts, or formats: whatever those say, it is data, unless a format runs a program. */
const talkers: ReadonlySet<string> = new Set([
  'rename-window', 'rename-session', 'set-buffer', 'send-keys', 'display-message', 'has-session', 'capture-pane',
  'select-window', 'select-pane', 'select-layout', 'switch-client', 'move-pane', 'swap-pane', 'swap-window', 'join-pane',
  'break-pane', 'resize-pane', 'resize-window', 'list-panes', 'list-windows', 'list-sessions', 'list-clients',
  'list-buffers', 'show-buffer', 'delete-buffer', 'paste-buffer', 'clear-history', 'show-options', ...setters,
]); // biome-ignore format: a list
/** Without quotes, escapes, variables and shells, so that its words are those tmux will read. */
const plain = /^(?:[^'"\\$`#]|#\{@?[\w-]+\}|#[A-Z])*$/s;

/**
 * Refuses a command that breaks a rule, and one of which that cannot be told; answers the words to send, with the id
 * of what was looked at in the place of a name, which tmux might read otherwise.
 */
export async function readRaw(
  rule: Rule,
  args: readonly string[],
  use: Use,
  { tool, commands }: Pick<Guard, 'tool' | 'commands'>,
): Promise<readonly string[]> {
  const guard: Guard = { rule, use, tool, commands };
  const [name = '', ...rest] = args;
  const alias = commands.alias(name);
  if (alias === undefined) return readCommand(args, guard);
  const words = alias.split(/\s+/).filter(Boolean);
  if (!plain.test(alias) || alias.includes(';')) throw rule.unclear(guard, name);
  return readCommand([...words, ...rest], guard);
}

async function readCommand(args: readonly string[], guard: Guard): Promise<readonly string[]> {
  const { rule } = guard;
  const [name = ''] = args;
  const command = guard.commands.find(name);
  if (command === undefined) return args; // tmux knows no such command either, and says so.
  const words = flagsOf(args, command.takesValue);
  const full = command.name;
  if (rule.closed.has(full)) throw rule.unclear(guard, name);
  const sent = await rule.look(full, args, words, guard);
  if (sent) return sent;
  if (words.has('K')) throw rule.unclear(guard, name); // Keys as if the user had pressed them, who may have any bound.
  const option = setters.has(full) ? (words.rest[0] ?? '') : undefined;
  // tmux expands the name too, which then may be any.
  if (option !== undefined && (option.includes('#') || rule.options.some((one) => one.startsWith(option))))
    throw rule.unclear(guard, name);
  const raised = option !== undefined && raisedByOption(option, undefined) !== undefined;
  if (full === 'if-shell' && words.has('F') && (await isChoiceOfHarmless(words.rest, guard))) return args;
  if (carriers.has(full) || raised) requireReadable(args, guard, isExpanded(full, words));
  else if (args.some((word) => rule.suspicious.test(word) && !isData(full, words, word)))
    throw rule.unclear(guard, name);
  return args;
}

/** A condition that only looks: fields, comparisons, choices and loops. */
const looks = /^(?:[^#]|#(?:[#,}]|\{(?:[SWP]:|\?|==:|[a-z_]+\})))*$/s;

/** Whether it does one of two things that could both be done alone: so the library ties a command to a look. */
async function isChoiceOfHarmless(
  [condition = '', ...lines]: readonly string[],
  guard: Guard,
): Promise<boolean> {
  const commands = lines.map(wordsOfLine);
  if (!looks.test(condition)) return false;
  for (const words of commands) {
    if (words === undefined || guard.commands.alias(words[0] ?? '') !== undefined) return false;
    if ((await readCommand(words, guard)) !== words) return false;
  }
  return true;
}

/** Whether a word of a command is only read; the commands of copy mode, which send-keys -X gives, can run programs. */
function isData(command: string, words: Words, word: string): boolean {
  const runs = command === 'send-keys' && words.has('X');
  return talkers.has(command) && !runs && raisedByFormat(word) === undefined;
}

/** Commands inside the words of another run when nobody looks any more: none of them may do what must not be done. */
function requireReadable(args: readonly string[], guard: Guard, expanded: boolean): void {
  const { commands, rule } = guard;
  const [name = ''] = args;
  const hasFormat = args.some((word) => word.includes('#'));
  if (hasFormat && expanded) throw rule.unclear(guard, name);
  for (const word of args.slice(1)) {
    if (!plain.test(word) || rule.suspicious.test(word)) throw rule.unclear(guard, name);
    for (const token of word.split(/[\s;{}=]+/)) {
      const inner = commands.find(commands.alias(token)?.split(/\s+/)[0] ?? token)?.name ?? '';
      if (hasFormat && expanders.has(inner)) throw rule.unclear(guard, name);
      if (rule.names.has(inner) || rule.closed.has(inner) || rule.flag.test(token))
        throw rule.unclear(guard, name);
      if (rule.suspicious.test(commands.alias(token) ?? '')) throw rule.unclear(guard, name);
    }
  }
}

/** Whether a format among its words becomes a command; with -F it is the condition of if-shell, and the value of an option. */
function isExpanded(command: string, words: Words): boolean {
  return expanders.has(command) && words.has('F') === setters.has(command);
}
