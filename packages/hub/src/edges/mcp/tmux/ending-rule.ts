import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import { mayBeCallersServer } from './caller-place.ts';
import type { Guard, Rule } from './raw-command.ts';
import { type Doomed, ends, spareCaller } from './spare-caller.ts';
import { resolveTarget } from './target.ts';
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
    if (replacers.has(command) && words.has('k')) return spareFromKiller(args, words, 'window', guard, true);
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

function refusal(message: string, hint: string): PolyError {
  return new PolyError('forbidden', message, { hint });
}
