import { mailLimits, PolyError } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';

const minuteMs = 60_000;

/** How often one agent may write to another; people may as often as they like. */
export class PairLimit {
  readonly #clock: Clock;
  /** When each of a pair's messages of the last minute was sent, the oldest first. */
  readonly #sent = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one message to each, or refuses it for all and counts nothing. */
  take(sender: string, recipients: readonly { readonly key: string; readonly name: string }[]): void {
    const now = this.#clock.monotonic();
    this.#forget(now);
    for (const { key, name } of recipients) {
      const sent = this.#recent(`${sender}\n${key}`, now);
      if (sent.length < mailLimits.aMinute) continue;
      const seconds = Math.ceil(((sent[0] ?? now) + minuteMs - now) / 1000);
      throw new PolyError(
        'too_many_requests',
        `you have sent ${name} ${sent.length} messages within a minute, and at most ${mailLimits.aMinute} are taken.`,
        {
          hint: `Wait ${seconds} seconds, or say it in one message.`,
          details: { reason: 'rate_limited', retry_after_s: seconds },
        },
      );
    }
    for (const { key } of recipients) this.#recent(`${sender}\n${key}`, now).push(now);
  }

  #recent(pair: string, now: number): number[] {
    const sent = this.#sent.get(pair) ?? [];
    while (sent[0] !== undefined && sent[0] <= now - minuteMs) sent.shift();
    this.#sent.set(pair, sent);
    return sent;
  }

  /** Pairs that have been silent take no memory. */
  #forget(now: number): void {
    if (this.#sent.size < 10_000) return;
    for (const [pair, sent] of this.#sent) if ((sent.at(-1) ?? 0) <= now - minuteMs) this.#sent.delete(pair);
  }
}

/** How many agents an answer has gone through, or a refusal where they would go on among themselves. */
export function hopsAfter(
  parent: { readonly hops: number; readonly id: string } | undefined,
  isAgent: boolean,
): number {
  const hops = isAgent && parent ? parent.hops + 1 : 0;
  if (hops <= mailLimits.hops) return hops;
  throw new PolyError(
    'conflict',
    `${parent?.id} is answer number ${mailLimits.hops} of agents to each other, and no further one is taken.`,
    {
      hint: 'Stop here, and tell your user how far you have got; a message of your user begins anew.',
      details: { reason: 'too_many_hops', max: mailLimits.hops },
    },
  );
}
