import { describe, expect, it } from 'vitest';
import { resetTime } from './reset-time.ts';

const at = new Date(2026, 10, 16, 14, 30).getTime();
const local = (day: number, hour: number, minute = 0): string =>
  new Date(2026, 10, day, hour, minute).toISOString();

const cases: readonly (readonly [text: string, expected: string | undefined])[] = [
  ['Claude AI usage limit reached|1800000000', '2027-01-15T08:00:00.000Z'],
  ['You have hit your limit · resets 3:45pm (Europe/Berlin)', local(16, 15, 45)],
  ['Your limit will reset at 2pm', local(17, 14)],
  ['try again at 12:05 AM.', local(17, 0, 5)],
  ['resets 12pm', local(17, 12)],
  ['resets 25pm', undefined],
  ['resets 3:99pm', undefined],
  ['API Error: 429 too many requests', undefined],
  ['', undefined],
];

describe('resetTime', () => {
  it.each(cases)('%s', (text, expected) => {
    expect(resetTime(text, at)).toBe(expected);
  });
});
