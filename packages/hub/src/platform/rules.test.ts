import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitsFolder, fitsText, judge, type Rules, realFolder } from './rules.ts';

describe('a pattern', () => {
  it('fits what a regular expression of the same meaning fits', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.', '\n') });
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const source = pattern.replace(/[*?.]/g, (sign) => ({ '*': '.*', '?': '.', '.': '\\.' })[sign] ?? '');
        expect(fitsText(pattern, text)).toBe(new RegExp(`^${source}$`, 's').test(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('is matched without getting lost in a hostile text', () => {
    expect(fitsText('*a*a*a*a*a*a*a*a*b', 'a'.repeat(100_000))).toBe(false);
  });
});

describe('the most specific pattern that fits decides', () => {
  const rules: Rules = { '*': 'deny', 'web-*': 'ask', 'web-1': 'allow', 'web-?': 'deny', '*-web-': 'allow' };
  it.each([
    ['other', 'deny', '*'],
    ['web-long', 'ask', 'web-*'],
    ['web-1', 'allow', 'web-1'],
    ['web-2', 'deny', 'web-?'],
  ])('%s: %s', (subject, verdict, pattern) => {
    expect(judge(rules, (one) => fitsText(one, subject), 'allow')).toEqual({ verdict, pattern });
  });

  it('and of equals the strictest, in whatever order they stand', () => {
    for (const both of [
      { 'a*': 'allow', '*a': 'deny' },
      { '*a': 'deny', 'a*': 'allow' },
    ] satisfies Rules[])
      expect(judge(both, (one) => fitsText(one, 'a'), 'allow').verdict).toBe('deny');
    expect(judge({ 'a?': 'ask', '?b': 'allow' }, (one) => fitsText(one, 'ab'), 'allow').verdict).toBe('ask');
  });

  it('and without one that fits, what is usual', () => {
    expect(judge({}, () => true, 'ask')).toEqual({ verdict: 'ask' });
  });
});

describe('a rule about a folder', () => {
  let root: string;
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'poly-rules-')));
    for (const name of ['proj/src', 'proj-evil']) mkdirSync(join(root, name), { recursive: true });
    symlinkSync(join(root, 'proj'), join(root, 'link'));
    symlinkSync(join(root, 'proj', 'src'), join(root, 'proj-evil', 'in'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it.each([
    ['proj', 'proj', true],
    ['proj', 'proj/src', true],
    ['proj/', 'proj/src', true],
    ['proj', 'proj-evil', false],
    ['proj', 'proj-evil/../proj/src', true],
    ['proj', 'proj/../proj-evil', false],
    ['proj', 'link', true],
    ['proj', 'link/src', true],
    ['proj', 'proj-evil/in', true],
    ['proj-evil', 'proj-evil/in', false],
    ['link', 'proj/src', true],
    ['link/s*', 'proj/src', true],
    ['proj/nowhere/..', 'proj/src', true],
    ['pro?', 'proj/src', true],
    ['pro?', 'proj-evil', false],
    ['proj*', 'proj-evil', true],
    ['*/src', 'proj/src', true],
    ['gone', 'gone/deep', true],
  ])('%s is about %s: %s', (pattern, folder, fits) => {
    expect(fitsFolder(join(root, pattern), realFolder(`${root}/${folder}`))).toBe(fits);
  });

  it.each(['/', '*', '/*'])('%s is about all of them', (pattern) => {
    expect(fitsFolder(pattern, realFolder(join(root, 'proj')))).toBe(true);
  });
});
