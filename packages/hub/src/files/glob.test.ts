import { matchesGlob } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Glob, mostEffort, overlap as overlapWithin, plainGlob, readGlobs } from './glob.ts';

const overlap = (a: Glob, b: Glob): boolean => overlapWithin(a, b, { left: mostEffort });

const meets = (a: string, b: string, roots: readonly [string, string] = ['/r', '/r']): boolean =>
  readGlobs(roots[0], a).some((one) => readGlobs(roots[1], b).some((other) => overlap(one, other)));

describe('two patterns', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['src', 'src/a.ts'],
    ['src/', 'src/deep/er/a.ts'],
    ['src/*.ts', 'src/a.*'],
    ['src/**', 'src/a/b/c.ts'],
    ['**/*.ts', 'src/a/b/c.ts'],
    ['**/test/**', 'src/**/a.ts'],
    ['*.md', 'README.*'],
    ['src/?.ts', 'src/[abc].ts'],
    ['src/{api,web}/**', 'src/web/x.ts'],
    ['.', 'anything/at/all'],
    ['a*b*c', '*abc'],
    ['./src/a.ts', 'src/a.ts'],
    // What is named without a wildcard may be a folder.
    ['**/*.ts', 'docs/v1.2'],
  ])('%s and %s meet', (a, b) => {
    expect([meets(a, b), meets(b, a)]).toEqual([true, true]);
  });

  it.each([
    ['src/a.ts', 'src/b.ts'],
    ['src', 'srcs/a.ts'],
    ['src/*.ts', 'src/a.js'],
    ['src/*', 'src/a/b'],
    ['src/{api,web}', 'src/cli/x'],
    ['**/*.ts', '**/*.js'],
    ['a?', 'a'],
    ['docs/**/x', 'docs/?.y'],
  ])('%s and %s do not', (a, b) => {
    expect([meets(a, b), meets(b, a)]).toEqual([false, false]);
  });

  it('of two roots meet where the files are the same', () => {
    expect(meets('web/a.ts', 'a.ts', ['/r', '/r/web'])).toBe(true);
    expect(meets('a.ts', 'a.ts', ['/r', '/other'])).toBe(false);
  });

  it('meet whenever one path fits both', () => {
    const name = fc.stringMatching(/^[ab*?]{1,3}$/).filter((text) => text !== '**');
    const pattern = fc
      .array(fc.oneof(name, fc.constant('**')), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('/'));
    const path = fc
      .array(fc.stringMatching(/^[ab]{1,3}$/), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('/'));
    fc.assert(
      fc.property(pattern, pattern, path, (a, b, file) => {
        if (matchesGlob(file, a) && matchesGlob(file, b)) expect(meets(a, b)).toBe(true);
        const [one] = readGlobs('/r', a);
        if (matchesGlob(file, a) && one) expect(overlap(one, plainGlob(`/r/${file}`, file))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

it('refuses what leads out of the folder or has too many variants', () => {
  expect(() => readGlobs('/r', '../x')).toThrow(/leads out/);
  expect(() => readGlobs('/r', 'a/../../x')).toThrow(/leads out/);
  expect(() => readGlobs('/r', '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}')).toThrow(/more than 64/);
  expect(meets(`${'*a'.repeat(400)}`, `${'a*'.repeat(400)}`)).toBe(true);
});

it('that nobody would write is looked at so far and no further, and then said to meet', () => {
  const nasty = (end: string) => readGlobs('/r', `${'*a'.repeat(400)}${end}`);
  const effort = { left: mostEffort };
  const found = Array.from({ length: 100 }, () =>
    overlapWithin(nasty('x')[0] as Glob, nasty('y')[0] as Glob, effort),
  );
  expect([found[0], found.at(-1)]).toEqual([false, true]);
  // Those that lie in other folders take none of it.
  expect(overlapWithin(readGlobs('/r/a', '**')[0] as Glob, readGlobs('/r/b', '**')[0] as Glob, effort)).toBe(
    false,
  );
});
