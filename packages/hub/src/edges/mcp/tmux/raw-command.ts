import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import { mayBeCallersServer } from './caller-place.ts';
import { type Commands, commandsOf } from './commands.ts';
import { raisedByFormat, raisedByOption } from './raised.ts';
import { type Doomed, ends, spareCaller } from './spare-caller.ts';
import { resolveTarget } from './target.ts';
import type { Use } from './verb.ts';
import { flagsOf, type Words, wordsOfLine } from './words.ts';

/** Commands that end what they are aimed at, some of them only with `-k`. */
const killers: Readonly<
  Record<string, { readonly part: 'pane' | 'window' | 'session'; readonly k?: boolean }>
> = {
  'kill-pane': { part: 'pane' },
  'kill-window': { part: 'window' },
  'kill-session': { part: 'session' },
  'respawn-pane': { part: 'pane' },
  'respawn-window': { part: 'window' },
  'unlink-window': { part: 'window', k: true },
};
/** With `-k` they end the window that has the place they want, if there is one. */
const replacers: ReadonlySet<string> = new Set(['new-window', 'move-window', 'link-window']);
/** Nobody can tell what comes of them: a file of commands, or lists in which a key ends things. */
const closed: ReadonlySet<string> = new Set([
  'kill-server', 'source-file', 'choose-tree', 'choose-client', 'choose-buffer', 'find-window', 'customize-mode',
]); // biome-ignore format: a list
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
/** Options that end sessions, or the server; a beginning is enough for tmux. */
const ending = ['destroy-unattached', 'exit-unattached', 'exit-empty'];
/** Whatever ends panes by some other way. */
const suspicious = /kill|respawn|unlink|unattached|source-file/i;
/** Without quotes, escapes, variables and shells, so that its words are those tmux will read. */
const plain = /^(?:[^'"\\$`#]|#\{@?[\w-]+\}|#[A-Z])*$/s;

/** Whether nothing a client does can end the program it is. */
export const isSafeFor = ({ caller, seat }: Use): boolean =>
  !mayBeCallersServer(caller, { socket: seat.socket, pid: undefined });

/**
 * Refuses a command that would end the caller, and one of which that cannot be told; answers the words to send, with
 * the id of what was looked at in the place of a name, which tmux might read otherwise.
 */
export async function spareFromRaw(
  args: readonly string[],
  use: Use,
  { tool = 'run_tmux', known }: { readonly tool?: string; readonly known?: Promise<Commands> } = {},
): Promise<readonly string[]> {
  if (isSafeFor(use)) return args;
  const guard: Guard = { use, tool, commands: await (known ?? commandsOf(use)) };
  const { commands } = guard;
  const [name = '', ...rest] = args;
  const alias = commands.alias(name);
  if (alias === undefined) return spareFromCommand(args, guard);
  const words = alias.split(/\s+/).filter(Boolean);
  if (!plain.test(alias) || alias.includes(';')) throw unclear(guard, name);
  return spareFromCommand([...words, ...rest], guard);
}

interface Guard {
  readonly use: Use;
  readonly commands: Commands;
  /** Who asks, for the refusal. */
  readonly tool: string;
}

async function spareFromCommand(args: readonly string[], guard: Guard): Promise<readonly string[]> {
  const [name = ''] = args;
  const command = guard.commands.find(name);
  if (command === undefined) return args; // tmux knows no such command either, and says so.
  const words = flagsOf(args, command.takesValue);
  const full = command.name;
  if (closed.has(full)) throw unclear(guard, name);
  const killer = killers[full];
  if (killer && (!killer.k || words.has('k'))) return spareFromKiller(args, words, killer.part, guard);
  if (replacers.has(full) && words.has('k')) return spareFromKiller(args, words, 'window', guard, true);
  if (words.has('K')) throw unclear(guard, name); // Keys as if the user had pressed them, who may have any bound.
  const option = setters.has(full) ? (words.rest[0] ?? '') : undefined;
  if (option !== undefined && ending.some((one) => one.startsWith(option))) throw unclear(guard, name);
  const raised = option !== undefined && raisedByOption(option, undefined) !== undefined;
  if (full === 'if-shell' && words.has('F') && (await isChoiceOfHarmless(words.rest, guard))) return args;
  if (carriers.has(full) || raised) requireReadable(args, guard, isExpanded(full, words));
  else if (args.some((word) => suspicious.test(word) && !isData(full, words, word)))
    throw unclear(guard, name);
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
    if ((await spareFromCommand(words, guard)) !== words) return false;
  }
  return true;
}

/** Whether a word of a command is only read; the commands of copy mode, which send-keys -X gives, can run programs. */
function isData(command: string, words: Words, word: string): boolean {
  const runs = command === 'send-keys' && words.has('X');
  return talkers.has(command) && !runs && raisedByFormat(word) === undefined;
}

async function spareFromKiller(
  args: readonly string[],
  words: Words,
  part: keyof typeof ends,
  { use: { look, caller }, tool }: Guard,
  mayBeFree = false,
): Promise<readonly string[]> {
  const [name = ''] = args;
  const target = words.last('t');
  if (target === undefined || words.count('t') > 1)
    throw refusal(
      `${tool} ${name} may end the pane you run in: give one -t and an exact target.`,
      'Or use kill_pane, kill_window, kill_session or respawn_pane.',
    );
  const seen = await look();
  const row = rowOf(seen.panes, target.value, mayBeFree);
  if (row === undefined) return args;
  spareCaller(caller, seen, doomedBy(part, row, words, seen.panes), `${tool} ${name}`);
  if (mayBeFree) return args;
  const id = { pane: row.paneId, window: row.windowId, session: row.sessionId }[part];
  return args.map((word, at) => (at === target.at ? target.write(id) : word));
}

function doomedBy(part: keyof typeof ends, row: PaneRow, words: Words, panes: readonly PaneRow[]): Doomed {
  const doomed = ends[part](row, words.has('a'), panes);
  const group = part === 'session' && words.has('g') ? row.sessionGroup : '';
  return (one) => doomed(one) || (group !== '' && one.sessionGroup === group);
}

function rowOf(panes: readonly PaneRow[], target: string, mayBeFree: boolean): PaneRow | undefined {
  try {
    return resolveTarget(panes, target);
  } catch (error) {
    if (mayBeFree && error instanceof PolyError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Commands inside the words of another run when nobody looks any more: none of them may end anything. */
function requireReadable(args: readonly string[], guard: Guard, expanded: boolean): void {
  const { commands } = guard;
  const [name = ''] = args;
  const hasFormat = args.some((word) => word.includes('#'));
  if (hasFormat && expanded) throw unclear(guard, name);
  for (const word of args.slice(1)) {
    if (!plain.test(word) || suspicious.test(word)) throw unclear(guard, name);
    for (const token of word.split(/[\s;{}=]+/)) {
      const inner = commands.find(commands.alias(token)?.split(/\s+/)[0] ?? token)?.name ?? '';
      if (hasFormat && expanders.has(inner)) throw unclear(guard, name);
      if (inner in killers || closed.has(inner) || /^-\w*[kK]/.test(token)) throw unclear(guard, name);
      if (suspicious.test(commands.alias(token) ?? '')) throw unclear(guard, name);
    }
  }
}

/** Whether a format among its words becomes a command; with -F it is the condition of if-shell, and the value of an option. */
function isExpanded(command: string, words: Words): boolean {
  return expanders.has(command) && words.has('F') === setters.has(command);
}

function unclear({ tool }: Guard, name: string): PolyError {
  return refusal(
    `${tool} ${name} may end the pane you run in: its words cannot be read well enough to know.`,
    'If another tool does what you want, use that; else ask your user to do it.',
  );
}

function refusal(message: string, hint: string): PolyError {
  return new PolyError('forbidden', message, { hint });
}
