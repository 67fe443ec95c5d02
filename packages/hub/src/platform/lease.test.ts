import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { giveBack, hasRunOut, keep, type Lease, standing, take, unheld } from './lease.ts';

type Turn =
  | { readonly does: 'take' | 'keep'; readonly who: string; readonly ms: number }
  | { readonly does: 'give back'; readonly who: string }
  | { readonly does: 'wait'; readonly ms: number };

const who = fc.constantFrom('ada', 'bob', 'cyd');
const ms = fc.integer({ min: 0, max: 20 });
const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.oneof(
    fc.record({ does: fc.constantFrom('take' as const, 'keep' as const), who, ms }),
    fc.record({ does: fc.constant('give back' as const), who }),
    fc.record({ does: fc.constant('wait' as const), ms }),
  ),
  { maxLength: 60 },
);

/** What a keeper of the rules does with a lease, and each take that came of it. */
function play(played: readonly Turn[]): {
  readonly leases: readonly Lease[];
  readonly takes: readonly { readonly who: string; readonly fence: number }[];
} {
  let [lease, now] = [unheld, 0];
  const leases = [lease];
  const takes: { who: string; fence: number }[] = [];
  for (const turn of played) {
    if (turn.does === 'wait') now += turn.ms;
    if (hasRunOut(lease, now)) lease = giveBack(lease);
    if (turn.does === 'take' && lease.holder === null) {
      lease = take(lease, turn.who, now + turn.ms);
      takes.push({ who: turn.who, fence: lease.fence });
    }
    if (turn.does === 'keep' && standing(lease, [turn.who]) === 'holds') lease = keep(lease, now + turn.ms);
    if (turn.does === 'give back' && standing(lease, [turn.who]) === 'holds') lease = giveBack(lease);
    leases.push(lease);
  }
  return { leases, takes };
}

describe('a lease', () => {
  it('counts every take once, and never backwards', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { leases, takes } = play(played);
        expect(takes.map(({ fence }) => fence)).toEqual(takes.map((_, i) => i + 1));
        const fences = leases.map(({ fence }) => fence);
        expect(fences).toEqual(fences.toSorted((a, b) => a - b));
        for (const { holder, until } of leases) expect(holder === null).toBe(until === null);
      }),
    );
  });

  it('is held by one take at the most, which is the last', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { leases, takes } = play(played);
        const lease = leases.at(-1) ?? unheld;
        const holding = takes.filter((one) => standing(lease, [one.who], one.fence) === 'holds');
        expect(holding).toEqual(lease.holder === null ? [] : takes.slice(-1));
      }),
    );
  });

  it('tells each who took it before why he holds it no more', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { leases, takes } = play(played);
        const lease = leases.at(-1) ?? unheld;
        for (const one of takes.slice(0, -1))
          expect(standing(lease, [one.who], one.fence)).toBe(
            lease.holder === null ? 'ended' : lease.holder === one.who ? 'superseded' : 'other',
          );
      }),
    );
  });

  it('is free to who tells no fence, whoever had it', () => {
    fc.assert(
      fc.property(turns, who, (played, anybody) => {
        const { leases } = play(played);
        for (const lease of leases)
          expect(standing(lease, [anybody])).toBe(
            lease.holder === null ? 'free' : lease.holder === anybody ? 'holds' : 'other',
          );
      }),
    );
    expect(standing(unheld, ['ada'], 7)).toBe('free');
  });

  it('is held by whoever goes by one of several keys', () => {
    expect(standing(take(unheld, 'pane', 5), ['agent', 'pane'], 1)).toBe('holds');
  });

  it('has run out from the very moment it is held until', () => {
    const lease = take(unheld, 'ada', 5);
    expect([4, 5, 6].map((now) => hasRunOut(lease, now))).toEqual([false, true, true]);
    expect(hasRunOut(giveBack(lease), 99)).toBe(false);
  });
});
