import type { DeliveryState } from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Statement, Store } from '../store/store.ts';
import {
  changeGroup,
  closeGroup,
  closeRead,
  type OpenDelivery,
  openDeliveries,
  postponeGroup,
  schedule,
  toldDeliveries,
} from './delivery-rows.ts';
import type { Door, Look, LookWhy, Offer, Target } from './door.ts';
import { type Hint, hintOf } from './hint.ts';

/** Where somebody can be reached. */
export type Whereabouts =
  /** A person reads the inbox itself. */
  | { readonly kind: 'person' }
  /** Nowhere, so that nothing is tried; the mail is kept until it is read. */
  | { readonly kind: 'nowhere'; readonly state: 'queued' | 'failed'; readonly reason: string }
  /** Nowhere now: it is tried again later. */
  | { readonly kind: 'later'; readonly reason: string }
  | { readonly kind: 'agent'; readonly name: string; readonly target: Target };

type Reached = Extract<Whereabouts, { kind: 'agent' }>;
type Unreached = Extract<Whereabouts, { kind: 'person' | 'nowhere' }>;

/** How a message is with somebody for whom nothing is tried. */
export const endOf = (
  where: Unreached,
): { readonly state: DeliveryState; readonly door?: string; readonly reason: string } =>
  where.kind === 'person'
    ? { state: 'written', door: 'inbox', reason: 'it lies in the inbox' }
    : { state: where.state, reason: where.reason };

/** What a hook told, as far as it can prove that a turn saw something. */
export interface HeardTurn {
  readonly at: number;
  readonly pane: string;
  /** The words of a prompt that came to a turn. */
  readonly prompt: string | undefined;
  /** The prompt is kept so far, and no turn has begun with it. */
  readonly stored: boolean;
  /** Whether it comes only when a model was asked since the one before. */
  readonly modelWasAsked: boolean;
  /** Why a turn came to nothing. */
  readonly failure: string | undefined;
  /** A conversation has begun: its hooks are there from now on. */
  readonly began: boolean;
}

export interface RoundsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly hub: Source;
  readonly whereIs: (recipient: string) => Whereabouts;
  /** The doors of an agent, best first. */
  readonly doorsOf: (vendor: string) => readonly Door[];
}

/** Deliveries to one recipient that go together. */
interface Parcel {
  readonly recipient: string;
  readonly rows: readonly OpenDelivery[];
}

interface Step {
  readonly from: readonly DeliveryState[];
  readonly state: DeliveryState;
  readonly reason?: string | undefined;
  readonly door?: string | undefined;
  readonly hint?: Hint;
  /** False where it is only noted before it is tried. */
  readonly tried?: boolean;
  readonly also?: readonly Statement[];
}

const untold: readonly DeliveryState[] = ['queued', 'uncertain'];
const told: readonly DeliveryState[] = ['written', 'uncertain'];

function groupOf({ recipient, rows }: Parcel): {
  readonly recipient: string;
  readonly seqs: readonly number[];
} {
  const seqs = rows.map(({ seq }) => seq);
  // Filled up to a few sizes, so that few statements have to be kept ready.
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, seqs.length)));
  return { recipient, seqs: [...seqs, ...Array<number>(size - seqs.length).fill(seqs.at(-1) ?? 0)] };
}

/** One hint for all that waits, and each that is told whole by itself. */
function parcelsOf(recipient: string, rows: readonly OpenDelivery[]): readonly Parcel[] {
  const hints = rows.filter(({ said }) => said == null);
  const whole = rows.filter(({ said }) => said != null).map((row) => ({ recipient, rows: [row] }));
  return hints.length > 0 ? [{ recipient, rows: hints }, ...whole] : whole;
}

/** What was told together, by its hint. */
function byHint(recipient: string, rows: readonly OpenDelivery[]): readonly Parcel[] {
  return [...Map.groupBy(rows, ({ hint }) => hint).values()].map((together) => ({
    recipient,
    rows: together,
  }));
}

/** What is done for one recipient at a time; whoever calls sees to it that it is one at a time. */
export class Rounds {
  readonly #options: RoundsOptions;
  /** The door at which a hint has just waited in vain. */
  readonly #vain = new Map<string, string>();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Looks after what was told, and tries to tell what was not; answers whether it should be called again at once. */
  async serve(recipient: string): Promise<boolean> {
    const { store, whereIs, clock } = this.#options;
    const open = await openDeliveries(store, recipient);
    const [first] = open;
    if (!first) return false;
    // Reading takes them away; one that is left all the same must not be served for ever.
    if (first.seq <= first.readUpTo)
      await store.commit({ statements: closeRead(recipient, first.readUpTo, clock.now()) });
    const unread = open.filter(({ seq, readUpTo }) => seq > readUpTo);
    let back = false;
    for (const parcel of byHint(
      recipient,
      unread.filter(({ state }) => state !== 'queued'),
    )) {
      const due = parcel.rows.some((row) => this.#isDue(row));
      back = (await this.#lookAfter(parcel, { due })) || back;
    }

    const waiting = unread.filter(({ state }) => state === 'queued');
    const where = whereIs(recipient);
    if (waiting.length === 0) return back;
    if (where.kind === 'agent') {
      // What was being offered when the hub was killed is offered there again, as it was.
      const begun = waiting.filter(({ hint }) => hint !== null);
      for (const parcel of byHint(recipient, begun)) await this.#offerAgain(where, parcel);
      for (const parcel of parcelsOf(
        recipient,
        waiting.filter(({ hint }) => hint === null),
      ))
        await this.#offer(where, parcel);
      return back;
    }
    const parcel = { recipient, rows: waiting };
    if (where.kind === 'later') {
      await this.#postpone(parcel, where.reason);
      return back;
    }
    const also = [closeGroup(groupOf(parcel))];
    await this.#change(parcel, { from: untold, ...endOf(where), tried: false, also });
    return back;
  }

  /** A turn has seen what its prompt says; what a hook took is seen when its turn goes on. */
  async follow(recipient: string, heard: HeardTurn): Promise<void> {
    const { prompt, stored, modelWasAsked, failure, at } = heard;
    const open = await toldDeliveries(this.#options.store, recipient);
    for (const parcel of byHint(recipient, open)) {
      const hint = hintOf({ key: recipient, name: recipient }, parcel.rows);
      const door = parcel.rows[0]?.door ?? undefined;
      // Where whoever brought it will tell when a turn has seen it, that it was stored proves nothing.
      if (prompt?.includes(hint.mark) && !(stored && this.#doorOf(recipient, door)?.look)) {
        const also = [closeGroup(groupOf(parcel))];
        const reason = 'its hook told of a turn with it';
        await this.#change(parcel, { from: told, state: 'seen', reason, door, hint, also });
      } else if (modelWasAsked) await this.#lookAfter(parcel, { heardAt: at });
      else if (failure !== undefined)
        await this.#change(parcel, { from: ['written'], state: 'written', reason: failure, door, hint });
    }
  }

  /** Tries one door after the other until one takes it. */
  async #offer({ name, target }: Reached, parcel: Parcel): Promise<void> {
    const { recipient, rows } = parcel;
    if (rows.length === 0) return;
    const hint = hintOf({ key: recipient, name }, rows);
    const refusals: string[] = [];
    const isLast = rows.every((row) => this.#isLast(row));
    const vain = this.#vain.get(recipient);
    this.#vain.delete(recipient);
    for (const door of this.#doorsFor(target.vendor, rows)) {
      if (door.name === vain) continue;
      const offer = await this.#offerAt(door, target, hint, parcel, isLast);
      if (offer.state !== 'refused') return this.#note(parcel, door, hint, offer);
      refusals.push(`${door.name}: ${offer.reason}`);
    }
    await this.#postpone(
      parcel,
      refusals.join('; ') || `no_door: nobody knows how to reach a "${target.vendor}"`,
    );
  }

  /** Advice is never told as the words of whoever drives, and what nobody asked for begins no turn. */
  #doorsFor(vendor: string, [first]: readonly OpenDelivery[]): readonly Door[] {
    const doors = this.#options.doorsOf(vendor);
    if (first?.said == null) return doors;
    return doors.filter(({ asUser, quiet }) => (first.kind === 'digest' ? quiet : !asUser));
  }

  /** The door by which something was told to somebody, as long as they are there. */
  #doorOf(recipient: string, name: string | null | undefined): Door | undefined {
    const where = this.#options.whereIs(recipient);
    if (where.kind !== 'agent') return undefined;
    return this.#options.doorsOf(where.target.vendor).find((one) => one.name === name);
  }

  async #offerAgain(where: Reached, parcel: Parcel): Promise<void> {
    const { target, name } = where;
    const door = this.#options.doorsOf(target.vendor).find((one) => one.name === parcel.rows[0]?.door);
    if (!door?.repeatable) return this.#offer(where, parcel);
    const hint = hintOf({ key: parcel.recipient, name }, parcel.rows);
    const offer = await this.#offerAt(door, target, hint, parcel, false);
    if (offer.state === 'refused') await this.#offer(where, parcel);
    else await this.#note(parcel, door, hint, offer);
  }

  async #offerAt(door: Door, target: Target, hint: Hint, parcel: Parcel, isLast: boolean): Promise<Offer> {
    const begin = async (): Promise<boolean> => {
      // Before the first byte: should the hub be killed now, nobody can know whether it arrived.
      const state = door.repeatable ? 'queued' : 'uncertain';
      const reason = `given to the ${door.name}, and nobody knows whether it arrived`;
      return (
        (await this.#change(parcel, { from: untold, state, reason, door: door.name, hint, tried: false })) > 0
      );
    };
    try {
      return await door.offer(target, hint, begin, { isLast });
    } catch (error) {
      this.#options.log.error('a door failed', { door: door.name, recipient: parcel.recipient, error });
      // Whatever it had done by then: it may have been seen.
      return { state: 'uncertain', reason: `the ${door.name} failed: ${String(error)}` };
    }
  }

  /** Writes down how far an offer got: what was taken is looked after, unless there is nothing to look at. */
  async #note(
    parcel: Parcel,
    door: Door,
    hint: Hint,
    offer: Exclude<Offer, { state: 'refused' }>,
  ): Promise<void> {
    const over = offer.state === 'seen' || !door.look;
    const group = groupOf(parcel);
    const also = over ? [closeGroup(group)] : postponeGroup(group, this.#options.clock.now());
    await this.#change(parcel, { from: untold, ...offer, door: door.name, hint, also });
  }

  /** No door took it: it is tried again at the next time of the schedule, unless that was the last. */
  async #postpone({ recipient, rows }: Parcel, reason: string): Promise<void> {
    const now = this.#options.clock.now();
    const last = rows.filter((row) => this.#isLast(row));
    const others = rows.filter((row) => !last.includes(row));
    if (last.length > 0) {
      const parcel = { recipient, rows: last };
      const also = [closeGroup(groupOf(parcel))];
      await this.#change(parcel, {
        from: untold,
        state: 'failed',
        reason: `retry_exhausted: ${reason}`,
        also,
      });
    }
    // Whoever looks more often than the schedule says finds the same again.
    if (others.every((row) => row.reason === reason && !this.#isDue(row))) return;
    const parcel = { recipient, rows: others };
    const also = postponeGroup(groupOf(parcel), now);
    await this.#change(parcel, { from: untold, state: 'queued', reason, also });
  }

  /** Finds out what became of a hint; answers whether it was taken back, because nobody took it. */
  async #lookAfter(parcel: Parcel, why: LookWhy): Promise<boolean> {
    const { whereIs, clock, store } = this.#options;
    const { recipient, rows } = parcel;
    const where = whereIs(recipient);
    const name = where.kind === 'agent' ? where.name : recipient;
    const door = this.#doorOf(recipient, rows[0]?.door);
    const hint = hintOf({ key: recipient, name }, rows);
    const look: Look = (where.kind === 'agent' && (await door?.look?.(where.target, hint, why))) || {
      state: 'waiting',
    };
    const group = groupOf(parcel);
    if (look.state === 'seen') {
      const at = { door: rows[0]?.door ?? undefined, hint, also: [closeGroup(group)] };
      await this.#change(parcel, { from: told, state: 'seen', reason: look.reason, ...at });
    } else if (look.state === 'back') {
      await this.#change(parcel, { from: told, state: 'queued', reason: look.reason });
      if (door) this.#vain.set(recipient, door.name);
    } else if (why.due) {
      // After the last time it stays what it is; a hook or a reader may still tell more.
      const over = !door?.look || rows.every(({ tries }) => tries >= schedule.length);
      await store.commit({ statements: over ? [closeGroup(group)] : postponeGroup(group, clock.now()) });
    }
    return look.state === 'back';
  }

  /** What no door takes now has failed. Words that only this can tell are never given up. */
  #isLast(row: OpenDelivery): boolean {
    return row.said == null && row.tries >= schedule.length && this.#isDue(row);
  }

  #isDue({ dueAt }: OpenDelivery): boolean {
    return dueAt !== null && dueAt <= this.#options.clock.now();
  }

  /** Changes what is still in one of these states, tells of it, and answers how many those were. */
  async #change({ recipient, rows }: Parcel, step: Step): Promise<number> {
    const { events, clock, hub } = this.#options;
    const { from, state, reason, door, hint, tried = true, also = [] } = step;
    const change = changeGroup(groupOf({ recipient, rows }), {
      ...{ from, state, tried, at: clock.now() },
      ...{ door: door ?? null, reason: reason ?? null, hint: hint?.upTo ?? null },
    });
    const messages = rows.map(({ messageId }) => messageId);
    const said = { recipient, messages, state, ...(door && { door }), ...(reason && { reason }) };
    const { results } = await events.append([draft(hub, 'mail:delivery', said)], [...change, ...also]);
    return results[1]?.changes ?? 0;
  }
}
