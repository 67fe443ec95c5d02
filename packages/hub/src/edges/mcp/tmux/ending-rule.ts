import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import { mayBeCallersServer } from './caller-place.ts';
import type { Guard, Rule } from './raw-command.ts';
import { type Doomed, ends, spareCaller } from './spare-caller.ts';
import { parseTarget, resolveTarget } from './target.ts';
import type { Words } from './words.ts';

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

/** No client ends the program it is. */
export const endingRule: Rule = {
  isFree: ({ caller, seat }) => !mayBeCallersServer(caller, { socket: seat.socket, pid: undefined }),
  names: new Set(Object.keys(killers)),
  // A file of commands, or lists in which a key ends things.
  closed: new Set([
    'kill-server', 'source-file', 'choose-tree', 'choose-client', 'choose-buffer', 'find-window', 'customize-mode',
  ]), // biome-ignore format: a list
  // They end sessions, or the server.
  options: ['destroy-unattached', 'exit-unattached', 'exit-empty'],
  flag: /^-\w*[kK]/,
  suspicious: /kill|respawn|unlink|unattached|source-file/i,
  look(command, args, words, guard) {
    const killer = killers[command];
    if (killer && (!killer.k || words.has('k'))) return spareFromKiller(args, words, killer.part, guard);
    if (replacers.has(command) && words.has('k')) return spareFromReplacer(args, words, guard);
    return undefined;
  },
  unclear: ({ tool }, name) =>
    refusal(
      `${tool} ${name} may end the pane you run in: its words cannot be read well enough to know.`,
      'If another tool does what you want, use that; else ask your user to do it.',
    ),
};

async function spareFromKiller(
  args: readonly string[],
  words: Words,
  part: keyof typeof ends,
  guard: Guard,
): Promise<readonly string[]> {
  const { look, caller } = guard.use;
  const target = onlyTarget(args, words, guard);
  const seen = await look();
  const row = resolveTarget(seen.panes, target.value);
  spareCaller(caller, seen, doomedBy(part, row, words, seen.panes), nameOf(args, guard));
  return target.writtenAs({ pane: row.paneId, window: row.windowId, session: row.sessionId }[part]);
}

async function spareFromReplacer(
  args: readonly string[],
  words: Words,
  guard: Guard,
): Promise<readonly string[]> {
  const { look, caller } = guard.use;
  const target = onlyTarget(args, words, guard);
  const seen = await look();
  const free = freePlace(seen.panes, target.value);
  if (free !== undefined) return target.writtenAs(free);
  const row = rowOf(seen.panes, target.value);
  if (row === undefined) throw inexact(args, guard);
  spareCaller(caller, seen, ends.window(row, false, seen.panes), nameOf(args, guard));
  const isSession = /^[^:.]+:?$/.test(target.value) && !/^[@%]/.test(target.value);
  return target.writtenAs(`${row.sessionId}:${isSession ? '' : row.windowIndex}`);
}

/** The one place a command is aimed at, and its words with another way to write that. */
function onlyTarget(args: readonly string[], words: Words, guard: Guard) {
  const target = words.last('t');
  if (target === undefined || words.count('t') > 1) throw inexact(args, guard);
  const writtenAs = (place: string): readonly string[] =>
    args.map((word, at) => (at === target.at ? target.write(place) : word));
  return { value: target.value, writtenAs };
}

const nameOf = ([name = '']: readonly string[], { tool }: Guard): string => `${tool} ${name}`;

function inexact(args: readonly string[], guard: Guard): PolyError {
  return refusal(
    `${nameOf(args, guard)} may end the pane you run in: give one -t and an exact target.`,
    'Or use kill_pane, kill_window, kill_session or respawn_pane.',
  );
}

/** A place of a session that no window has, as tmux can read it in one way only. */
function freePlace(panes: readonly PaneRow[], text: string): string | undefined {
  const target = parseTarget(text);
  if (typeof target === 'string' || !('session' in target) || typeof target.window !== 'number') return;
  const { session, window, pane } = target;
  const own = panes.filter((row) => row.sessionName === session || row.sessionId === session);
  const [first] = own;
  if (first === undefined || pane !== undefined || own.some((row) => row.windowIndex === window)) return;
  return `${first.sessionId}:${window}`;
}

function doomedBy(part: keyof typeof ends, row: PaneRow, words: Words, panes: readonly PaneRow[]): Doomed {
  const doomed = ends[part](row, words.has('a'), panes);
  const group = part === 'session' && words.has('g') ? row.sessionGroup : '';
  return (one) => doomed(one) || (group !== '' && one.sessionGroup === group);
}

/** Undefined where tmux would have to complete a name, or to look where it is. */
function rowOf(panes: readonly PaneRow[], target: string): PaneRow | undefined {
  try {
    return resolveTarget(panes, target);
  } catch (error) {
    if (error instanceof PolyError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function refusal(message: string, hint: string): PolyError {
  return new PolyError('forbidden', message, { hint });
}
