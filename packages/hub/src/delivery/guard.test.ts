import { describe, expect, it } from 'vitest';
import type { Target } from './door.ts';
import { createGuard, obstacleIn, quietIn, type Sight } from './guard.ts';

const quiet: Sight = {
  ...{ trouble: undefined, drawnAt: 0, typedAt: undefined, status: 'idle', evidence: 'screen', draft: '' },
  text: '> ',
};
const target: Target = {
  ...{
    recipient: 'agt_1',
    pane: { id: 'pty_1', birth: 'b' },
    vendor: 'claude',
    status: 'idle',
    evidence: '',
    interrupted: false,
    hooked: true,
    pid: 1,
  },
  ...{ sessionId: undefined, argv: ['claude'], cwd: '/' },
};

describe('an agent may be typed at', () => {
  it.each(['idle', 'done', 'error'])('when it is %s at an empty composer', (status) => {
    expect(obstacleIn({ ...quiet, status })).toBeUndefined();
  });

  it.each<[string, Partial<Sight>, string]>([
    ['works', { status: 'running' }, 'busy'],
    ['starts', { status: 'starting' }, 'busy'],
    ['is not understood', { status: 'unknown' }, 'busy'],
    ['asks something', { status: 'blocked' }, 'blocked'],
    ['shows no composer', { draft: undefined }, 'no_composer'],
    ['has a draft', { draft: 'fix the' }, 'draft'],
    ['is in another pane', { trouble: 'pane_reassigned: x' }, 'pane_reassigned'],
  ])('but not when it %s', (_, more, code) => {
    expect(obstacleIn({ ...quiet, ...more })?.split(':')[0]).toBe(code);
  });

  it('at once after enough quiet, and after the rest of it otherwise', () => {
    expect(quietIn({ ...quiet, drawnAt: 1000 }, 3000, 2000)).toBe(0);
    expect(quietIn({ ...quiet, drawnAt: 1000 }, 2500, 2000)).toBe(500);
    expect(quietIn({ ...quiet, drawnAt: 0, typedAt: 2400 }, 2500, 2000)).toBe(1900);
    expect(quietIn({ ...quiet, drawnAt: undefined }, 2500, 2000)).toBe(2000);
  });
});

describe('while it waits for quiet, the guard', () => {
  const guardOf = (sights: readonly Partial<Sight>[], typedAt?: number) => {
    const left = [...sights];
    return createGuard({
      ...{ clock: { now: () => 0, monotonic: () => 0 }, quietMs: 1, troubleOf: () => undefined },
      typedAt: () => typedAt,
      see: async () => ({ ...quiet, drawnAt: undefined, ...left.shift() }),
    })(target);
  };

  it('lets a frame pass that is drawn again with the same words', async () => {
    expect(await guardOf([{}, { drawnAt: 0 }])).toHaveProperty('recheck');
  });

  it.each<[string, readonly Partial<Sight>[], string]>([
    ['words change all the time', ['1', '2', '3', '4', '5'].map((text) => ({ text })), 'not_quiet'],
    ['a turn begins', [{}, { status: 'running' }], 'busy'],
    ['a question comes up', [{}, { status: 'blocked' }], 'blocked'],
    ['somebody begins to write', [{}, { draft: 'h' }], 'draft'],
  ])('stops when %s', async (_, sights, code) => {
    expect(await guardOf(sights)).toHaveProperty('obstacle', expect.stringMatching(`^${code}`));
  });

  it('waits once more when the last frame of a turn was drawn meanwhile', async () => {
    const last = { text: '> done' };
    expect(await guardOf([{}, last, last])).toHaveProperty('recheck');
  });

  it('stops when somebody types', async () => {
    expect(await guardOf([{}, {}], 1)).toEqual({ obstacle: 'typing: somebody types there' });
  });
});
