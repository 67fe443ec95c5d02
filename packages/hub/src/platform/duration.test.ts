import fc from 'fast-check';
import { expect, it } from 'vitest';
import { durationMs, durationText } from './duration.ts';

it.each([
  ['500ms', undefined, 500],
  ['90s', undefined, 90_000],
  ['1.5m', undefined, 90_000],
  ['24h', undefined, 86_400_000],
  ['0s', undefined, 0],
  ['60', 's', 60_000],
  ['60', 'ms', 60],
  ['60', undefined, undefined],
  ['5x', 's', undefined],
  ['-1s', 's', undefined],
  ['1 s', 's', undefined],
  ['s', 's', undefined],
  ['', 's', undefined],
  ['1e9', 's', undefined],
  ['99999999999999h', 's', undefined],
] as const)('reads %j, with %s for a bare number, as %s', (text, bare, ms) => {
  expect(durationMs(text, bare)).toBe(ms);
});

it('writes a time as it reads it', () => {
  fc.assert(fc.property(fc.nat(), (ms) => durationMs(durationText(ms)) === ms));
  expect([0, 1, 1_500, 60_000, 3_600_000].map(durationText)).toEqual(['0ms', '1ms', '1500ms', '1m', '1h']);
});
