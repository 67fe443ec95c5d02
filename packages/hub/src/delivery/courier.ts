import type { BuiltInEvents, PolyEvent } from '@polyphony/protocol';
import { Turns } from '../platform/turns.ts';
import type { Statement } from '../store/store.ts';
import { type DeliveryStep, dueRecipients, nextDue, noteStep, reopen } from './delivery-rows.ts';
import { endOf, type HeardTurn, Rounds, type RoundsOptions } from './rounds.ts';

export interface CourierOptions extends RoundsOptions {
  /** Who runs in a pane, and the session it feeds: all that is told there. */
  readonly recipientsIn: (paneId: string) => readonly string[];
  /** Settles when it is known which panes feed which sessions. */
  readonly settled: () => Promise<void>;
}

/** A clock that jumps is looked at again after this. */
const longestMs = 60_000;
/** What is due and could not be served, for want of a database for example, is tried again after this. */
const retryMs = 1_000;

/**
 * Brings hints of mail to agents, beside whoever sends it. What is to be done stands in the outbox and outlives the
 * hub; each recipient is served by one at a time, with one hint for all that waits.
 */
export class Courier {
  readonly #options: CourierOptions;
  readonly #rounds: Rounds;
  readonly #turns = new Turns();
  /** Those whose turn has not come yet: one is enough for all that waits. */
  readonly #asked = new Set<string>();
  readonly #working = new Set<Promise<unknown>>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#rounds = new Rounds(options);
    this.#stopListening = options.events.listen((events) => {
      for (const event of events) this.#take(event);
    });
    this.#wait(0);
  }

  /** Ends when what has begun is done: a line that is being typed is typed to its end. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    await Promise.all(this.#working);
  }

  /** How a message is with somebody for whom nothing is to be tried, and what notes it; nothing where it is. */
  settledFor(
    recipient: string,
    message: number,
    at: number,
  ): (Pick<DeliveryStep, 'state' | 'door'> & { reason: string; also: readonly Statement[] }) | undefined {
    const where = this.#options.whereIs(recipient);
    if (where.kind === 'agent' || where.kind === 'later') return undefined;
    const { state, door = null, reason } = endOf(where);
    return { state, door, reason, also: [noteStep(recipient, message, { at, state, door, reason })] };
  }

  /** A hook of the agent in a pane told something. */
  hear(turn: HeardTurn): void {
    const { prompt, modelWasAsked, failure, began, pane } = turn;
    const proves = prompt !== undefined || modelWasAsked || failure !== undefined;
    if (!proves && !began) return;
    for (const recipient of this.#options.recipientsIn(pane)) {
      if (proves) this.#own(this.#turns.take(recipient, () => this.#rounds.follow(recipient, turn)));
      if (began) this.#ask(recipient);
    }
  }

  /** Somebody can be reached, who perhaps could not before. */
  meet(recipient: string): void {
    const { store, clock, whereIs } = this.#options;
    const look = async (): Promise<void> => {
      if (this.#closed || whereIs(recipient).kind !== 'agent') return;
      const { results } = await store.commit({ statements: [reopen(recipient, clock.now())] });
      if (results[0]?.changes) this.#ask(recipient);
    };
    this.#own(this.#turns.take(recipient, look));
  }

  #take({ event, payload }: PolyEvent): void {
    if (event === 'mail:sent') {
      const { recipients, settled } = payload as BuiltInEvents['mail:sent'];
      for (const recipient of recipients) {
        if (!settled.includes(recipient)) this.#ask(recipient);
        // Who has come while the message was written is told of it after all.
        else if (this.#options.whereIs(recipient).kind === 'agent') this.meet(recipient);
      }
    } else if (event === 'mail:registered') {
      this.meet((payload as BuiltInEvents['mail:registered']).agentId);
    } else if (event === 'agent:state') {
      const { paneId } = payload as BuiltInEvents['agent:state'];
      for (const recipient of this.#options.recipientsIn(paneId)) this.#ask(recipient);
    } else if (event === 'floor:joined') {
      const { sessionId } = payload as BuiltInEvents['floor:joined'];
      this.#own(this.#options.settled().then(() => this.#ask(sessionId)));
    }
  }

  /** Serves somebody as soon as nobody else does. */
  #ask(recipient: string): void {
    if (this.#closed || this.#asked.has(recipient)) return;
    this.#asked.add(recipient);
    this.#own(
      this.#turns.take(recipient, async () => {
        this.#asked.delete(recipient);
        if (this.#closed) return;
        if (await this.#rounds.serve(recipient)) this.#ask(recipient);
        this.#wait(await this.#untilDue());
      }),
    );
  }

  async #untilDue(): Promise<number> {
    const { store, clock } = this.#options;
    const due = await nextDue(store);
    return due === undefined ? Number.POSITIVE_INFINITY : Math.max(0, due - clock.now());
  }

  #wait(ms: number): void {
    const at = this.#options.clock.monotonic() + ms;
    if (this.#closed || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const wake = (): void => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#own(this.#wakeUp());
    };
    this.#timer = setTimeout(wake, Math.min(ms, longestMs));
  }

  async #wakeUp(): Promise<void> {
    const { store, clock } = this.#options;
    for (const recipient of await dueRecipients(store, clock.now())) this.#ask(recipient);
    this.#wait(Math.max(retryMs, await this.#untilDue()));
  }

  /** Looks after work that nobody waits for. */
  #own(work: Promise<unknown>): void {
    const owned = work
      .catch((error: unknown) => this.#options.log.error('mail could not be delivered', { error }))
      .finally(() => this.#working.delete(owned));
    this.#working.add(owned);
  }
}
