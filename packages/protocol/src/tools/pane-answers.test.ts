import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaneInfo } from '../pane.ts';
import {
  commandLine,
  killedAnswer,
  listAnswer,
  matchesAnswer,
  readAnswer,
  screenAnswer,
  spawnedAnswer,
  waitedAnswer,
} from './pane-answers.ts';

const pane: PaneInfo = {
  id: 'pty_1a2b3c4d',
  meta: {},
  backend: 'pty',
  title: 'make',
  argv: ['make', 'a b'],
  cwd: '/work',
  status: 'running',
  pid: 42,
  lines: 3,
  createdAt: '2026-01-01T00:00:00.000Z',
};
const page = { from: 0, next: 0, retainedFrom: 0, more: false, truncated: false };
const read = (lines: readonly { n: number; text: string }[], more = {}) =>
  readAnswer(pane, { ...page, lines, ...more });

it('describes a pane', () => {
  expect(spawnedAnswer({ ...pane, meta: { description: 'builds' } })).toBe(
    [
      '<pty_spawned>',
      'ID: pty_1a2b3c4d',
      'Title: make',
      'Description: builds',
      "Command: make 'a b'",
      'Workdir: /work',
      'PID: 42',
      'Status: running',
      'Lines: 3',
      'Created: 2026-01-01T00:00:00.000Z',
      '</pty_spawned>',
    ].join('\n'),
  );
});

it.each([
  [{ exitCode: 0, exitSignal: null }, 'exited (code 0)'],
  [{ exitCode: null, exitSignal: 'SIGKILL' }, 'killed (SIGKILL)'],
  [{ exitCode: null, exitSignal: null }, 'exited (nobody saw how)'],
])('says of %j: %s', (ending, said) => {
  expect(killedAnswer({ ...pane, status: 'exited', ...ending }, false)).toContain(`Status: ${said}\n`);
});

it('numbers lines as the pane does, and says how to go on', () => {
  const lines = [
    { n: 7, text: 'seven' },
    { n: 123456, text: 'many' },
  ];
  expect(read(lines, { more: true, truncated: true })).toBe(
    [
      '<pty_output id="pty_1a2b3c4d" status="running">',
      '(Older lines are no longer kept)',
      '00007| seven',
      '123456| many',
      '',
      '(Lines 7-123456 of 3; go on with offset=123457)',
      '</pty_output>',
    ].join('\n'),
  );
  const behindGap = { ...page, lines, from: 9, truncated: true };
  expect(readAnswer(pane, behindGap, { isTail: true })).toContain('offset reads those that are kept');
  expect(readAnswer(pane, behindGap)).toContain('(Something is missing before these lines');
  const long = 'x'.repeat(5000);
  expect(read([{ n: 1, text: long }])).toContain(`\n00001| ${long}\n`);
  expect(read([])).toContain('(Nothing there; it has printed 3 lines)');
});

it('shows matches in their order, and where older ones are', () => {
  const matches = [
    { n: 9, text: 'nine' },
    { n: 4, text: 'four' },
  ];
  const text = matchesAnswer(pane, '"a" <b>', { matches, more: true, complete: false });
  expect(text).toContain('pattern="&quot;a&quot; &lt;b&gt;"');
  expect(text).toMatch(
    /00004\| four\n00009\| nine\n\n\(2 lines match; offset=4 finds older ones\)\n\(The search/,
  );
});

it('quotes a command so that it can be read in one way only', () => {
  expect(commandLine(['a', '', "it's", 'x;y', '-n'])).toBe(String.raw`a '' 'it'\''s' 'x;y' -n`);
});

describe('what a program says', () => {
  const pieces = [
    '<',
    '/',
    'pty_output',
    'pty_spawned',
    'PTY_list',
    '>',
    '\n',
    '\r',
    ' ',
    '\u200b',
    '\x1b[0m',
    '\u2028',
    'x',
  ];
  const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));
  /** Tags as a careless reader would see them. */
  const tags = (text: string): readonly string[] => text.match(/<[\s\p{Cf}]*\/?[\s\p{Cf}]*pty_\w+/giu) ?? [];

  it('never makes a tag or a line of its own, wherever it stands', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const named: PaneInfo = {
          ...pane,
          title: text,
          argv: [text],
          cwd: text,
          meta: { description: text },
        };
        const screen = {
          ...{ rows: 1, cols: 80, lines: [text], title: text, alternate: false },
          cursor: { x: 0, y: 0, visible: true },
        };
        const match = { n: 1, text };
        for (const [answer, lines] of [
          [spawnedAnswer(named), 11],
          [listAnswer([named]), 13],
          [readAnswer(named, { ...page, lines: [match] }), 5],
          [matchesAnswer(named, text, { matches: [match], more: false, complete: true }), 5],
          [screenAnswer(named, screen), 3],
          [waitedAnswer('x', { reason: 'text', match, next: 1 }), 5],
        ] as const) {
          expect(tags(answer)).toHaveLength(2);
          expect(answer.split(/[\n\r\u2028\u2029]/)).toHaveLength(lines);
          expect(answer).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
        }
      }),
    );
  });
});
