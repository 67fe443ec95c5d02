import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { PaneScreen } from '@polyphony/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScreenRules } from './screen-rules.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'poly-rules-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, content: unknown): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const rulesHere = (limitMs?: number): ScreenRules =>
  new ScreenRules({
    shipped: join(folder, 'shipped'),
    own: join(folder, 'own'),
    ...(limitMs !== undefined && { limitMs }),
  });

function showing(text: string, title = ''): PaneScreen {
  const lines = text.split('\n');
  return {
    ...{ rows: lines.length, cols: 80, lines, title, alternate: false },
    cursor: { x: 0, y: 0, visible: true },
  };
}

/** Reads a composer "> draft" below a rule, and what stands above it. */
const composing = (from: string, sign: object = { status: 'idle', in: 'above', pattern: '^' }) => ({
  from,
  composer: { pattern: '^(?<above>.*)\\n---\\n(?<draft>> .*)$', flags: 's' },
  margin: { pattern: '^> ' },
  signs: [sign],
});
const telling = (from: string, status: string, pattern: string, more: object = {}) => ({
  from,
  ...more,
  signs: [{ status, in: 'screen', pattern }],
});

describe('ScreenRules', () => {
  it('reads by the user’s file before ours of the same version, and by ours again when it is gone', () => {
    const shipped = write('shipped/claude/2.0.json', telling('2.0', 'idle', 'ready'));
    const rules = rulesHere();
    const read = () => rules.readScreen('claude', showing('ready'));
    expect(read()).toEqual({ status: 'idle', evidence: 'screen: ready', rules: shipped });
    const own = write('own/claude/mine.json', telling('2.0', 'running', 'rea'));
    expect(read()).toEqual({ status: 'running', evidence: 'screen: rea', rules: own });
    write('own/claude/mine.json', telling('2.0', 'error', 'r'));
    expect(read().status).toBe('error');
    rmSync(own);
    expect(read().status).toBe('idle');
    expect(rules.problems).toEqual([]);
  });

  it('goes by the version where it is known, else by the newest that knows the screen', () => {
    write('shipped/codex/1.json', telling('1.0', 'idle', 'ready', { to: '1.9' }));
    write('shipped/codex/2.json', telling('2.0', 'running', 'read'));
    const rules = rulesHere();
    const read = (version?: string) => rules.readScreen('codex', showing('ready'), version).status;
    expect([read('1.5.0-beta'), read('2.4'), read('who knows'), read()]).toEqual([
      'idle',
      'running',
      'running',
      'running',
    ]);
    expect(rules.readScreen('gemini', showing('ready')).status).toBe('unknown');
  });

  it('lets a file of mere signs decide, and takes the composer from the file that knows it', () => {
    write('shipped/claude/2.0.json', composing('2.0'));
    write('own/claude/2.1.json', telling('2.1', 'running', 'new spinner'));
    const rules = rulesHere();
    expect(rules.readScreen('claude', showing('new spinner\n---\n> hello'))).toMatchObject({
      status: 'running',
      composer: { draft: 'hello' },
    });
    expect(rules.readScreen('claude', showing('rest\n---\n> hello'))).toMatchObject({
      status: 'idle',
      composer: { draft: 'hello' },
    });
  });

  it('tells what is wrong with each file, leaves it out, and reads by the others', () => {
    write('own/claude/good.json', telling('3.0', 'idle', 'ready'));
    const sign = { status: 'idle', in: 'screen', pattern: 'x' };
    const wrong: Readonly<Record<string, [content: unknown, says: string]>> = {
      'cut.json': ['{"from": ', 'is no JSON: '],
      'list.json': [[], 'it must be an object, not []'],
      'empty.json': [{ from: '1', signs: [] }, 'signs must not be empty'],
      'from.json': [{ from: 'latest', signs: [sign] }, 'from must match'],
      'turned.json': [{ from: '2', to: '1.9', signs: [sign] }, 'to must not come before from, 2'],
      'typo.json': [{ from: '1', singns: [], signs: [sign] }, 'singns'],
      'status.json': [{ from: '1', signs: [{ ...sign, status: 'gone' }] }, 'signs.0.status must be'],
      'reason.json': [{ from: '1', signs: [{ ...sign, blockedOn: 'menu' }] }, 'beside the status blocked'],
      'pattern.json': [{ from: '1', signs: [{ ...sign, pattern: '(' }] }, 'Unterminated group'],
      'flags.json': [{ from: '1', signs: [{ ...sign, flags: 'g' }] }, 'signs.0.flags must match'],
      'place.json': [{ from: '1', signs: [{ ...sign, in: 'footer' }] }, 'title or screen'],
      'margin.json': [{ from: '1', margin: { pattern: '>' }, signs: [sign] }, 'beside a composer'],
      'draft.json': [{ from: '1', composer: { pattern: '>' }, signs: [sign] }, '(?<draft>…)'],
      'large.json': [' '.repeat(300_000), 'has 300000 bytes'],
    };
    for (const [name, [content]] of Object.entries(wrong)) write(`own/claude/${name}`, content);
    execFileSync('mkfifo', [join(folder, 'own/claude/pipe.json')]);
    write('own/cluade/2.json', telling('2.0', 'idle', 'x'));
    write('own/loose.json', telling('2.0', 'idle', 'x'));
    const rules = rulesHere();
    expect(rules.readScreen('claude', showing('ready')).status).toBe('idle');
    const { problems } = rules;
    for (const [name, [, says]] of Object.entries(wrong))
      expect(problems.find((problem) => problem.startsWith(join(folder, 'own/claude', name)))).toContain(
        says,
      );
    expect(problems.join('\n')).toMatch(/pipe\.json is no file that can be read/);
    expect(problems.join('\n')).toMatch(/cluade is not looked at: rules are in a folder named claude, codex/);
    expect(problems.join('\n')).toMatch(/loose\.json is not looked at/);
    expect(problems.length).toBe(Object.keys(wrong).length + 3);
  });

  it('sets a file aside whose expression would go on for ever, reads by the others, and tries it when it is changed', () => {
    write('shipped/claude/2.0.json', telling('2.0', 'idle', 'aaa'));
    const own = write('own/claude/3.0.json', telling('3.0', 'running', '^(a+)+$'));
    const rules = rulesHere(20);
    const screen = showing(`${'a'.repeat(60)}!`);
    expect(rules.readScreen('claude', screen).status).toBe('idle');
    expect(rules.problems).toEqual([
      `${own} was set aside when it read a screen: it took longer than 20 ms. Change it to have it tried again.`,
    ]);
    // It is not tried again: the next screen would fit it.
    expect(rules.readScreen('claude', showing('aaa')).status).toBe('idle');
    write('own/claude/3.0.json', telling('3.0', 'running', '^a+!?$'));
    expect(rules.readScreen('claude', screen).status).toBe('running');
    expect(rules.problems).toEqual([]);
  });

  it('does not let a screen hold it up that one of our own files takes long for, and does not blame the file', () => {
    write('shipped/claude/2.0.json', telling('2.0', 'idle', '^(a+)+$'));
    const rules = rulesHere(20);
    const large = { ...showing(`${'a'.repeat(60)}!`), rows: 1000, cols: 1000 };
    expect(rules.readScreen('claude', large)).toEqual({
      status: 'unknown',
      evidence: 'a screen that cannot be read: it took longer than 20 ms',
    });
    expect(rules.readScreen('claude', showing('aaa')).status).toBe('idle');
    expect(rules.problems).toEqual([]);
  });

  it('reads by the example of docs/agent-screens.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../../docs/agent-screens.md'), 'utf8');
    write('own/claude/2.2.0.json', /```json\n(.*?)```/s.exec(page)?.[1] ?? '');
    const rules = rulesHere();
    expect(
      rules.readScreen('claude', showing('…\n  Esc refuses · Tab changes it\n\n'), '2.2.1'),
    ).toMatchObject({
      status: 'blocked',
      blockedOn: 'permission',
    });
    expect(rules.problems).toEqual([]);
  });

  it('takes no recording for rules', () => {
    write('own/claude/idle-80x24.json', { vendor: 'claude' });
    write('own/claude/idle-80x24.txt', '');
    expect(rulesHere().problems).toEqual([]);
  });
});
