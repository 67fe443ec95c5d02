import { expect, test } from 'vitest';
import { TmuxError } from '../errors.ts';
import { listKeys } from './list-keys.ts';

const printed = [
  'bind-key    -T copy-mode C-Space         send-keys -X begin-selection',
  'bind-key    -T prefix    \\"              split-window',
  'bind-key    -T prefix    \\\\              display-message z',
  'bind-key -r -T prefix    Up              select-pane -U',
  'bind-key  -T root é display-message "a  b" \\; select-pane',
].join('\n');

function read(text: string, params: object = {}): unknown {
  const reply = { status: 'complete', stdout: text, stderr: '' } as const;
  return listKeys.spec.result.read(reply, { params: { ...params }, guard: '' });
}

test('key bindings are read with their table, key and command, whatever the columns of the version', () => {
  expect(read(printed)).toEqual([
    { table: 'copy-mode', key: 'C-Space', repeat: false, command: 'send-keys -X begin-selection' },
    { table: 'prefix', key: '"', repeat: false, command: 'split-window' },
    { table: 'prefix', key: '\\', repeat: false, command: 'display-message z' },
    { table: 'prefix', key: 'Up', repeat: true, command: 'select-pane -U' },
    { table: 'root', key: 'é', repeat: false, command: 'display-message "a  b" \\; select-pane' },
  ]);
});

test('a table and a key are picked from the list, as tmux 3.7 does not print a single line', () => {
  expect(read(printed, { table: 'prefix', key: '"' })).toEqual([
    { table: 'prefix', key: '"', repeat: false, command: 'split-window' },
  ]);
  expect(read(printed, { table: 'none' })).toEqual([]);
  expect(listKeys({ table: 'prefix', key: 'x' }).render('3.3a')).toEqual(['list-keys']);
});

test('a line that is no binding is an error, not a row', () => {
  expect(() => read('unbind-key x')).toThrow(TmuxError);
});
