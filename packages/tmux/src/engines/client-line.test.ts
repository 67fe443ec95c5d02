import { expect, test } from 'vitest';
import { clientLine } from './client-line.ts';

const lineOf = (...argvs: string[][]) => clientLine({ argvs, read: (answer) => answer });

test('a short line is the words of the client', () => {
  expect(lineOf(['set-buffer', 'a;'], ['list-sessions'])).toMatchObject({
    words: ['set-buffer', 'a\\;', ';', 'list-sessions'],
  });
});

test('a long line is read from standard input, and new-session has its server started first', () => {
  const long = 'é'.repeat(8_000);
  const { words, input, read } = lineOf(['set-buffer', long], ['kill-pane']);
  expect(words).toEqual(['source-file', '-']);
  expect(String(input)).toBe(`set-buffer '${long}' ; kill-pane\n`);
  expect(lineOf(['new-session', '-n', long]).words).toEqual(['start-server', ';', 'source-file', '-']);
  expect(read({ code: 1, stdout: '-:1: unknown command: x\n', stderr: '' })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'unknown command: x\n',
  });
});
