import {
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ByteRing, type PageQuery } from './byte-ring.ts';
import { KeptOutput } from './kept-output.ts';
import { longestLine } from './line-starts.ts';
import { OutputDisk } from './output-disk.ts';
import { type Match, searchRange } from './search-range.ts';

const unlimited = { maxBytes: 2 ** 30, maxLines: 2 ** 30 };
const small = { maxBytes: 256 * 1024, maxLines: 40 };
const segmentBytes = 16 * 1024;
const diskBytes = 160 * 1024;

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('needle\n', 'hay\r\n', '\n\n', '\x1b[31mred\x1b[m needle\r\n'),
        fc.integer({ min: 1, max: 2000 }),
      )
      .map(([line, times]) => Buffer.from(line.repeat(times))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '€'), fc.integer({ min: longestLine - 4, max: longestLine + 4 }))
      .map(([letter, size]) => Buffer.from(letter.repeat(size)).subarray(0, size)),
  },
);
const pieces = fc.array(piece, { minLength: 1, maxLength: 12 });

describe('kept output', () => {
  let root: string;
  let made = 0;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'poly-kept-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** The same output in a large memory, and in a small one with files. */
  async function keep(chunks: readonly Buffer[], maxBytes: number) {
    const dir = join(root, `${++made}`);
    const disk = new OutputDisk(dir, { segmentBytes });
    const files = disk.filesOf('pane');
    const output = new KeptOutput(new ByteRing(small), files);
    output.keep(maxBytes);
    const model = new ByteRing(unlimited);
    for (const chunk of chunks) {
      model.append(chunk);
      output.append(chunk);
      await files.flush();
    }
    return { model, output, files, dir };
  }

  async function expectSame(output: KeptOutput, model: ByteRing, query: PageQuery): Promise<void> {
    const { bytes, ...page } = await output.page(query);
    const { bytes: wanted, ...rest } = model.page(query);
    expect({ query, ...page }).toEqual({ query, ...rest });
    expect(bytes.equals(wanted)).toBe(true);
  }

  const place = fc.record({
    at: fc.double({ min: 0, max: 1.1, noNaN: true }),
    limit: fc.option(fc.nat(200)),
    maxBytes: fc.integer({ min: 4, max: 300_000 }),
  });
  const matchesOf = async (
    output: Pick<KeptOutput, 'share'> | ByteRing,
    from: number,
    to: number,
  ): Promise<Match[]> => {
    const matches: Match[] = [];
    const range = await output.share(from, to);
    searchRange({ ...range, pattern: 'needle$', first: false, limit: 1e9 }, (news) =>
      matches.push(...news.matches),
    );
    range.letGo();
    return matches;
  };

  test('is, from any place and in any size, what it would be in a memory without end', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.array(place, { minLength: 1, maxLength: 8 }), async (chunks, places) => {
        const { model, output } = await keep(chunks, 2 ** 30);
        expect(output.start).toBe(0);
        expect(output.lines).toBe(model.lines);
        for (const { at, limit, maxBytes } of places) {
          const since = Math.floor(at * model.end);
          const line = Math.floor(at * model.lines);
          const size = { limit: limit ?? undefined, maxBytes };
          await expectSame(output, model, { since, ...size });
          await expectSame(output, model, { fromLine: line, ...size });
          await expectSame(output, model, { tail: line, ...size });
          expect(await output.lineStart(line)).toBe(model.lineStart(line));
          expect(await matchesOf(output, since, model.end)).toEqual(await matchesOf(model, since, model.end));
          const to = model.lineStart(line);
          expect(await matchesOf(output, 0, to)).toEqual(await matchesOf(model, 0, to));
        }
        await expectSame(output, model, {});
      }),
      { numRuns: 25 },
    );
  });

  test('is found again by the next host, up to what the disk has, and goes on from there', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, pieces, fc.nat(200), async (chunks, more, torn) => {
        const { files, dir } = await keep(chunks, 2 ** 30);
        const last = files.list.at(-1);
        const { start = 0, end = 0 } = last ?? {};
        const kept = Math.max(start, end - torn);
        if (last) truncateSync(files.fileOf(last), kept - start);
        const model = new ByteRing(unlimited);
        model.append(Buffer.concat(chunks).subarray(0, kept));
        const found = new OutputDisk(dir, { segmentBytes }).find().get('pane');
        const output = found && (await KeptOutput.recall(found, small));
        expect(output === undefined).toBe(kept === 0);
        if (!output) return;
        await expectSame(output, model, {});
        await expectSame(output, model, { tail: 3, maxBytes: 1000 });
        output.keep(2 ** 30);
        for (const chunk of more) {
          output.append(chunk);
          model.append(chunk);
          await found?.flush();
        }
        await expectSame(output, model, {});
        expect(await matchesOf(output, 0, model.end)).toEqual(await matchesOf(model, 0, model.end));
      }),
      { numRuns: 25 },
    );
  });

  test('never takes more than it may, and says from where on it is there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 10, maxLength: 30 }), async (chunks) => {
        const { model, output, files, dir } = await keep(chunks, diskBytes);
        const names = files.list.length > 0 ? readdirSync(join(dir, 'pane')) : [];
        const size = names.reduce((sum, name) => sum + statSync(join(dir, 'pane', name)).size, 0);
        expect(size).toBeLessThanOrEqual(diskBytes);
        expect(size).toBe(files.bytes);
        const page = await output.page({ since: 0 });
        expect(page).toMatchObject({
          from: output.start,
          retainedFrom: output.start,
          truncated: output.start > 0,
        });
        const { bytes, ...rest } = model.page({ since: page.from });
        expect(page.bytes.equals(bytes)).toBe(true);
        expect(page.firstLine).toBe(rest.firstLine);
      }),
      { numRuns: 20 },
    );
  });

  test('tells a gap also to whoever reads line by line', async () => {
    const output = new KeptOutput(new ByteRing(), null);
    for (const text of ['one\nhalf', 'new\n', 'newer\n']) {
      if (output.end > 0) output.leap();
      output.append(Buffer.from(text));
    }
    const told = [0, 1, 2, 3, 4].map(async (fromLine) => {
      const { bytes, truncated } = await output.page({ fromLine, limit: 1 });
      return [bytes.toString(), truncated];
    });
    // The third gap comes where a line has ended, and has a number of its own.
    expect(await Promise.all(told)).toEqual([
      ['one\n', false],
      ['half', false],
      ['new\n', true],
      ['newer\n', true],
      ['newer\n', true],
    ]);
  });

  test('without one of its files is what the others have', async () => {
    const chunk = Buffer.from('0123456789\n'.repeat(10_000));
    const { output, files } = await keep([chunk, chunk, chunk, chunk], 2 ** 30);
    const [first, second, third] = files.list;
    if (!first || !second || !third) throw new Error('there are too few files');
    rmSync(files.fileOf(second));
    const before = await output.page({ since: 0 });
    expect(before).toMatchObject({ from: 0, next: second.start, truncated: false, more: true });
    expect(await output.page({ since: before.next })).toMatchObject({
      from: third.start,
      truncated: true,
      more: false,
    });
    expect(await output.page({ fromLine: second.line + 1, limit: 1 })).toMatchObject({
      from: third.start,
      firstLine: third.line,
      truncated: true,
    });
    expect(output.keptFrom(second.start)).toBe(third.start);
    expect(await output.page({ tail: 1e9, maxBytes: 1e9 })).toMatchObject({
      from: third.start,
      truncated: true,
    });
  });

  test('of a pane that has gone is not found in what another of its id prints', async () => {
    const dir = join(root, `${++made}`);
    const disk = new OutputDisk(dir, { segmentBytes });
    const print = async (text: string): Promise<KeptOutput> => {
      const files = disk.filesOf('pane');
      const output = new KeptOutput(new ByteRing(small), files);
      output.keep(2 ** 30);
      output.append(Buffer.from(text.repeat(10_000)));
      await files.flush();
      return output;
    };
    const gone = await print('old words\n');
    const { letGo, ...range } = await gone.share(0, gone.end);
    expect(range.portions.some(({ file }) => file !== undefined)).toBe(true);
    await gone.remove();
    await print('new words\n');
    const texts = new Set<string>();
    searchRange({ ...range, pattern: 'words', first: false, limit: 1e9 }, ({ matches }) => {
      for (const { text } of matches) texts.add(text);
    });
    letGo();
    expect([...texts]).toEqual(['old words']);
  });

  test('that a disk fails to read once is an error then, and all there the next time', async () => {
    const chunk = Buffer.from('0123456789\n'.repeat(10_000));
    const { output, files, model, dir } = await keep([chunk, chunk, chunk], 2 ** 30);
    const [, second] = files.list;
    if (!second) throw new Error('there are too few files');
    // A link is not followed: a failure that is none of the file's.
    const [file, aside] = [files.fileOf(second), join(dir, 'aside')];
    renameSync(file, aside);
    symlinkSync(aside, file);
    const failure = { code: 'output_unreadable', message: expect.stringContaining('ELOOP') };
    await expect(output.page({ since: second.start })).rejects.toMatchObject(failure);
    await expect(output.some(second.start, 10)).rejects.toMatchObject(failure);
    await expect(output.lineStart(second.line + 1)).rejects.toMatchObject(failure);
    unlinkSync(file);
    renameSync(aside, file);
    await expectSame(output, model, { since: second.start });
    await expectSame(output, model, {});
  });
});
