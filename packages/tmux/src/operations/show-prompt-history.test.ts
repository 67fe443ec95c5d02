import { expect, test } from 'vitest';
import { showPromptHistory } from './show-prompt-history.ts';

test('the history of each prompt is read, the oldest entry first', () => {
  const stdout = 'History for command:\n\n1: abc\n2: set-buffer 1: x\n\nHistory for search:\n\n\n';
  const read = showPromptHistory.spec.result.read(
    { status: 'complete', stdout, stderr: '' },
    { params: {}, guard: '' },
  );
  expect(read).toEqual([
    { type: 'command', entries: ['abc', 'set-buffer 1: x'] },
    { type: 'search', entries: [] },
  ]);
});
