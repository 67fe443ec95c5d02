import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Verdict } from '../platform/rules.ts';
import { fitsProgram, programNames } from './program-names.ts';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'poly-names-')));
  for (const file of ['bin/tool', 'bin/multi', 'mine/tool']) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), '#!/bin/sh\n');
    chmodSync(join(root, file), 0o755);
  }
  symlinkSync('multi', join(root, 'bin/short'));
  symlinkSync(join(root, 'bin/tool'), join(root, 'mine/harmless'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** `@` stands for the folder of the test; the user's PATH is `@/bin`. */
function fits(pattern: string, verdict: Verdict, argv: readonly string[], env: Record<string, string> = {}) {
  const here = (text: string): string => text.replaceAll('@', root);
  const added = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)]));
  const words = argv.map(here);
  const names = programNames({ argv: words, cwd: root, env: added, user: { PATH: join(root, 'bin') } });
  return fitsProgram(names, words, here(pattern), verdict);
}

it.each([
  ['tool', ['tool', '-x']],
  ['tool', ['@/bin/tool']],
  ['tool', ['./bin/tool']],
  ['tool', ['@/bin/../mine/tool']],
  ['tool', ['@/mine/harmless']],
  ['@/bin/tool', ['tool', '-x']],
  ['@/bin/tool', ['@/mine/harmless']],
  ['@/bin/*', ['tool']],
  ['tool -x*', ['@/bin/tool', '-x', 'y']],
  ['tool *', ['@/mine/harmless', 'y']],
  ['short', ['short']],
  ['multi', ['short']],
  ['*', ['nowhere']],
  ['nowhere', ['nowhere']],
] as const)('a rule that denies %s is about %j', (pattern, argv) => {
  expect(fits(pattern, 'deny', argv)).toBe(true);
  expect(fits(pattern, 'ask', argv)).toBe(true);
});

it.each([
  ['tool -x', ['tool', '-y']],
  ['tool *', ['tool']],
  ['ool', ['tool']],
  ['tool', ['toolbox']],
  // What a shell or env is told to run is theirs: a rule names the program that is started.
  ['tool*', ['sh', '-c', 'tool -x']],
  ['tool*', ['env', 'X=1', 'tool']],
] as const)('a rule that denies %s is not about %j', (pattern, argv) => {
  expect(fits(pattern, 'deny', argv)).toBe(false);
});

it('opens nothing for a program that took the name of another', () => {
  expect(fits('tool*', 'allow', ['tool', '-x'])).toBe(true);
  expect(fits('tool*', 'allow', ['@/bin/tool', '-x'])).toBe(true);
  expect(fits('short', 'allow', ['short'])).toBe(true);
  expect(fits('tool*', 'allow', ['@/mine/tool', '-x'])).toBe(false);
  expect(fits('tool*', 'allow', ['tool', '-x'], { PATH: '@/mine' })).toBe(false);
  expect(fits('harmless', 'allow', ['@/mine/harmless'])).toBe(false);
  expect(fits('@/mine/tool', 'allow', ['@/mine/tool'])).toBe(true);
  expect(fits('*', 'allow', ['@/mine/tool'])).toBe(true);
});
