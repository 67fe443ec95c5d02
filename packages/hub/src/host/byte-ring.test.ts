import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteRing } from './byte-ring.ts';
import { longestLine } from './line-starts.ts';

const unlimited = { maxBytes: 2 ** 30, maxLines: 2 ** 30 };
const filled = (text: string | Uint8Array, limits = unlimited): ByteRing => {
  const ring = new ByteRing(limits);
  ring.append(Buffer.from(text as string));
  return ring;
};
const textOf = (ring: ByteRing, query = {}): string => ring.page(query).bytes.toString();

/** What the lines are, by the simplest possible reading of the rules. */
function linesOf(bytes: Buffer): readonly { readonly start: number; readonly text: string }[] {
  const lines: { start: number; text: string }[] = [];
  let start = 0;
  while (start < bytes.length) {
    const hard = bytes.indexOf(10, start);
    let end = hard === -1 ? bytes.length : hard + 1;
    if ((hard === -1 ? bytes.length : hard) - start > longestLine) {
      end = start + longestLine;
      while (end - start < longestLine + 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
      if (bytes[end] === 10) end++;
    }
    lines.push({ start, text: bytes.toString('latin1', start, end) });
    start = end;
  }
  return lines;
}

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n', 'a\nb', '\n\n\n', 'é'.repeat(50)).map(Buffer.from) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '€', '𝄞'), fc.integer({ min: longestLine - 4, max: longestLine + 4 }))
      .map(([letter, size]) => Buffer.from(letter.repeat(size)).subarray(0, size)),
  },
);

describe('a ring', () => {
  test('gives back what it was given, by byte and by line, however the chunks fell', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 5000 }), (pieces, step) => {
        const bytes = Buffer.concat(pieces);
        const [whole, cut] = [new ByteRing(unlimited), new ByteRing(unlimited)];
        whole.append(bytes);
        for (let at = 0; at < bytes.length; at += step) cut.append(bytes.subarray(at, at + step));
        const lines = linesOf(bytes);
        for (const ring of [whole, cut]) {
          expect(ring.end).toBe(bytes.length);
          expect(ring.lines).toBe(lines.length);
          expect(ring.page().bytes.equals(bytes)).toBe(true);
          for (const [number, { start, text }] of lines.entries()) {
            const page = ring.page({ fromLine: number, limit: 1 });
            expect(page).toMatchObject({ from: start, firstLine: number });
            expect(page.bytes.toString('latin1') === text).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('never keeps more than its limits, and what it keeps is the end of what there was', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 200_000 }),
        fc.integer({ min: 1, max: 30 }),
        (pieces, maxBytes, maxLines) => {
          const ring = new ByteRing({ maxBytes, maxLines });
          for (const bytes of pieces) ring.append(bytes);
          const all = Buffer.concat(pieces);
          const page = ring.page();
          expect(ring.end - ring.start).toBeLessThanOrEqual(maxBytes);
          expect(ring.lines - page.firstLine).toBeLessThanOrEqual(maxLines);
          expect(page.bytes.equals(all.subarray(ring.start))).toBe(true);
          const lines = linesOf(all);
          expect(ring.lines).toBe(lines.length);
          const isWhole = ring.start === ring.end || lines.some(({ start }) => start === ring.start);
          expect(isWhole || maxBytes < longestLine + 4).toBe(true);
          // It forgets no more than it must: another line would be too many.
          const keptLines = ring.lines - page.firstLine;
          if (ring.start > 0 && keptLines < maxLines) {
            expect(ring.end - ring.start + longestLine + 4).toBeGreaterThan(maxBytes);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test('numbers lines and bytes the same before and after others are forgotten', () => {
    const ring = new ByteRing({ maxBytes: 2 ** 20, maxLines: 100 });
    for (let line = 0; line < 1_000; line++) ring.append(Buffer.from(`line ${line}\n`));
    expect(ring.page({ fromLine: 950, limit: 1 })).toMatchObject({ firstLine: 950, truncated: false });
    expect(textOf(ring, { fromLine: 950, limit: 1 })).toBe('line 950\n');
    const page = ring.page({ fromLine: 3, limit: 1 });
    expect(page).toMatchObject({ firstLine: 900, truncated: true, retainedFrom: ring.start });
    expect(page.bytes.toString()).toBe('line 900\n');
    expect(ring.page({ since: 0, limit: 1 })).toMatchObject({ from: ring.start, truncated: true });
    expect(ring.page({ since: ring.start, limit: 1 })).toMatchObject({ from: ring.start, truncated: false });
  });

  test('counts a line that comes in pieces once, and one without its newline too', () => {
    const ring = filled('one\r\ntw');
    expect(ring.lines).toBe(2);
    ring.append(Buffer.from('o'));
    expect(ring.lines).toBe(2);
    expect(textOf(ring, { tail: 1 })).toBe('two');
    ring.append(Buffer.from('\rTWO\n'));
    expect(ring.lines).toBe(2);
    expect(textOf(ring, { tail: 1 })).toBe('two\rTWO\n');
    expect(new ByteRing().lines).toBe(0);
    expect(filled('\n').lines).toBe(1);
  });

  test('reads tails, pages and places past the end as asked', () => {
    const ring = filled('a\nb\nc\nd');
    expect(textOf(ring, { tail: 2 })).toBe('c\nd');
    expect(textOf(ring, { tail: 0 })).toBe('');
    expect(textOf(ring, { tail: 99 })).toBe('a\nb\nc\nd');
    expect(ring.page({ tail: 99 }).truncated).toBe(false);
    expect(ring.page({ since: 2, limit: 1 })).toMatchObject({ from: 2, next: 4, firstLine: 1, more: true });
    expect(ring.page({ since: 3, limit: 1 })).toMatchObject({ from: 3, next: 4, firstLine: 1 });
    expect(ring.page({ limit: 0 })).toMatchObject({ from: 0, next: 0, more: true });
    expect(ring.page({ since: 1_000 })).toMatchObject({ from: 7, next: 7, more: false, truncated: false });
    expect(ring.page({ fromLine: 1_000 })).toMatchObject({ from: 7, next: 7, more: false });
    expect(ring.page({ limit: Number.MAX_SAFE_INTEGER })).toMatchObject({ from: 0, next: 7, more: false });
  });

  test('keeps a page within its bytes, at whole characters, and a tail at whole lines', () => {
    const ring = filled('é'.repeat(10));
    expect(ring.page({ maxBytes: 5 })).toMatchObject({ next: 4, more: true });
    const lines = filled('first line\nsecond line\nthird');
    expect(lines.page({ maxBytes: 20 })).toMatchObject({ next: 11, more: true });
    expect(lines.page({ tail: 3, maxBytes: 20 })).toMatchObject({ from: 11, truncated: true, more: false });
    expect(textOf(filled('x'.repeat(100)), { tail: 1, maxBytes: 10 })).toBe('x'.repeat(10));
  });

  test('says where a line was broken only for its length', () => {
    const ring = filled(`${'x'.repeat(longestLine + 10)}\n${'y'.repeat(longestLine)}\nz`);
    expect(ring.lines).toBe(4);
    expect(ring.page().softBreaks).toEqual([longestLine]);
  });

  test('takes a line of 10 MB without a newline, within its limit', () => {
    const ring = new ByteRing({ maxBytes: 4 * 1024 * 1024, maxLines: 50_000 });
    const chunk = Buffer.alloc(4096, 'x');
    for (let i = 0; i < 2560; i++) ring.append(chunk);
    expect(ring.end - ring.start).toBeLessThanOrEqual(4 * 1024 * 1024);
    const page = ring.page({ since: 0, maxBytes: 1000 });
    expect(page).toMatchObject({ from: ring.start, next: ring.start + 1000, more: true, truncated: true });
  });

  test('tells each gap to whoever reads across it', () => {
    const ring = filled('one\ntwo');
    ring.gap();
    ring.gap(); // Nothing has come since: it is the same.
    ring.append(Buffer.from('four\nfive\n'));
    const before = ring.page({ since: 0 });
    expect(before).toMatchObject({ next: 7, more: true, truncated: false });
    expect(before.bytes.toString()).toBe('one\ntwo');
    const after = ring.page({ since: before.next });
    expect(after).toMatchObject({ from: 8, firstLine: 2, more: false, truncated: true });
    expect(after.bytes.toString()).toBe('four\nfive\n');
    expect(ring.page({ tail: 4 })).toMatchObject({ from: 8, truncated: true, retainedFrom: 0 });
    expect(ring.page({ tail: 2 })).toMatchObject({ from: 8, truncated: false });
    expect(ring.page({ fromLine: 1, limit: 2 })).toMatchObject({ from: 4, next: 7, truncated: false });
    expect(ring.some(4, 100).toString()).toBe('two');
    ring.gap();
    ring.append(Buffer.from('seven'));
    expect(ring.page({ since: 0 })).toMatchObject({ from: 0, next: 7, truncated: false, retainedFrom: 0 });
    expect(ring.page({ since: 7 })).toMatchObject({ from: 8, next: 18, truncated: true, more: true });
    expect(ring.page({ since: 18 })).toMatchObject({ from: 19, next: 24, truncated: true, more: false });
    expect(textOf(ring, { since: 18 })).toBe('seven');
    expect(ring.page({ tail: 9 })).toMatchObject({ from: 19, truncated: true, retainedFrom: 0 });
  });

  test('gives the byte that stands for a gap to nobody who searches', () => {
    const ring = filled('one\n');
    for (const text of ['two\n', 'half', 'four\n']) {
      ring.gap();
      ring.append(Buffer.from(text));
    }
    const texts = (from: number, to: number) => {
      const { portions, letGo } = ring.share(from, to);
      letGo();
      return portions.map((part) => [part.line, ring.copy(part.from, part.to).toString()]);
    };
    expect(texts(0, ring.end)).toEqual([
      [0, 'one\n'],
      [2, 'two\n'],
      [4, 'half'],
      [5, 'four\n'],
    ]);
    expect(texts(4, 9)).toEqual([[2, 'two\n']]);
    expect(texts(4, 5)).toEqual([]);
  });

  test('forgets what lies before the oldest of very many gaps, and says so', () => {
    const ring = filled('0\n');
    for (let gaps = 1; gaps <= 100; gaps++) {
      ring.gap();
      ring.append(Buffer.from(`${gaps}\n`));
    }
    const told: boolean[] = [];
    const texts: string[] = [];
    for (let since = 0, more = true; more; ) {
      const page = ring.page({ since });
      told.push(page.truncated);
      texts.push(page.bytes.toString());
      ({ next: since, more } = page);
    }
    expect(texts).toEqual(Array.from({ length: 65 }, (_, index) => `${index + 36}\n`));
    expect(told).toEqual(texts.map(() => true));
  });

  test('answers a place in output that was lost with all that came since, and says so', () => {
    const ring = new ByteRing();
    ring.leap();
    ring.append(Buffer.from('new\n'));
    expect(ring.page({ since: 1_000 })).toMatchObject({ from: 1, next: 5, truncated: true });
    expect(ring.page({ since: 5 })).toMatchObject({ from: 5, next: 5, truncated: false });
  });

  test('counts what there has been, kept or not', () => {
    const { lines, start, end } = filled('\n'.repeat(60_000), { maxBytes: 2 ** 20, maxLines: 50_000 });
    expect([lines, start, end]).toEqual([60_000, 10_000, 60_000]);
  });

  test('leaves views alone that somebody still reads when the bytes are forgotten', () => {
    const ring = new ByteRing({ maxBytes: 1000, maxLines: 10 });
    ring.append(Buffer.from('old\n'));
    const view = ring.some(0, 4);
    for (let i = 0; i < 1000; i++) ring.append(Buffer.alloc(997, 'n'));
    expect(view.toString()).toBe('old\n');
  });
});
