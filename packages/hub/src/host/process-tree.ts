import { setTimeout } from 'node:timers/promises';
import { HostError } from './host-error.ts';
import { type PaneMark, type ProcessEntry, startTimeOf } from './process-table.ts';

/** All that a pane has started, wherever it has gone since. */
export interface ProcessTree {
  /** The pane's first process. */
  readonly leader: { readonly pid: number; readonly startTime: string | null };
  /** What the pane started carries this, also after setsid and a double fork. */
  readonly mark: PaneMark;
  /** Processes that are left alone whatever they carry: the hub and the host. */
  readonly spare?: ReadonlySet<number>;
}

export interface KillOptions {
  /** How long the processes may take to end by themselves. */
  readonly graceMs?: number | undefined;
  /** Looks at all processes. */
  readonly look: () => Promise<readonly ProcessEntry[]>;
}

/** A terminal that closes hangs up; who ignores that is asked to end, and who is stopped is woken to hear it. */
const gentle: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGTERM', 'SIGCONT'];
const lookEveryMs = 15;
/** How long a process may outlive its SIGKILL before we say so. */
const patienceMs = 10_000;

/** Ends a whole tree and answers when no process of it is left. */
export async function killTree(tree: ProcessTree, { graceMs = 3_000, look }: KillOptions): Promise<void> {
  const killAt = performance.now() + graceMs;
  const asked = new Set<string>();
  let killedAt: number | null = null;
  let members = membersOf(tree, await look(), []);
  while (members.length > 0) {
    const hard = performance.now() >= killAt;
    if (hard) killedAt ??= performance.now();
    if (killedAt !== null && performance.now() > killedAt + patienceMs) throw stillThere(tree, members);
    for (const member of members) {
      if (hard) signal(member, ['SIGKILL']);
      else if (!asked.has(keyOf(member))) signal(member, gentle);
      asked.add(keyOf(member));
    }
    await setTimeout(lookEveryMs);
    const living = members.filter(isAlive);
    // Looking at everybody is dear: until the known ones have ended, or must, they alone are watched.
    const all = living.length === 0 || performance.now() >= killAt;
    members = all ? membersOf(tree, await look(), living) : living;
  }
}

/** The processes of a tree among all; `known` are members that live and may have lost their way back to it. */
export function membersOf(
  { leader, mark, spare }: ProcessTree,
  all: readonly ProcessEntry[],
  known: readonly ProcessEntry[],
): readonly ProcessEntry[] {
  const children = Map.groupBy(all, (entry) => entry.parent);
  const withDescendants = (roots: readonly ProcessEntry[]): Set<ProcessEntry> => {
    const found = new Set(roots);
    for (const entry of found) for (const child of children.get(entry.pid) ?? []) found.add(child);
    return found;
  };
  const isMarked = (entry: ProcessEntry): boolean =>
    entry.mark?.pane === mark.pane && entry.mark.host === mark.host;
  const knownKeys = new Set(known.map(keyOf));
  const leads = (entry: ProcessEntry): boolean =>
    entry.pid === leader.pid && entry.startTime === leader.startTime;
  // As long as one of its members lives, the number of a session is given to nobody else.
  const isOurs = all.some(
    (entry) => leads(entry) || (entry.session === leader.pid && knownKeys.has(keyOf(entry))),
  );
  const members = withDescendants(
    all.filter(
      (entry) =>
        knownKeys.has(keyOf(entry)) ||
        isMarked(entry) ||
        (isOurs && (leads(entry) || entry.session === leader.pid || entry.group === leader.pid)),
    ),
  );
  // A tmux server that somebody started in the pane is theirs to keep, with all that runs in it.
  const servers = [...members].filter((entry) => entry.name === 'tmux: server' && isMarked(entry));
  const kept = withDescendants(servers);
  return [...members].filter(
    (entry) => !kept.has(entry) && entry.pid > 1 && entry.pid !== process.pid && !spare?.has(entry.pid),
  );
}

const keyOf = (entry: ProcessEntry): string => `${entry.pid} ${entry.startTime}`;

const isAlive = (entry: ProcessEntry): boolean => startTimeOf(entry.pid) === entry.startTime;

function signal(entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
  for (const name of signals) {
    // A number that another process has by now is not signalled.
    if (!isAlive(entry)) return;
    try {
      process.kill(entry.pid, name);
    } catch {
      // It has ended just now, or became another user's; the next look tells.
    }
  }
}

function stillThere({ mark: { pane } }: ProcessTree, members: readonly ProcessEntry[]): HostError {
  const named = members.map(({ pid, name }) => `${pid} (${name})`).join(', ');
  return new HostError('kill_failed', `Processes of pane ${pane} outlive SIGKILL: ${named}.`, {
    pids: members.map(({ pid }) => pid),
  });
}
