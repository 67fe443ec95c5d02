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
import { hasTerminal } from '../processes.ts';
import { type AdoptedAgent, whatIsKnown } from './adopted-agent.ts';
import type { AdoptedBook } from './adopted-book.ts';
import { chooseAgents } from './choose-agents.ts';
import { type DescribeOptions, describeAgent } from './describe-agent.ts';
import { lookAround, type RunningProcess, socketsIn } from './find-agents.ts';
import { ForeignServers } from './foreign-servers.ts';
import { type HookOrigin, hookOwner } from './hook-owner.ts';

export interface AdoptedAgentsOptions extends Pick<DescribeOptions, 'env' | 'heardBefore'> {
  readonly book: AdoptedBook;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly processes: () => Promise<readonly RunningProcess[]>;
  /** When each of these processes began, as far as it runs. */
  readonly startTimes: (pids: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  readonly ownPanes: () => ReadonlyMap<number, string>;
  /** Whether a pane has this id. */
  readonly isTaken: (id: string) => boolean;
  /** Told which of them people have before them, on one server. */
  readonly onShown: (server: object, ids: readonly string[]) => void;
}

const lookEveryMs = 1_000;

/** Agents that others have started, in whatever terminal: found, watched, and let go again; never changed or ended. */
export class AdoptedAgents {
  readonly #options: AdoptedAgentsOptions;
  readonly #servers: ForeignServers;
  readonly #typing = new Turns();
  readonly #adopting = new Turns();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #looks = 0;
  readonly #handedOver = new Set<string>();

  constructor(options: AdoptedAgentsOptions) {
    this.#options = options;
    this.#servers = new ForeignServers(options.clock, (server, panes) => {
      const shown = options.book
        .running()
        .filter(({ tmux }) => tmux?.socket === server.socket && panes.includes(tmux.pane));
      options.onShown(
        server,
        shown.map(({ id }) => id),
      );
    });
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
    await this.#servers.close();
  }

  /** One look around at a time: two would find the same agents twice. */
  adopt(params: AgentAdoptParams, from: Source): Promise<AgentAdoptResult> {
    return this.#adopting.take('', () => this.#adopt(params, from));
  }

  async #adopt(
    { targets, id, sockets = [], dryRun = false }: AgentAdoptParams,
    from: Source,
  ): Promise<AgentAdoptResult> {
    const { book, clock, processes, ownPanes, env, isTaken } = this.#options;
    if (id !== undefined && targets?.length !== 1)
      throw new PolyError('invalid_arguments', 'an id of your own is for one agent: name which.', {
        hint: `poly agent adopt --dry-run shows those that run. Then: poly agent adopt <pid> --name ${id}`,
      });
    if (id !== undefined && (isTaken(id) || book.find(id)))
      throw new PolyError('conflict', `"${id}" is the id of something else already.`, {
        hint: 'Take another one.',
      });
    const folder = join(env.TMUX_TMPDIR || '/tmp', `tmux-${process.getuid?.() ?? 0}`);
    const known = [...socketsIn(folder), ...sockets, ...this.#servers.sockets];
    const sight = await this.#servers.lend((serverAt) =>
      lookAround({ processes, ownPanes, sockets: known, serverAt }),
    );
    const chosen = chooseAgents(sight, targets);
    const adopted: FoundAgent[] = [];
    const already: FoundAgent[] = [];
    for (const sighting of chosen) {
      const before = book
        .running()
        .find(({ pid, startTime }) => pid === sighting.pid && startTime === sighting.startTime);
      if (before) {
        already.push({ id: before.id, vendor: before.vendor, ...whatIsKnown(before) });
        continue;
      }
      const agent = await describeAgent(sighting, {
        ...this.#options,
        id: id ?? this.#newId(),
        now: clock.now(),
      });
      if (!agent) continue; // It has ended meanwhile.
      if (!dryRun) await book.add(agent, clock.now(), [told(from, 'agent:adopted', agent.id)]);
      adopted.push({ ...(!dryRun && { id: agent.id }), vendor: agent.vendor, ...whatIsKnown(agent) });
    }
    return { adopted, already, silent: sight.silent };
  }

  /** Lets one go: it runs on, and nobody here knows of it any more. */
  async release(id: string, from: Source): Promise<void> {
    const agent = this.#options.book.get(id);
    await this.#options.book.remove(id, [told(from, 'agent:released', id)]);
    if (agent.tmux) await this.#dropUnused();
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
    return await this.#servers.at(tmux.socket).screen(tmux.pane, tmux.server);
  }

  async *stirs(id: string, signal: AbortSignal): AsyncGenerator<undefined> {
    const { tmux, vendor } = this.#options.book.get(id);
    if (tmux) return yield* this.#servers.at(tmux.socket).stirs(tmux.pane, signal);
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
        await this.#servers.at(tmux.socket).type(tmux.pane, tmux.server, Buffer.from(text));
      }),
    );
  }

  async note(id: string, set: Meta, drafts: readonly Draft[]): Promise<void> {
    await this.#options.book.change(id, (agent) => ({ ...agent, meta: { ...agent.meta, ...set } }), drafts);
  }

  /** Whose hook told something; undefined when that cannot be known. */
  ownerOf(origin: HookOrigin): string | undefined {
    const owner = hookOwner(origin, this.#options.book.running());
    if (owner && !owner.hooks)
      this.#own(this.#options.book.change(owner.id, (agent) => ({ ...agent, hooks: true })));
    return owner?.id;
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
    const ended = new Set(asked.filter(({ pid, startTime }) => found.get(pid) !== startTime));
    // Gemini 0.61.0 outlives its terminal.
    const orphaned = running.filter((agent) => !ended.has(agent) && this.#isOrphaned(agent));
    const end = (id: string, more: object): Promise<void> =>
      book.change(id, (agent) => ({ ...agent, ...more, status: 'exited' }), [], { onFullDisk: true });
    for (const { id } of ended) await end(id, {});
    for (const { id } of orphaned) await end(id, { orphaned: true });
    if (book.running().length < running.length) await this.#dropUnused();
  }

  /** Whether the tmux pane that it ran in is gone, and not only silent. */
  #isOrphaned({ tmux }: AdoptedAgent): boolean {
    if (!tmux) return false;
    const { socket, server, pane } = tmux;
    return (
      !isThere(server) ||
      (this.#servers.sockets.includes(socket) && this.#servers.at(socket).lacks(pane, server))
    );
  }

  async #runs({ pid, startTime }: AdoptedAgent): Promise<boolean> {
    return (await this.#options.startTimes([pid])).get(pid) === startTime;
  }

  /** Lets go of servers on which nobody is watched. */
  async #dropUnused(): Promise<void> {
    const running = this.#options.book.running();
    await this.#servers.keepOnly(new Set(running.flatMap(({ tmux }) => tmux?.socket ?? [])));
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

const fileMs = 500;

const told = (from: Source, event: 'agent:adopted' | 'agent:released', paneId: string): Draft =>
  draft(from, event, { paneId });

const blind = (id: string): PolyError =>
  new PolyError(
    'conflict',
    `${id} is not in a tmux pane whose screens are known: nothing can be seen of it or typed at it.`,
    {
      hint: `What can be known of it: poly agent explain ${id}`,
    },
  );
