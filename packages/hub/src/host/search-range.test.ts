import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteRing } from './byte-ring.ts';
import { longestLine } from './line-starts.ts';
import { plainLines } from './plain-view.ts';
import { type Match, type SearchNews, searchRange } from './search-range.ts';

const unlimited = { maxBytes: 2 ** 30, maxLines: 2 ** 30 };

interface Query {
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignoreCase?: boolean;
  readonly first?: boolean;
  readonly limit?: number;
  readonly from?: number;
  readonly before?: number;
}

function search(ring: ByteRing, { first = false, limit = 1_000_000, from = 0, before, ...pattern }: Query) {
  const { letGo, ...range } = ring.share(from, before === undefined ? ring.end : ring.lineStart(before));
  const news: SearchNews[] = [];
  const more = searchRange({ ...range, ...pattern, first, limit }, (told) => news.push(told));
  letGo();
  return { matches: news.flatMap(({ matches }) => matches), more, next: news.at(-1)?.next ?? range.end };
}

/** What a search should find, by reading everything the way `pane:read` does. */
function naive(
  ring: ByteRing,
  { pattern, literal = false, ignoreCase = false, from = 0 }: Query,
): readonly Match[] {
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : pattern;
  const expression = new RegExp(source, ignoreCase ? 'iu' : 'u');
  return plainLines(ring.page({ since: from }))
    .filter(({ text }) => expression.test(text))
    .map(({ n, text }) => ({ line: n - 1, text, offset: ring.lineStart(n - 1) }))
    .reverse();
}

const words = [
  'ab',
  'AB',
  'a',
  'b',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\r\r\n',
  '\0',
  '\x7f',
  '\x1b',
  '\x1b[31m',
];
const more = ['\x1b]0;ab\x07', '\x9b1m', 'é', 'ſ', 'S', 'k', '\u212a', '€', '\u202e', '(', '.', 'aXb'];
const piece = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...words, ...more).map((text) => Buffer.from(text)) },
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 9 }) },
  { weight: 3, arbitrary: fc.constant(Buffer.from('only plain text here\r\nand ab there\n'.repeat(9))) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: longestLine - 5, max: longestLine + 5 })
      .map((size) => Buffer.from(`${'x'.repeat(size)}ab`)),
  },
);
const output = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.concat(pieces));
const pattern = fc.oneof(
  fc.record({
    literal: fc.constant(true),
    ignoreCase: fc.boolean(),
    pattern: fc.constantFrom(
      'ab',
      'AB',
      'a',
      '(',
      '.',
      'é',
      's',
      'ſ',
      'k',
      '\u212a',
      '€',
      'a\r',
      'b\n',
      'xab',
    ),
  }),
  fc.record({
    literal: fc.constant(false),
    ignoreCase: fc.boolean(),
    pattern: fc.constantFrom(
      '^ab',
      'b$',
      '^$',
      'a.b',
      '\\s',
      '(?<=a)b',
      '[^a]',
      '\\r',
      'xa?b',
      'ſ',
      '\\p{L}$',
    ),
  }),
);
const limits = fc.constantFrom(
  unlimited,
  { maxBytes: 2 ** 30, maxLines: 5 },
  { maxBytes: 150_000, maxLines: 99 },
);

function ringOf(bytes: Buffer, { maxBytes, maxLines } = unlimited, step = bytes.length || 1): ByteRing {
  const ring = new ByteRing({ maxBytes, maxLines });
  for (let at = 0; at < bytes.length; at += step) ring.append(bytes.subarray(at, at + step));
  return ring;
}

describe('a search', () => {
  test('finds the lines that match as they are read, the newest first, whatever the bytes', () => {
    fc.assert(
      fc.property(output, pattern, limits, fc.integer({ min: 1, max: 9_000 }), (bytes, query, kept, step) => {
        const ring = ringOf(bytes, kept, step);
        expect(search(ring, query)).toMatchObject({ matches: naive(ring, query), more: false });
      }),
      { numRuns: 300 },
    );
  });

  test('goes on before a line without repeating or missing one, while output grows', () => {
    fc.assert(
      fc.property(output, pattern, fc.integer({ min: 1, max: 4 }), (bytes, query, limit) => {
        const ring = ringOf(bytes);
        const expected = naive(ring, query);
        const found: Match[] = [];
        let page = search(ring, { ...query, limit });
        // The open line may change; the others may not.
        ring.append(Buffer.from('\nab more\n'));
        for (found.push(...page.matches); page.more; found.push(...page.matches)) {
          const before = found.at(-1)?.line ?? 0;
          page = search(ring, { ...query, limit, before });
          expect(page.matches[0]?.line).toBeLessThan(before);
          ring.append(Buffer.from('ab and more\n'));
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  test('for the first match finds the oldest behind a place, and says where to go on', () => {
    fc.assert(
      fc.property(output, pattern, fc.nat(2_000), (bytes, query, from) => {
        const ring = ringOf(bytes);
        const { matches, next } = search(ring, { ...query, from, first: true });
        const [match] = matches;
        expect(match?.text).toBe(naive(ring, { ...query, from }).at(-1)?.text);
        if (match) expect(next).toBeGreaterThan(match.offset);
        // What is not passed over yet is the open line only.
        else expect(bytes.indexOf('\n', next)).toBe(-1);
      }),
      { numRuns: 200 },
    );
  });

  test('answers no more text than fits, and says that there is more', () => {
    const ring = ringOf(Buffer.from(`${'x'.repeat(60_000)}\n`.repeat(40)));
    const { matches, more: isMore } = search(ring, { pattern: 'x' });
    expect(matches).toHaveLength(17);
    expect(isMore).toBe(true);
  });

  test('reads what was there when it began, though the output is written over meanwhile', () => {
    const ring = new ByteRing({ maxBytes: 300_000, maxLines: 1_000_000 });
    const line = Buffer.from('old line\n');
    for (let i = 0; i < 30_000; i++) ring.append(line);
    const { letGo, ...range } = ring.share(0, ring.end);
    for (let i = 0; i < 100_000; i++) ring.append(Buffer.from('new text\n'));
    let found = 0;
    const query = { pattern: 'old line', literal: true, first: false, limit: 1_000_000 };
    searchRange({ ...range, ...query }, ({ matches }) => (found += matches.length));
    expect(found).toBe(30_000);
    letGo();
  });
});
