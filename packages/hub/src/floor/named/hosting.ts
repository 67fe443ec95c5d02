import { type MemberState, PolyError } from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { DueTimer } from '../../platform/due-timer.ts';
import type { Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import { Turns } from '../../platform/turns.ts';
import { isoTime } from '../session-row.ts';
import type { NamedBook } from './named-book.ts';
import { keepMember, type MemberRow, type NamedRecord } from './named-record.ts';

/** What hosting needs of panes. */
export interface HostedPanes {
  find(pane: string):
    | {
        readonly isRunning: boolean;
        readonly startedAt: number;
        /** How it ended, in words. */
        readonly ending: string;
      }
    | undefined;
  /** Runs the command of an agent in a pane of that id, in one that has ended too. */
  start(pane: string, agent: NamedRecord, member: MemberRow): Promise<void>;
  /** Makes what runs in the pane be the agent: it has the name, feeds the session, and drives where it is to. */
  settle(pane: string, agent: NamedRecord, member: MemberRow): Promise<void>;
  end(pane: string): Promise<void>;
  /** Every pane that was started for a named agent. */
  hosted(): readonly string[];
}

export interface HostingOptions {
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly hub: Source;
  readonly book: NamedBook;
  readonly panes: HostedPanes;
  readonly isClosed: (project: string) => boolean;
}

const firstWaitMs = 1_000;
const longestWaitMs = 300_000;
/** Who ran for so long is started again as if it had never ended before. */
const steadyMs = 60_000;

/** Runs the commands of named agents, one in each of their projects: found again, never twice, and again when one ends. */
export class Hosting {
  readonly #options: HostingOptions;
  readonly #turns = new Turns();
  readonly #timer: DueTimer;
  #isOn = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: HostingOptions) {
    this.#options = options;
    const { clock, book, log } = options;
    this.#timer = new DueTimer({
      clock,
      next: async () =>
        book.members().reduce<number | null>((next, { next_at }) => earlier(next, next_at), null),
      due: () => this.look(),
      onError: (error) => log.error('named agents that ended are not started again', { error }),
    });
  }

  begin(): Promise<void> {
    this.#isOn = true;
    return this.look();
  }

  /** Looks whether what should run runs, and nothing else. */
  async look(): Promise<void> {
    if (!this.#isOn) return;
    const { book, panes, log } = this.#options;
    const work = Promise.all(
      book
        .members()
        .map((row) =>
          this.#turns
            .take(`${row.agent}\n${row.project}`, () => this.#tend(row.agent, row.project))
            .catch((error: unknown) =>
              log.error('a named agent cannot be looked after', { agent: row.agent, error }),
            ),
        ),
    );
    this.#work = work;
    await work;
    for (const pane of panes.hosted()) if (!this.#isWanted(pane)) await this.#end(pane);
    this.#timer.plan();
  }

  /** Told of a pane that has begun or ended. */
  heard(pane: string): void {
    const { book, log } = this.#options;
    if (!book.members().some((row) => row.pane === pane)) return;
    this.look().catch((error: unknown) => log.error('a named agent cannot be looked after', { error }));
  }

  async close(): Promise<void> {
    this.#isOn = false;
    await this.#timer.close();
    await this.#work;
  }

  #isWanted(pane: string): boolean {
    const { book } = this.#options;
    return book.members().some((row) => row.pane === pane && this.#hosts(row));
  }

  #hosts({ agent, project }: MemberRow): boolean {
    return this.#options.book.get(agent)?.hosting === 'hub' && !this.#options.isClosed(project);
  }

  async #end(pane: string): Promise<void> {
    const { panes, log } = this.#options;
    await panes.end(pane).catch((error: unknown) => log.error('a named agent still runs', { pane, error }));
  }

  async #tend(agent: string, project: string): Promise<void> {
    const { book, panes, clock, random } = this.#options;
    let row = book.member(agent, project);
    const record = book.get(agent);
    if (!row || !record || !this.#isOn) return;
    if (!this.#hosts(row)) {
      if (row.pane === null) return;
      await this.#end(row.pane);
      await this.#put({ ...row, ...rest, state: 'away', pane: null });
      return;
    }
    // Written down before anything runs: whoever comes after a crash looks there.
    if (row.pane === null) row = await this.#put({ ...row, pane: `pty_${random.hex(4)}`, state: 'starting' });
    const { pane } = row as MemberRow & { readonly pane: string };
    const there = panes.find(pane);
    if (there?.isRunning) return this.#settle(record, row, there.startedAt);
    const now = clock.now();
    const hasEnded = row.state === 'running' || (row.state === 'starting' && there);
    if (hasEnded) return this.#wait(row, there?.ending ?? 'its pane is gone');
    if (row.next_at !== null && row.next_at > now) return;
    row = await this.#put({ ...row, state: 'starting', next_at: null });
    try {
      await panes.start(pane, record, row);
    } catch (error) {
      return this.#wait(row, reasonOf(error));
    }
    await this.#settle(record, row, clock.now());
  }

  async #settle(record: NamedRecord, row: MemberRow, startedAt: number): Promise<void> {
    const { panes, log } = this.#options;
    const { pane } = row;
    if (pane === null) return;
    let reason: string | null = null;
    try {
      await panes.settle(pane, record, row);
    } catch (error) {
      // It may have ended just now, which is told.
      if (!panes.find(pane)?.isRunning) return;
      log.error('a named agent runs, and is not known by its name', { agent: row.agent, error });
      reason = `it runs, and is not known by its name: ${reasonOf(error)}`;
    }
    await this.#put({ ...row, state: 'running', reason, next_at: null, started_at: startedAt });
  }

  async #wait(row: MemberRow, reason: string): Promise<void> {
    const now = this.#options.clock.now();
    const ran = row.state === 'running' ? now - (row.started_at ?? now) : 0;
    const restarts = (ran >= steadyMs ? 0 : row.restarts) + 1;
    const waitMs = Math.min(firstWaitMs * 2 ** Math.min(restarts - 1, 20), longestWaitMs);
    await this.#put({ ...row, state: 'waiting', reason, restarts, next_at: now + waitMs });
  }

  /** Keeps how it stands, and tells of it where that has changed. */
  async #put(row: MemberRow): Promise<MemberRow> {
    const { book, events, hub } = this.#options;
    const before = book.member(row.agent, row.project);
    // Somebody has dismissed it meanwhile.
    if (!before) return row;
    const next = {
      ...row,
      watched: before.watched,
      how: before.how,
      session: before.session,
      slug: before.slug,
    };
    if (JSON.stringify(next) === JSON.stringify(before)) return next;
    await events.append([draft(hub, 'floor:agent-state', stateOf(next))], [keepMember(next)]);
    const { watched } = book.member(row.agent, row.project) ?? {};
    if (watched !== undefined) book.putMember({ ...next, watched });
    return next;
  }
}

const rest = { reason: null, restarts: 0, started_at: null, next_at: null };

const earlier = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof PolyError && error.hint !== undefined ? ` ${error.hint}` : '';
  return `${message}${hint}`.slice(0, 500);
};

function stateOf({ agent, project, session, state, reason, next_at }: MemberRow): {
  readonly sessionId: string;
  readonly projectKey: string;
  readonly name: string;
  readonly state: MemberState;
} {
  return {
    ...{ sessionId: session, projectKey: project, name: agent, state },
    ...(reason !== null && { reason }),
    ...(next_at !== null && { nextAt: isoTime(next_at) }),
  };
}
