import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { allArgv, environmentOf } from '../processes.ts';
import type { TmuxPlace } from './adopted-agent.ts';
import { type AgentProgram, agentProgram } from './agent-program.ts';
import type { ForeignPane, ForeignTmux } from './foreign-tmux.ts';

/** A process, as far as finding agents goes. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly startTime: string;
  readonly name: string;
  /** What says that it was started in a pane of a hub. */
  readonly mark: object | null;
}

/** An agent that runs. */
export interface Sighting extends AgentProgram {
  readonly pid: number;
  readonly startTime: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tmux: TmuxPlace | null;
  /** The pane of ours that it runs in, or "" for one of another hub. */
  readonly ours: string | undefined;
}

/** What a look around has shown. */
export interface Sight {
  readonly agents: readonly Sighting[];
  /** Every pane of every server that answered, and what runs in it. */
  readonly panes: readonly (ForeignPane & { readonly socket: string })[];
  readonly silent: readonly { readonly socket: string; readonly why: string }[];
  readonly processes: ReadonlyMap<number, RunningProcess>;
}

export interface LookAroundOptions {
  readonly processes: () => Promise<readonly RunningProcess[]>;
  /** The panes of ours that run, by the process in each. */
  readonly ownPanes: () => ReadonlyMap<number, string>;
  readonly serverAt: (socket: string) => ForeignTmux;
  /** Sockets that are known already. */
  readonly sockets: readonly string[];
}

/** Every coding agent of this user that runs, in whichever tmux or in none. Changes nothing, and starts nothing. */
export async function lookAround({
  processes: list,
  ownPanes,
  serverAt,
  sockets,
}: LookAroundOptions): Promise<Sight> {
  const listed = await list();
  const processes = new Map(listed.map((entry) => [entry.pid, entry]));
  const argv = await allArgv([...processes.keys()]);
  const programs = new Map(
    [...argv].flatMap(([pid, words]) => {
      const program = agentProgram(words);
      return program && pid !== process.pid ? [[pid, program] as const] : [];
    }),
  );
  const found = firstOfEach(programs, processes).map((pid) => ({ pid, env: environmentOf(pid) }));
  const said = found.flatMap(({ env }) => env.TMUX?.split(',')[0] ?? []);
  const { panes, silent } = await askServers(distinct([...sockets, ...said]), serverAt);
  const byProcess = new Map(panes.map((pane) => [pane.pid, pane]));
  const own = ownPanes();
  const agents = found.map(({ pid, env }): Sighting => {
    const above = ancestors(pid, processes);
    const pane = above.map((each) => byProcess.get(each)).find((each) => each !== undefined);
    const entry = processes.get(pid);
    const inOurs = above.map((each) => own.get(each)).find((each) => each !== undefined);
    // What was started in a pane of another hub carries its mark; inside a tmux that was, everything does.
    const elsewhere = pane ? pane.ofAHub : (entry?.mark ?? null) !== null;
    return {
      ...(programs.get(pid) as AgentProgram),
      ...{ pid, env, startTime: entry?.startTime ?? '', argv: argv.get(pid) ?? [] },
      tmux: pane ? { socket: pane.socket, server: pane.server, pane: pane.pane } : null,
      ours: inOurs ?? (elsewhere ? '' : undefined),
    };
  });
  return { agents, panes, silent, processes };
}

/** A process and what it descends from, the nearest first. */
export function ancestors(
  pid: number,
  processes: ReadonlyMap<number, Pick<RunningProcess, 'parent'>>,
): readonly number[] {
  const found: number[] = [];
  for (let at = pid; at > 1 && !found.includes(at) && processes.has(at); at = processes.get(at)?.parent ?? 0)
    found.push(at);
  return found;
}

/**
 * Of each agent its first process: some start themselves once more, as their own child. One that another agent has
 * started, for a tool, is part of that.
 */
function firstOfEach(
  programs: ReadonlyMap<number, AgentProgram>,
  processes: ReadonlyMap<number, RunningProcess>,
): readonly number[] {
  return [...programs.keys()].filter(
    (pid) =>
      processes.has(pid) &&
      !ancestors(pid, processes)
        .slice(1)
        .some((above) => programs.has(above)),
  );
}

type Answer = Pick<Sight, 'panes' | 'silent'>;

const nothing: Answer = { panes: [], silent: [] };
/** So many servers are asked at once. */
const atOnce = 32;

async function askServers(
  sockets: readonly string[],
  serverAt: LookAroundOptions['serverAt'],
): Promise<Answer> {
  const listeners = namesOfListeners();
  const waiting = sockets.filter((socket) => !listeners || listeners.has(basename(socket)));
  const answers: Answer[] = [];
  const ask = async (): Promise<void> => {
    for (let socket = waiting.shift(); socket !== undefined; socket = waiting.shift())
      answers.push(await askServer(socket, serverAt(socket)));
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return { panes: answers.flatMap(({ panes }) => panes), silent: answers.flatMap(({ silent }) => silent) };
}

async function askServer(socket: string, server: ForeignTmux): Promise<Answer> {
  try {
    return { panes: (await server.panes()).map((pane) => ({ ...pane, socket })), silent: [] };
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string };
    // One that is just ending, or has no session yet, has nothing to tell.
    if (code !== 'timed_out' && /no server|no sessions|server exited|error connecting/i.test(message))
      return nothing;
    const why = code === 'timed_out' ? 'it does not answer: it may be stopped' : message;
    return { panes: [], silent: [{ socket, why }] };
  }
}

/**
 * The names of sockets behind which somebody listens, whatever folder each is in: those of servers that were killed
 * stay. Nobody is connected to for that. Undefined where the system does not tell.
 */
function namesOfListeners(): ReadonlySet<string> | undefined {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    // Their flags say that they accept connections.
    const listening = lines.flatMap(
      (line) => /^\S+ \S+ \S+ 00010000 \S+ \S+ +\d+ (.+)$/.exec(line)?.[1] ?? [],
    );
    return new Set(listening.map((path) => basename(path)));
  } catch {
    return undefined;
  }
}

/** The sockets in the folder where tmux keeps those of this user. */
export function socketsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // Nobody has started a tmux there.
  }
}

/** Each socket of this user once, however often it is named. */
function distinct(sockets: readonly string[]): readonly string[] {
  const files = new Map<string, string>();
  for (const socket of sockets) {
    const stat = statSync(socket, { throwIfNoEntry: false });
    if (!stat?.isSocket() || stat.uid !== process.getuid?.()) continue;
    const file = `${stat.dev} ${stat.ino}`;
    if (!files.has(file)) files.set(file, socket);
  }
  return [...files.values()];
}
