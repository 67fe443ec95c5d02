import type { AgentStatus, Authority } from '@polyphony/protocol';
import { describe, expect, it } from 'vitest';
import { decide, nextLook } from './decide.ts';
import type { Signal } from './signal.ts';

const tell = (from: Authority, status: AgentStatus, at: number, seen: number = at): Signal => ({
  ...{ from, status, at, seen, evidence: `${from} says ${status}` },
  ...(status === 'blocked' && { reason: { kind: 'permission' as const } }),
});

/** A screen that showed a question since then. */
const shown = (at: number): Signal['before'] => ({ status: 'blocked', at });

const limit: Signal = { ...tell('hooks', 'blocked', 1_000), reason: { kind: 'rate limit' } };

const cases: readonly (readonly [
  what: string,
  signals: readonly Signal[],
  now: number,
  expected: AgentStatus | undefined,
])[] = [
  ['nobody tells anything', [], 0, undefined],
  ['the only one tells nothing', [tell('screen', 'unknown', 0)], 0, undefined],
  ['the screen alone', [tell('screen', 'idle', 0)], 0, 'idle'],
  [
    'a hook, and a screen that says nothing',
    [tell('hooks', 'running', 0), tell('screen', 'unknown', 9)],
    9,
    'running',
  ],
  // A prompt was given; the screen has not been drawn yet.
  [
    'a screen from before the hook',
    [tell('hooks', 'running', 1_000), tell('screen', 'idle', 0, 1_100)],
    1_100,
    'running',
  ],
  [
    'a screen that is slow to show the turn',
    [tell('hooks', 'running', 1_000), tell('screen', 'idle', 0, 2_900)],
    2_900,
    'running',
  ],
  [
    'a turn that never began',
    [tell('hooks', 'running', 1_000), tell('screen', 'idle', 0, 3_100)],
    3_100,
    'idle',
  ],
  [
    'Esc, which no hook tells',
    [tell('hooks', 'running', 1_000), tell('screen', 'idle', 5_000)],
    5_000,
    'idle',
  ],
  [
    'a dialog that no hook tells',
    [tell('hooks', 'running', 1_000), tell('screen', 'blocked', 1_400)],
    1_400,
    'blocked',
  ],
  [
    'a dialog that stays while another tool ends',
    [tell('hooks', 'running', 2_000), tell('screen', 'blocked', 1_000, 3_100)],
    3_100,
    'blocked',
  ],
  [
    'a question answered, its tool still runs',
    [tell('hooks', 'blocked', 1_000), tell('screen', 'running', 1_500)],
    1_500,
    'running',
  ],
  [
    'a question just asked',
    [tell('hooks', 'blocked', 1_000), tell('screen', 'running', 0, 1_100)],
    1_100,
    'blocked',
  ],
  [
    'a question answered as soon as it was shown',
    [tell('hooks', 'blocked', 1_000), { ...tell('screen', 'running', 1_200), before: shown(1_050) }],
    1_200,
    'running',
  ],
  [
    'a question just asked, while the answer to another is drawn',
    [tell('hooks', 'blocked', 1_000), { ...tell('screen', 'running', 1_050), before: shown(500) }],
    1_100,
    'blocked',
  ],
  // The turn has ended; the screen still spins.
  [
    'no idle while the screen spins',
    [tell('hooks', 'idle', 1_000), tell('screen', 'running', 0, 990)],
    1_100,
    'running',
  ],
  [
    'idle when the screen has frozen',
    [tell('hooks', 'idle', 1_000), tell('screen', 'running', 0, 990)],
    3_100,
    'idle',
  ],
  [
    'the next of two prompts has begun',
    [tell('hooks', 'idle', 1_000), tell('screen', 'running', 0, 4_000)],
    4_000,
    'running',
  ],
  [
    'an error looks like rest',
    [tell('hooks', 'error', 1_000), tell('screen', 'idle', 1_500)],
    60_000,
    'error',
  ],
  ['a spent limit looks like rest', [limit, tell('screen', 'idle', 1_500)], 60_000, 'blocked'],
  ['a spent limit, and another prompt', [limit, tell('screen', 'running', 5_000)], 5_000, 'running'],
  [
    'the session file before the screen',
    [tell('session file', 'blocked', 1_000), tell('screen', 'running', 900, 1_050)],
    1_050,
    'blocked',
  ],
  [
    'a refused permission, by its session file',
    [tell('hooks', 'blocked', 1_000), tell('session file', 'idle', 4_000)],
    4_000,
    'idle',
  ],
  [
    'a question that came up just after its tool was begun',
    [tell('hooks', 'running', 1_000), tell('screen', 'blocked', 1_050)],
    1_060,
    'blocked',
  ],
  [
    'a turn that failed as soon as it had begun',
    [tell('hooks', 'running', 1_000), tell('screen', 'error', 1_050)],
    1_060,
    'error',
  ],
  [
    'the failure of the turn before, that is still drawn',
    [tell('hooks', 'running', 1_000), tell('screen', 'error', 500, 1_100)],
    1_100,
    'running',
  ],
  [
    'a question just answered, that is still drawn',
    [tell('hooks', 'running', 1_000), tell('screen', 'blocked', 500, 1_100)],
    1_100,
    'running',
  ],
  [
    'a question just asked, that is drawn late',
    [tell('hooks', 'blocked', 1_000), tell('screen', 'running', 0, 2_500)],
    2_500,
    'blocked',
  ],
  [
    'a question that was never shown',
    [tell('hooks', 'blocked', 1_000), tell('screen', 'running', 0, 3_100)],
    3_100,
    'running',
  ],
  [
    'a failure that only the screen shows',
    [tell('hooks', 'idle', 1_000), tell('screen', 'error', 900, 1_100)],
    1_100,
    'error',
  ],
  [
    'a failure that was on the screen before the turn ended',
    [tell('hooks', 'idle', 1_000), tell('screen', 'error', 100, 900)],
    1_000,
    'idle',
  ],
  [
    'the protocol before hooks',
    [tell('protocol', 'running', 1_000), tell('hooks', 'idle', 900)],
    1_000,
    'running',
  ],
  [
    'what has ended, whatever the screen shows',
    [tell('process', 'gone', 1_000), tell('screen', 'running', 9_000)],
    9_000,
    'gone',
  ],
];

describe('decide', () => {
  it.each(cases)('%s', (_, signals, now, expected) => {
    expect(decide(signals, now)?.signal.status).toBe(expected);
    expect(decide(signals.toReversed(), now)?.signal.status).toBe(expected);
  });

  it('looks again while sources contradict each other, and not for ever', () => {
    const signals = [tell('hooks', 'running', 1_000), tell('screen', 'idle', 0, 1_100)];
    const first = nextLook(signals, 1_100) ?? 0;
    expect(first).toBeGreaterThan(1_300);
    const second = nextLook(signals, first) ?? 0;
    expect(second).toBeGreaterThan(2_000);
    const third = nextLook(signals, second) ?? 0;
    expect(third).toBeGreaterThan(3_000);
    expect(nextLook(signals, third)).toBeUndefined();
    expect(nextLook([tell('hooks', 'idle', 0), tell('screen', 'idle', 5)], 6)).toBeUndefined();
  });
});
