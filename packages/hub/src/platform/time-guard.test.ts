import { describe, expect, it } from 'vitest';
import { TimeGuard, TooSlow } from './time-guard.ts';

const endless = (): unknown => /^(a+)+$/.exec(`${'a'.repeat(60)}!`);

describe('TimeGuard', () => {
  it('answers what was computed, and passes on what was thrown', () => {
    const guard = new TimeGuard(1000);
    expect(guard.run(() => ['a', 'b'].map((letter) => letter.toUpperCase()))).toEqual(['A', 'B']);
    expect(() => guard.run(() => JSON.parse('{'))).toThrow(SyntaxError);
  });

  it('ends an expression that would go on for ever, and works on', () => {
    const guard = new TimeGuard(20);
    expect(() => guard.run(endless)).toThrow(TooSlow);
    expect(guard.run(() => 'next')).toBe('next');
  });

  it('begins anew what did not get the processor', () => {
    const guard = new TimeGuard(50);
    let tries = 0;
    const nap = (): string => {
      if (++tries === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      return 'done';
    };
    expect(guard.run(nap)).toBe('done');
    expect(tries).toBeGreaterThan(1);
  });
});
