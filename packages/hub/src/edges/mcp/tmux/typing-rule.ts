import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import type { Guard, Rule } from './raw-command.ts';
import { resolveTarget } from './target.ts';
import type { Words } from './words.ts';

/** Commands that type, or put another program where somebody types; `pipe-pane` where it has `-I`. */
const typers: Readonly<Record<string, 'pane' | 'window'>> = {
  'send-keys': 'pane',
  'send-prefix': 'pane',
  'paste-buffer': 'pane',
  'pipe-pane': 'pane',
  'respawn-pane': 'pane',
  'respawn-window': 'window',
};

/** Nobody types into a pane of a session that another drives. */
export const typingRule: Rule = {
  isFree: async ({ driven, context: { caller }, seat: { socket } }) =>
    (await driven.notFor(caller, socket)).size === 0,
  names: new Set(Object.keys(typers)),
  closed: new Set(['source-file']),
  // What is typed into one pane of a window would be typed into all.
  options: ['synchronize-panes'],
  flag: /^-\w*K/,
  suspicious: /send-[kp]|\bsend\b|paste-?b|respawn|pipe-?p|source-file|synchronize-panes|\btmux\b|\bpoly\b/i,
  async look(command, args, words, guard) {
    const part = typers[command];
    if (part === undefined || words.has('K')) return undefined;
    if (command === 'pipe-pane' && !words.has('I')) return words.rest.some(speaks) ? undefined : args;
    return sendTo(args, words, part, guard);
  },
  unclear: ({ tool }, name) =>
    new PolyError(
      'forbidden',
      `${tool} ${name} may type into a pane of a session that another drives: its words cannot be read well enough to know.`,
      { hint: 'If another tool does what you want, use that; else ask for the seat: poly claim.' },
    ),
};

const speaks = (word: string): boolean => typingRule.suspicious.test(word);

async function sendTo(
  args: readonly string[],
  words: Words,
  part: 'pane' | 'window',
  { use, tool }: Guard,
): Promise<readonly string[]> {
  const [name = ''] = args;
  const target = words.last('t');
  if (target === undefined || words.count('t') > 1)
    throw new PolyError(
      'forbidden',
      `${tool} ${name} may type into a pane of a session that another drives.`,
      {
        hint: 'Give one -t and an exact target.',
      },
    );
  const { panes } = await use.look();
  const row = resolveTarget(panes, target.value);
  for (const { paneId } of hitBy(row, part, panes))
    await use.driven.mayType(use.context.caller, use.seat.socket, paneId);
  const id = part === 'pane' ? row.paneId : row.windowId;
  return target.value === id ? args : args.map((word, at) => (at === target.at ? target.write(id) : word));
}

/** A pane whose window has its panes synchronized shares what is typed with the others. */
function hitBy(row: PaneRow, part: 'pane' | 'window', panes: readonly PaneRow[]): readonly PaneRow[] {
  if (part === 'pane' && !row.synchronized) return [row];
  return panes.filter(
    ({ windowId, synchronized }) => windowId === row.windowId && (part === 'window' || synchronized),
  );
}
