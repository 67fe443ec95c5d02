import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteRing } from './byte-ring.ts';
import { OutputBudget } from './output-budget.ts';

const kilobyte = Buffer.from(`${'x'.repeat(1023)}\n`);

function setUp(most: number) {
  const budget = new OutputBudget();
  budget.most = most;
  const print = (ring: ByteRing, kilobytes: number): void => {
    for (let i = 0; i < kilobytes; i++) {
      ring.append(kilobyte);
      budget.use(ring);
    }
  };
  return { budget, print };
}

describe('a budget of output', () => {
  test('takes the oldest bytes of the ring used longest ago, and leaves the others whole', () => {
    const { budget, print } = setUp(3 * 1024 * 1024);
    const [idle, read, busy] = [new ByteRing(), new ByteRing(), new ByteRing()];
    for (const ring of [idle, read, busy]) print(ring, 700);
    budget.use(read);
    print(busy, 900);
    expect(idle.start).toBeGreaterThan(0);
    expect([read.start, busy.start]).toEqual([0, 0]);
    expect(idle.page()).toMatchObject({ retainedFrom: idle.start, firstLine: idle.start / 1024 });
    expect(idle.page({ tail: 1 }).bytes.equals(kilobyte)).toBe(true);
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
      fc.property(fc.array(use, { maxLength: 30 }), (uses) => {
        const most = 1_000_000;
        const { print } = setUp(most);
        const rings = Array.from({ length: 4 }, () => new ByteRing());
        const printed = [0, 0, 0, 0];
        for (const [index, kilobytes] of uses) {
          print(rings[index] as ByteRing, kilobytes);
          printed[index] = (printed[index] ?? 0) + kilobytes;
        }
        const held = rings.reduce((sum, ring) => sum + ring.held, 0);
        expect(held).toBeLessThanOrEqual(most + rings.length * 256 * 1024);
        for (const [index, ring] of rings.entries()) {
          const { bytes, firstLine } = ring.page();
          expect(bytes.length).toBe(((printed[index] ?? 0) - firstLine) * 1024);
          expect(ring.lines).toBe(printed[index]);
        }
      }),
      { numRuns: 40 },
    );
  });
});
