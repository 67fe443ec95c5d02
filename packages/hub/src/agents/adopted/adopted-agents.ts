import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AdoptedAgentInfo,
  type AgentAdoptParams,
  type AgentAdoptResult,
  type Authority,
  type FoundAgent,
  type Meta,
  type PaneScreen,
  PolyError,
} from '@polyphony/protocol';
import { type Draft, draft, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import { Turns } from '../../platform/turns.ts';
import { launch } from '../launch.ts';
import { argvOf, factsOf, hasTerminal, openFilesOf, parentOf, processesBelow } from '../processes.ts';
import { SessionFile } from '../state/session-file.ts';
import { type AdoptedAgent, type TmuxPlace, whatIsKnown } from './adopted-agent.ts';
import type { AdoptedBook } from './adopted-book.ts';
import { agentProgram } from './agent-program.ts';
import { chooseAgents } from './choose-agents.ts';
import { lookAround, type RunningProcess, type Sighting, socketsIn } from './find-agents.ts';
import { ForeignTmux } from './foreign-tmux.ts';

export interface AdoptedAgentsOptions {
  readonly book: AdoptedBook;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: () => Promise<readonly RunningProcess[]>;
  /** When each of these processes began, as far as it runs. */
  readonly startTimes: (pids: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  readonly ownPanes: () => ReadonlyMap<number, string>;
  /** Whether a pane has this id. */
  readonly isTaken: (id: string) => boolean;
  /** Told which of them people have before them, on one server. */
  readonly onShown: (server: object, ids: readonly string[]) => void;
  /** What hooks told before it was adopted: whether anything, and of which conversation. */
  readonly heardBefore: (
    place: HeardPlace,
  ) => Promise<{ readonly heard: boolean; readonly sessionId: string | null }>;
}

/** Where to look for what an agent's hooks told before. */
interface HeardPlace {
  readonly agent: string;
  readonly since: number;
  readonly sessionId: string | null;
  /** How `TMUX_PANE` and `TMUX` of its hooks begin. */
  readonly tmux: string | null;
}

/** What tells from whom a hook event is. */
export interface HookOrigin {
  readonly agent: string;
  readonly session: string | null;
  /** The process that ran the hook. */
  readonly parent: number;
  /** `TMUX_PANE` and `TMUX` of the hook. */
  readonly tmux: string;
}

const lookEveryMs = 1_000;

/** Agents that others have started, in whatever terminal: found, watched, and let go again; never changed or ended. */
export class AdoptedAgents {
  readonly #options: AdoptedAgentsOptions;
  readonly #servers = new Map<string, ForeignTmux>();
  readonly #typing = new Turns();
  readonly #adopting = new Turns();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #looks = 0;
  readonly #handedOver = new Set<string>();

  constructor(options: AdoptedAgentsOptions) {
    this.#options = options;
  }

  get book(): AdoptedBook {
    return this.#options.book;
  }

  /** Finds out which of those that are written down have ended, now and from now on. */
  async begin(): Promise<void> {
    const { book, isTaken } = this.#options;
    // The hub was killed while a pane took it over.
    for (const { id } of book.list()) if (isTaken(id)) await book.remove(id, []);
    await this.#lookForEnds();
    this.#timer = setInterval(() => {
      this.#lookForEnds().catch((error: unknown) =>
        this.#options.log.warn('adopted agents could not be looked for', { error }),
      );
    }, lookEveryMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** One look around at a time: two would find the same agents twice. */
  adopt(params: AgentAdoptParams, from: Source): Promise<AgentAdoptResult> {
    return this.#adopting.take('', () => this.#adopt(params, from));
  }

  async #adopt(
    { targets, id, sockets = [], dryRun = false }: AgentAdoptParams,
    from: Source,
  ): Promise<AgentAdoptResult> {
    const { book, processes, ownPanes, env, isTaken } = this.#options;
    if (id !== undefined && targets?.length !== 1)
      throw new PolyError('invalid_arguments', 'an id of your own is for one agent: name which.', {
        hint: `poly agent adopt --dry-run shows those that run. Then: poly agent adopt <pid> --name ${id}`,
      });
    if (id !== undefined && (isTaken(id) || book.find(id)))
      throw new PolyError('conflict', `"${id}" is the id of something else already.`, {
        hint: 'Take another one.',
      });
    const folder = join(env.TMUX_TMPDIR || '/tmp', `tmux-${process.getuid?.() ?? 0}`);
    const asked = new Map<string, ForeignTmux>();
    const sight = await lookAround({
      ...{ processes, ownPanes },
      sockets: [...socketsIn(folder), ...sockets, ...this.#servers.keys()],
      serverAt: (socket) => this.#serverAt(socket, asked),
    });
    const chosen = chooseAgents(sight, targets);
    const adopted: FoundAgent[] = [];
    const already: FoundAgent[] = [];
    for (const sighting of chosen) {
      const known = book
        .running()
        .find(({ pid, startTime }) => pid === sighting.pid && startTime === sighting.startTime);
      if (known) {
        already.push({ id: known.id, vendor: known.vendor, ...whatIsKnown(known) });
        continue;
      }
      const agent = await this.#describe(sighting, id ?? this.#newId());
      if (!agent) continue; // It has ended meanwhile.
      if (!dryRun) await book.add(agent, this.#options.clock.now(), [told(from, 'agent:adopted', agent.id)]);
      adopted.push({ ...(!dryRun && { id: agent.id }), vendor: agent.vendor, ...whatIsKnown(agent) });
    }
    await this.#dropUnused(asked);
    return { adopted, already, silent: sight.silent };
  }

  /** Lets one go: it runs on, and nobody here knows of it any more. */
  async release(id: string, from: Source): Promise<void> {
    const agent = this.#options.book.get(id);
    await this.#options.book.remove(id, [told(from, 'agent:released', id)]);
    if (agent.tmux) await this.#dropUnused(new Map());
  }

  /** Gives an agent that has ended over to a pane, which has its id from then on. */
  async handOver<T>(id: string, open: () => Promise<T>): Promise<T> {
    this.#handedOver.add(id);
    try {
      const opened = await open();
      await this.#options.book.remove(id, []);
      return opened;
    } finally {
      this.#handedOver.delete(id);
    }
  }

  /** Whether nobody else may have this id. */
  has(id: string): boolean {
    return !this.#handedOver.has(id) && this.#options.book.find(id) !== undefined;
  }

  /** What can be known of one; undefined where it is none of these. */
  infoOf(id: string, telling: readonly Authority[]): AdoptedAgentInfo | undefined {
    const { book, isTaken } = this.#options;
    const agent = isTaken(id) ? undefined : book.find(id);
    return agent && whatIsKnown(agent, telling);
  }

  sessionOf(id: string): string | null {
    const session = this.#options.book.find(id)?.meta['agent.sessionId'];
    return typeof session === 'string' ? session : null;
  }

  async screen(id: string): Promise<PaneScreen> {
    const { tmux } = this.#options.book.get(id);
    if (!tmux) throw blind(id);
    return await this.#server(tmux).screen(tmux.pane, tmux.server);
  }

  async *stirs(id: string, signal: AbortSignal): AsyncGenerator<undefined> {
    const { tmux, vendor } = this.#options.book.get(id);
    if (tmux) return yield* this.#server(tmux).stirs(tmux.pane, signal);
    // Nothing can be seen of it; its session file, where it has one, is looked at now and then.
    const everyMs = vendor === 'claude' ? fileMs : 2 ** 30;
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
      if (!signal.aborted) yield undefined;
    }
  }

  /** Types without anybody else's input from here in between. */
  hold<T>(id: string, work: (type: (text: string) => Promise<void>) => Promise<T>): Promise<T> {
    return this.#typing.take(id, () =>
      work(async (text) => {
        const agent = this.#options.book.get(id);
        const { tmux, vendor } = agent;
        if (!tmux || vendor === 'cursor') throw blind(id);
        if (!(await this.#runs(agent))) throw new PolyError('pane_exited', `${id} has ended.`);
        // Behind a shell that it was suspended in, the text would be a command.
        if (!hasTerminal(agent.pid))
          throw new PolyError('conflict', `another program has the terminal of ${id} now.`, {
            hint: 'Bring it to the front again (fg), then try once more.',
          });
        await this.#server(tmux).type(tmux.pane, tmux.server, Buffer.from(text));
      }),
    );
  }

  async note(id: string, set: Meta, drafts: readonly Draft[]): Promise<void> {
    await this.#options.book.change(id, (agent) => ({ ...agent, meta: { ...agent.meta, ...set } }), drafts);
  }

  /** Whose hook told something; undefined when that cannot be known. */
  ownerOf(origin: HookOrigin): string | undefined {
    const running = this.#options.book.running().filter(({ vendor }) => vendor === origin.agent);
    if (running.length === 0) return undefined;
    const owner =
      running.find(({ meta }) => origin.session !== null && meta['agent.sessionId'] === origin.session) ??
      this.#byProcess(origin, running);
    if (owner && !owner.hooks)
      this.#own(this.#options.book.change(owner.id, (agent) => ({ ...agent, hooks: true })));
    return owner?.id;
  }

  /** The nearest agent above a hook, from its first process on: what another agent started for a tool is not meant. */
  #byProcess({ parent, tmux }: HookOrigin, running: readonly AdoptedAgent[]): AdoptedAgent | undefined {
    if (argvOf(parent) === undefined) {
      // Who ran the hook has ended: then its tmux pane has to do, for an agent whose conversation is not known yet.
      return running.find(
        ({ tmux: place, meta }) =>
          meta['agent.sessionId'] === undefined && place && tmux.startsWith(variablesIn(place)),
      );
    }
    let agent: number | undefined;
    for (let pid = parent, steps = 0; pid > 1 && steps < mostSteps; pid = parentOf(pid) ?? 0, steps += 1) {
      const isAgent = agentProgram(argvOf(pid) ?? []) !== undefined;
      if (agent !== undefined && !isAgent) break;
      if (isAgent) agent = pid;
    }
    return running.find(({ pid }) => pid === agent);
  }

  async #describe(sighting: Sighting, id: string): Promise<AdoptedAgent | undefined> {
    const { vendor, program, pid, startTime, argv, env, tmux } = sighting;
    const { clock } = this.#options;
    const facts = await factsOf(pid, argv, clock.now());
    if (!facts) return undefined;
    const file = vendor === 'cursor' ? undefined : SessionFile.of(vendor, pid);
    const sessionFile = (await file?.read()) !== undefined;
    const { heard, sessionId } = await this.#options.heardBefore({
      ...{ agent: vendor, since: facts.startedAt, tmux: tmux && variablesIn(tmux) },
      sessionId: file?.sessionId ?? openSession(vendor, pid),
    });
    const again = launch({ argv: [program] });
    return {
      ...{ id, vendor, pid, startTime, tmux, sessionFile, hooks: heard },
      title: argv.join(' ').slice(0, 200),
      argv: again.argv,
      fixedEnv: { ...again.env, ...homesOf(vendor, env, this.#options.env) },
      cwd: facts.cwd ?? '/',
      createdAt: facts.startedAt,
      meta: { 'agent.runtime': vendor, ...(sessionId !== null && { 'agent.sessionId': sessionId }) },
      ...{ status: 'running', exitCode: null, exitSignal: null },
    };
  }

  #newId(): string {
    const { random, book, isTaken } = this.#options;
    for (;;) {
      const id = `agent_${random.hex(4)}`;
      if (!book.find(id) && !isTaken(id)) return id;
    }
  }

  async #lookForEnds(): Promise<void> {
    const { book, startTimes } = this.#options;
    const running = book.running();
    if (running.length === 0 || this.#closed) return;
    const look = this.#looks++;
    // That a process of its number is there costs next to nothing to know; that it is the same one, a little more.
    const asked = running.filter(
      ({ pid }, at) => look === 0 || !isThere(pid) || (at + look) % thorough === 0,
    );
    const found = await startTimes(asked.map(({ pid }) => pid));
    for (const { id, pid, startTime } of asked)
      if (found.get(pid) !== startTime)
        await book.change(id, (agent) => ({ ...agent, status: 'exited' }), [], { onFullDisk: true });
    if (book.running().length < running.length) await this.#dropUnused(new Map());
  }

  async #runs({ pid, startTime }: AdoptedAgent): Promise<boolean> {
    return (await this.#options.startTimes([pid])).get(pid) === startTime;
  }

  #server({ socket }: TmuxPlace): ForeignTmux {
    return this.#serverAt(socket, this.#servers);
  }

  /** The server at a socket; one that is only looked at once is kept in `asked`. */
  #serverAt(socket: string, asked: Map<string, ForeignTmux>): ForeignTmux {
    const known = this.#servers.get(socket) ?? asked.get(socket);
    if (known) return known;
    const server = new ForeignTmux(socket, this.#options.clock, (panes) => {
      const shown = this.#options.book
        .running()
        .filter(({ tmux }) => tmux?.socket === socket && panes.includes(tmux.pane));
      this.#options.onShown(
        server,
        shown.map(({ id }) => id),
      );
    });
    asked.set(socket, server);
    return server;
  }

  /** Lets go of servers on which nobody is watched. */
  async #dropUnused(asked: ReadonlyMap<string, ForeignTmux>): Promise<void> {
    const needed = new Set(this.#options.book.running().flatMap(({ tmux }) => tmux?.socket ?? []));
    for (const server of asked.values()) await server.close();
    for (const [socket, server] of this.#servers) {
      if (needed.has(socket)) continue;
      this.#servers.delete(socket);
      await server.close();
    }
  }

  #own(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#options.log.warn('an adopted agent could not be noted', { error }));
  }
}

/** One in so many is looked at closely each time. */
const thorough = 5;

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // Nobody, or somebody else's.
  }
}

const mostSteps = 32;
const fileMs = 500;

const told = (from: Source, event: 'agent:adopted' | 'agent:released', paneId: string): Draft =>
  draft(from, event, { paneId });

/** How `TMUX_PANE` and `TMUX` begin in this pane; the session at the end may change. */
const variablesIn = ({ pane, socket, server }: TmuxPlace): string => `${pane} ${socket},${server},`;

/** Codex holds a file open that is named for its conversation. */
function openSession(vendor: string, pid: number): string | null {
  if (vendor !== 'codex') return null;
  const names = processesBelow(pid).flatMap(openFilesOf);
  const found = names.map((name) => /\/thread-writer-locks\/([0-9a-f-]{36})\.lock$/.exec(name)?.[1]);
  return found.find((name) => name !== undefined) ?? null;
}

/** Where each keeps its conversations: without these it would not find them again. */
const homes: Readonly<Record<string, readonly string[]>> = {
  claude: ['HOME', 'CLAUDE_CONFIG_DIR'],
  codex: ['HOME', 'CODEX_HOME'],
  opencode: ['HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  gemini: ['HOME'],
};

function homesOf(
  vendor: string,
  env: Readonly<Record<string, string>>,
  ours: AdoptedAgentsOptions['env'],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (homes[vendor] ?? []).flatMap((name) => {
      const value = env[name];
      return value !== undefined && value !== ours[name] ? [[name, value]] : [];
    }),
  );
}

const blind = (id: string): PolyError =>
  new PolyError(
    'conflict',
    `${id} is not in a tmux pane whose screens are known: nothing can be seen of it or typed at it.`,
    {
      hint: `What can be known of it: poly agent explain ${id}`,
    },
  );
