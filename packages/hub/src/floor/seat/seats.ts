import { type FloorClaimed, type FloorHandedOver, PolyError } from '@polyphony/protocol';
import { type Draft, draft, type EventLog, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasRunOut, standing, take } from '../../platform/lease.ts';
import type { Log } from '../../platform/log.ts';
import type { Caller } from '../../registry/caller.ts';
import type { Holder } from '../../registry/holder.ts';
import type { Commit } from '../../registry/registry.ts';
import { isConflict } from '../../store/errors.ts';
import { type Departure, type LeaseEnd, Leases } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import { isoTime } from '../session-row.ts';
import type { Sessions } from '../sessions.ts';
import type { Recorder } from '../timeline/recorder.ts';
import type { SeatMap } from './seat-map.ts';
import { changeSeat, leaseOf, openSeat, readSeat, type SeatRow, seatTaken } from './seat-row.ts';

export interface SeatsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  /** Who tells that a hold has run out. */
  readonly hub: Source;
  readonly recorder: Recorder;
  readonly sessions: Pick<Sessions, 'show'>;
  readonly map: SeatMap;
  readonly shownAs: (project: string) => string;
  /** How long a driver who does nothing keeps the seat. */
  readonly leaseMs: number;
  readonly holderOf: (caller: Caller) => Holder;
  /** Whether somebody was put out, or has ended. */
  readonly isGone: (holder: Holder) => boolean;
  /** What a driver should know who has not followed. */
  readonly digestFor: (row: SeatRow, driver: Holder) => Promise<string>;
  /** Has the agent of a session told, with its next turn, that another drives; committed with that. */
  readonly tellAgent: (row: SeatRow, driver: Holder, digest: string, commit: Commit) => Promise<unknown>;
}

/** Asks whoever has a seat for it; throws unless the answer is yes. */
export type Consent = (row: SeatRow, changed: AbortSignal) => Promise<void>;

const seatEvents: ReadonlySet<string> = new Set([
  'floor:claimed',
  'floor:handed-over',
  'floor:released',
  'floor:expired',
]);

/**
 * Who may type in the panes of a session. Every change is one conditional write with its entry and its event: it is true
 * of the seat as it was read, or does not happen and the seat is read again.
 */
export class Seats {
  readonly #options: SeatsOptions;
  readonly #leases: Leases<SeatRow>;
  readonly #renewing = new Set<string>();
  readonly #stopListening: () => void;

  constructor(options: SeatsOptions) {
    this.#options = options;
    const { clock, store, log, events } = options;
    this.#leases = new Leases<SeatRow>({
      ...{ clock, store, table: 'floor_sessions', held: 'driver IS NOT NULL', order: 'id' },
      ...{ holder: 'driver_key', pane: 'driver_pane', until: 'lease_until' },
      end: (row, reason) => this.#end(row, reason),
      onError: (error) => log.error('seats that ran out could not be opened', { error }),
    });
    this.#stopListening = events.listen((batch) => {
      for (const { event, payload } of batch) if (event === 'floor:recorded') this.#hear(payload as Recorded);
      if (batch.some(({ event }) => event === 'floor:opened')) this.#leases.plan();
    });
  }

  /** Lets holds run out from now on; those of panes that ended meanwhile at once. */
  start(isGone: (pane: string, owner: string) => boolean): Promise<void> {
    return this.#leases.start(isGone);
  }

  leave(departure: Departure): Promise<void> {
    return this.#leases.leave(departure);
  }

  claim(
    asker: Holder,
    session: string,
    { consent }: { readonly consent: Consent | undefined },
    commit: Commit,
  ): Promise<FloorClaimed> {
    let agreed: number | undefined;
    return this.#again(session, async (row) => {
      refuseArchived(row);
      const stands = standing(leaseOf(row), asker.keys);
      if (stands === 'holds') return this.#keep(row, asker, commit);
      if (stands === 'other') {
        if (hasRunOut(leaseOf(row), this.#options.clock.now())) {
          await this.#leases.end(row, 'lease');
          return undefined;
        }
        if (!consent) throw seatTaken('conflict', row, this.#shown(row));
        if (agreed !== row.fence) {
          await this.#askFor(row, consent);
          agreed = row.fence;
          return undefined;
        }
      }
      return this.#take(row, asker, commit);
    });
  }

  /** From its driver to another, or to nobody; the user may also take it from an agent. */
  handOff(
    asker: Holder,
    session: string,
    { to, fence }: { readonly to: Holder | undefined; readonly fence: number | undefined },
    commit: Commit,
  ): Promise<FloorHandedOver> {
    return this.#again(session, async (row) => {
      refuseArchived(row);
      const stands = standing(leaseOf(row), asker.keys, fence);
      if (stands === 'other' && !(asker.isUser && row.driver?.startsWith('agent:')))
        throw seatTaken('conflict', row, this.#shown(row));
      if (stands === 'superseded')
        throw new PolyError('lease_lost', `the seat of ${row.slug} was claimed again since.`, {
          hint: `Its fence is ${row.fence}, not ${fence}: another of your connections has it.`,
        });
      if (stands === 'free' || stands === 'ended')
        throw new PolyError('conflict', `nobody has the seat of ${row.slug}.`, {
          hint: `Take it: poly claim ${row.slug}`,
          details: { reason: 'seat_open' },
        });
      return to ? this.#give(row, asker, to, commit) : this.#release(row, asker, commit);
    });
  }

  /** Throws where the pane is of a session that another drives; a driver who types stays for longer. */
  async mayType(pane: string, by: Caller): Promise<void> {
    const { map } = this.#options;
    await map.current();
    this.refuse(pane, by);
    const row = map.in(pane);
    if (row?.driver) this.#renew(row);
  }

  /** The same, as far as it is known here and now. */
  refuse(pane: string, by: Caller): void {
    const row = this.#driven(pane);
    if (row && !this.isDriver(row, by)) throw seatTaken('forbidden', row, this.#shown(row));
  }

  async digest(session: string, reader: Holder): Promise<string> {
    return this.#options.digestFor(await readSeat(this.#options.store, session), reader);
  }

  isDriver(row: SeatRow, by: Caller): boolean {
    return standing(leaseOf(row), this.#options.holderOf(by).keys) === 'holds';
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#leases.close();
  }

  #driven(pane: string): SeatRow | undefined {
    const row = this.#options.map.in(pane);
    return row?.driver && !hasRunOut(leaseOf(row), this.#options.clock.now()) ? row : undefined;
  }

  async #take(row: SeatRow, asker: Holder, commit: Commit): Promise<FloorClaimed> {
    const { next, until } = this.#taken(row, asker);
    const before = row.driver ?? undefined;
    const session = await this.#options.sessions.show(next);
    const digest = await this.#options.digestFor(row, asker);
    const result: FloorClaimed = {
      ...{ status: 'claimed', session, fence: next.fence, lease_until: isoTime(until), digest },
      ...(before !== undefined && { before }),
    };
    const text = `${asker.participant} took the seat${before === undefined ? '' : ` from ${before}`}.`;
    const told = { ...this.#told(next), leaseUntil: isoTime(until), ...(before !== undefined && { before }) };
    const event = draft(asker.source, 'floor:claimed', told);
    const change = { next, text, event, source: asker.source, result };
    await this.#write(row, asker.participant, change, this.#telling(row, asker, digest, commit));
    await this.#leaveIfGone(asker);
    return result;
  }

  async #give(row: SeatRow, asker: Holder, to: Holder, commit: Commit): Promise<FloorHandedOver> {
    if (standing(leaseOf(row), to.keys) === 'holds')
      throw new PolyError('conflict', `${to.participant} has the seat of ${row.slug} already.`, {
        hint: 'Name somebody else, or nobody to leave it open.',
      });
    const { next, until } = this.#taken(row, to);
    const session = await this.#options.sessions.show(next);
    const result: FloorHandedOver = { status: 'handed-over', session };
    const text = `${row.driver} handed the seat over to ${to.participant}.`;
    const told = { ...this.#told(next), leaseUntil: isoTime(until), before: row.driver ?? '' };
    const event = draft(asker.source, 'floor:handed-over', told);
    const digest = await this.#options.digestFor(row, to);
    const change = { next, text, event, source: asker.source, result };
    await this.#write(row, asker.participant, change, this.#telling(row, to, digest, commit));
    await this.#leaveIfGone(to);
    return result;
  }

  /** Who has gone while the seat was being given had none to leave then. */
  async #leaveIfGone(holder: Holder): Promise<void> {
    if (this.#options.isGone(holder)) await this.leave({ key: holder.key });
  }

  async #release(row: SeatRow, asker: Holder, commit: Commit): Promise<FloorHandedOver> {
    const next = opened(row);
    const result: FloorHandedOver = { status: 'open', session: await this.#options.sessions.show(next) };
    const text = `${row.driver} left the seat.`;
    const event = draft(asker.source, 'floor:released', this.#told(row));
    await this.#write(row, asker.participant, { next, text, event, source: asker.source, result }, commit);
    return result;
  }

  /** Whoever has it and claims it again keeps it for longer. */
  async #keep(row: SeatRow, asker: Holder, commit: Commit): Promise<FloorClaimed> {
    const until = this.#until();
    const session = await this.#options.sessions.show({ ...row, lease_until: until });
    const digest = await this.#options.digestFor(row, asker);
    const result: FloorClaimed = {
      ...{ status: 'again', session, fence: row.fence, lease_until: isoTime(until), digest },
    };
    const drafts = [draft(this.#options.hub, 'floor:changed', placeOf(row))];
    await commit({ statements: [changeSeat(row, 'lease_until = ?', [until])], drafts, result });
    this.#leases.plan();
    return result;
  }

  async #write(
    row: SeatRow,
    sender: string,
    change: {
      readonly next: SeatRow;
      readonly text: string;
      readonly event: Draft;
      readonly source: Source;
      readonly result: unknown;
    },
    commit: Commit,
  ): Promise<void> {
    const { next, text, event, source, result } = change;
    const entry = this.#entry(row, sender, text, event);
    const written = this.#options.recorder.write(source, [entry]);
    const set = 'driver = ?, driver_key = ?, driver_pane = ?, driver_since = ?, fence = ?, lease_until = ?';
    const { driver, driver_key, driver_pane, driver_since, fence, lease_until } = next;
    const values = [driver, driver_key, driver_pane, driver_since, fence, lease_until];
    await commit({
      statements: [changeSeat(row, set, values), ...written.statements],
      drafts: [event, ...written.drafts],
      result,
    });
    this.#leases.plan();
  }

  #entry(row: SeatRow, sender: string, text: string, { event, payload }: Draft) {
    const { driver, before, fence } = payload as Seated;
    const data = { event, fence, driver, ...(before !== undefined && { before }) };
    return { session: row, kind: 'handoff' as const, sender, text, data };
  }

  #taken(row: SeatRow, holder: Holder): { readonly next: SeatRow; readonly until: number } {
    const until = this.#until();
    const { fence } = take(leaseOf(row), holder.key, until);
    const next: SeatRow = {
      ...row,
      ...{ driver: holder.participant, driver_key: holder.key, driver_pane: holder.pane, fence },
      ...{ driver_since: this.#options.clock.now(), lease_until: until },
    };
    return { next, until };
  }

  /** A commit that also has the agent told, where it has begun to do something. */
  #telling(row: SeatRow, driver: Holder, digest: string, commit: Commit): Commit {
    if (row.prompts === 0) return commit;
    return async (step) => {
      let written: Awaited<ReturnType<Commit>> | undefined;
      await this.#options.tellAgent(row, driver, digest, async ({ statements = [], drafts = [] }) => {
        written = await commit({
          ...step,
          statements: [...(step.statements ?? []), ...statements],
          drafts: [...(step.drafts ?? []), ...drafts],
        });
        return written;
      });
      if (!written) throw new PolyError('internal', 'what was to be told was not written.');
      return written;
    };
  }

  async #askFor(row: SeatRow, consent: Consent): Promise<void> {
    const changed = new AbortController();
    const stop = this.#options.events.listen((batch) => {
      const isOther = ({ event, payload }: (typeof batch)[number]): boolean =>
        seatEvents.has(event) && (payload as Seated).sessionId === row.id;
      if (batch.some(isOther)) changed.abort();
    });
    try {
      await consent(row, changed.signal);
    } catch (error) {
      // It was given up or ran out while its driver was being asked: that is looked at again.
      if (!changed.signal.aborted) throw error;
    } finally {
      stop();
    }
  }

  /** What a driver says or types shows that it is there; written down now and then. */
  #renew(row: SeatRow): void {
    const { leaseMs, clock, store, events, hub, log } = this.#options;
    const { id, lease_until } = row;
    if (lease_until === null || lease_until - clock.now() > leaseMs * renewBelow) return;
    if (this.#renewing.has(id)) return;
    this.#renewing.add(id);
    readSeat(store, id)
      .then(async (now) => {
        if (now.driver !== row.driver || now.fence !== row.fence) return;
        const renewed = changeSeat(now, 'lease_until = ?', [this.#until()]);
        await events.append([draft(hub, 'floor:changed', placeOf(now))], [renewed]);
        this.#leases.plan();
      })
      .catch((error: unknown) => {
        if (!isConflict(error)) log.error('a seat could not be kept', { error });
      })
      .finally(() => this.#renewing.delete(id));
  }

  #hear({ sessionId, entries, late }: Recorded): void {
    if (late) return;
    const pane = this.#options.map.paneOf(sessionId);
    const row = pane === undefined ? undefined : this.#options.map.in(pane);
    if (row && entries.some(({ kind, sender }) => kind === 'prompt' && sender === row.driver))
      this.#renew(row);
  }

  async #end(row: SeatRow, reason: LeaseEnd): Promise<void> {
    const { events, clock, hub, recorder } = this.#options;
    const over = { sql: 'lease_until <= ?', values: [clock.now()] };
    const opening = changeSeat(row, openSeat, [], reason === 'lease' ? over : undefined);
    const why = reason === 'lease' ? 'did nothing for too long' : 'is gone';
    const event = draft(hub, 'floor:expired', { ...this.#told(row), reason });
    const entry = this.#entry(row, row.driver ?? '', `The seat is open: ${row.driver} ${why}.`, event);
    const written = recorder.write(hub, [entry]);
    await events.append([event, ...written.drafts], [opening, ...written.statements], { onFullDisk: true });
  }

  #told(row: SeatRow) {
    return { ...placeOf(row), driver: row.driver ?? '', fence: row.fence };
  }

  #until(): number {
    return this.#options.clock.now() + this.#options.leaseMs;
  }

  #shown({ project }: SeatRow): string {
    return this.#options.shownAs(project);
  }

  /** Reads and writes until both fit, or reading says why not. */
  async #again<T>(session: string, attempt: (row: SeatRow) => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const row = await readSeat(this.#options.store, session);
      try {
        const done = await attempt(row);
        if (done !== undefined) return done;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }
}

/** Kept for longer when less than this share of the time is left. */
const renewBelow = 0.75;

interface Seated {
  readonly sessionId: string;
  readonly driver: string;
  readonly fence: number;
  readonly before?: string;
}

interface Recorded {
  readonly sessionId: string;
  readonly entries: readonly { readonly kind: string; readonly sender: string }[];
  readonly late?: true;
}

const placeOf = ({ id, project }: SeatRow) => ({ sessionId: id, projectKey: project });

const opened = (row: SeatRow): SeatRow => ({
  ...row,
  ...{ driver: null, driver_key: null, driver_pane: null, driver_since: null, lease_until: null },
});

function refuseArchived({ slug, archived_at }: SeatRow): void {
  if (archived_at !== null)
    throw new PolyError('conflict', `the session "${slug}" is archived: nobody drives it.`, {
      hint: `Take it out again: poly floor archive ${slug} --undo`,
    });
}
