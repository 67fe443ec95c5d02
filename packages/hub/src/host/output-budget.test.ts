import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteRing } from './byte-ring.ts';
import { OutputBudget } from './output-budget.ts';

const kilobyte = Buffer.from(`${'x'.repeat(1023)}\n`);

function setUp(most: number) {
  const budget = new OutputBudget();
  budget.most = most;
  const print = (ring: ByteRing, kilobytes: number, family?: string): void => {
    for (let i = 0; i < kilobytes; i++) {
      ring.append(kilobyte);
      budget.use(ring, family);
    }
  };
  return { budget, print };
}

describe('a budget of output', () => {
  test('takes the oldest bytes of the ring used longest ago, and leaves the others whole', () => {
    const { budget, print } = setUp(3 * 1024 * 1024);
    const [read, idle, busy] = [new ByteRing(), new ByteRing(), new ByteRing()];
    for (const ring of [read, idle, busy]) print(ring, 700);
    budget.use(read);
    print(busy, 900);
    expect(idle.start).toBeGreaterThan(0);
    expect([read.start, busy.start]).toEqual([0, 0]);
    expect(idle.page()).toMatchObject({ retainedFrom: idle.start, firstLine: idle.start / 1024 });
    expect(idle.page({ tail: 1 }).bytes.equals(kilobyte)).toBe(true);
  });

  test('takes from the family that has most, however many rings it has and however lately it used them', () => {
    const { budget, print } = setUp(8 * 1024 * 1024);
    const quiet = new ByteRing();
    print(quiet, 2000, 'quiet');
    const many = Array.from({ length: 10 }, () => new ByteRing());
    for (const ring of many) print(ring, 2000, 'loud');
    expect(quiet.start).toBe(0);
    expect(many[0]?.start).toBeGreaterThan(0);
    expect(many.at(-1)?.start).toBe(0);
    // Where both have as much, both give.
    for (const ring of many.slice(5)) budget.drop(ring);
    print(quiet, 14_000, 'quiet');
    expect(quiet.end - quiet.start).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(quiet.start).toBeGreaterThan(0);
  });

  test('makes a ring that is alone forget its own', () => {
    const { print } = setUp(1024 * 1024);
    const ring = new ByteRing();
    print(ring, 5000);
    expect(ring.held).toBeLessThanOrEqual(1024 * 1024);
    expect(ring.end - ring.start).toBeGreaterThan(512 * 1024);
  });

  test('is never passed by more than the newest slab of each, and its rings keep the end of what they had', () => {
    const use = fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 300 }));
    fc.assert(
      fc.property(
        fc.array(use, { maxLength: 30 }),
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 4, maxLength: 4 }),
        (uses, families) => {
          const most = 1_000_000;
          const { print } = setUp(most);
          const rings = Array.from({ length: 4 }, () => new ByteRing());
          const printed = [0, 0, 0, 0];
          for (const [index, kilobytes] of uses) {
            print(rings[index] as ByteRing, kilobytes, families[index]);
            printed[index] = (printed[index] ?? 0) + kilobytes;
          }
          const held = rings.reduce((sum, ring) => sum + ring.held, 0);
          expect(held).toBeLessThanOrEqual(most + rings.length * 256 * 1024);
          for (const [index, ring] of rings.entries()) {
            const { bytes, firstLine } = ring.page();
            expect(bytes.length).toBe(((printed[index] ?? 0) - firstLine) * 1024);
            expect(ring.lines).toBe(printed[index]);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
