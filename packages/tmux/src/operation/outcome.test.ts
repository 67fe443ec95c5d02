import { expect, it } from 'vitest';
import { createdPane, createdSession } from './outcome.ts';
import type { Reply } from './reply.ts';

const context = { params: {}, guard: 'guard' };
const printed = (stdout: string): Reply => ({ status: 'complete', stdout, stderr: '' });

it('reads the ids of what was created from the line that holds nothing else', () => {
  const ids = { sessionId: '$1', windowId: '@2', paneId: '%3' };
  expect(createdSession.read(printed('hi\n$1 @2 %3\n%4\n\n'), context)).toEqual(ids);
  // What a hook prints comes after the command's own answer.
  expect(createdPane.read(printed('%3\n%4\n'), context)).toEqual({ paneId: '%3' });
});

it.each(['', 'hi\n', '$1 @2\n', '$1 @2 %3 %4\n', '$x @2 %3\n'])(
  'says what was printed in place of ids: %j',
  (stdout) => {
    expect(() => createdSession.read(printed(stdout), context)).toThrow(
      expect.objectContaining({ code: 'protocol', message: expect.stringContaining(JSON.stringify(stdout)) }),
    );
  },
);
