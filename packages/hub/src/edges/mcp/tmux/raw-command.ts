import { PolyError } from '@polyphony/protocol';
import { mayBeCallersServer } from './caller-place.ts';
import { ends, spareCaller } from './spare-caller.ts';
import { resolveTarget } from './target.ts';
import type { Look, Use } from './verb.ts';

/** Commands that end what they are aimed at; tmux takes every beginning of a name that is like no other. */
const killers = {
  'kill-pane': 'pane',
  'kill-window': 'window',
  'kill-session': 'session',
  'respawn-pane': 'pane',
  'respawn-window': 'window',
} as const;
const aliases: Readonly<Record<string, keyof typeof killers>> = {
  killp: 'kill-pane',
  killw: 'kill-window',
  respawnp: 'respawn-pane',
  respawnw: 'respawn-window',
};
/** Whatever ends panes by some other way, or runs commands of tmux that stand inside its words. */
const suspicious = /kill|respawn|unlink|unattached|^-\w*k/i;

/**
 * Refuses a raw command that would end the caller, and one of which that cannot be told; answers the words to send, with
 * the id of what was looked at in the place of a name, which tmux might read otherwise.
 */
export async function spareFromRaw(args: readonly string[], use: Use): Promise<readonly string[]> {
  const { look, caller, seat } = use;
  if (!mayBeCallersServer(caller, { socket: seat.socket, pid: undefined })) return args;
  const [name = '', ...rest] = args;
  const command = aliases[name] ?? onlyOne(Object.keys(killers).filter((one) => one.startsWith(name)));
  if (command === undefined) {
    if (args.some((word) => suspicious.test(word)))
      throw refusal(
        `run_tmux ${name} may end the pane you run in: its words cannot be read well enough to know.`,
      );
    return args;
  }
  const { target, others } = readWords(name, rest);
  const seen: Look = await look();
  const row = resolveTarget(seen.panes, target);
  const part = killers[command as keyof typeof killers];
  spareCaller(caller, seen, ends[part](row, others, seen.panes), `run_tmux ${name}`);
  const id = { pane: row.paneId, window: row.windowId, session: row.sessionId }[part];
  return args.map((word, at) => (args[at - 1] === '-t' ? id : word));
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}

/** The words behind a killing command, as far as they are those of a simple one: `-t` with an exact target, and `-a`. */
function readWords(name: string, words: readonly string[]): { target: string; others: boolean } {
  let target: string | undefined;
  let others = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '-t' && target === undefined) target = words[++at];
    else if (word === '-a') others = true;
    else if (word !== '-k' && word !== '-C') target = unreadable(name);
  }
  return { target: target ?? unreadable(name), others };
}

function unreadable(name: string): never {
  throw refusal(
    `run_tmux ${name} may end the pane you run in: give -t and an exact target, as words of their own.`,
  );
}

function refusal(message: string): PolyError {
  return new PolyError('forbidden', message, {
    hint: 'Use kill_pane, kill_window, kill_session or respawn_pane; or ask your user to do it.',
  });
}
