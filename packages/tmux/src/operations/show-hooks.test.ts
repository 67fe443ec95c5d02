import { expect, test } from 'vitest';
import { showHooks } from './show-hooks.ts';

function read(stdout: string): unknown {
  return showHooks.spec.result.read({ status: 'complete', stdout, stderr: '' }, { params: {}, guard: '' });
}

test('each command of a hook is a row, and a hook without commands is none', () => {
  const printed = [
    'after-bind-key',
    'after-new-window[0] display-message "a b" ; display-message x',
    'after-new-window[7] run-shell "ls | wc"',
    '@mine[0] display-message y',
  ];
  expect(read(printed.join('\n'))).toEqual([
    { name: 'after-new-window', index: 0, command: 'display-message "a b" ; display-message x' },
    { name: 'after-new-window', index: 7, command: 'run-shell "ls | wc"' },
    { name: '@mine', index: 0, command: 'display-message y' },
  ]);
});
