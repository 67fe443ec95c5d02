import { expect, test } from 'vitest';
import { listServerAccess } from './list-server-access.ts';

function read(stdout: string): unknown {
  return listServerAccess.spec.result.read(
    { status: 'complete', stdout, stderr: '' },
    { params: {}, guard: '' },
  );
}

test('users are read from the list of every version, and groups from that of tmux 3.8', () => {
  expect(read('daemon (R)\nnobody (W)\n')).toEqual([
    { name: 'daemon', group: false, readOnly: true },
    { name: 'nobody', group: false, readOnly: false },
  ]);
  expect(read('daemon (U,R)\nour staff (G,W)\n')).toEqual([
    { name: 'daemon', group: false, readOnly: true },
    { name: 'our staff', group: true, readOnly: false },
  ]);
});

test('a line that names nobody is an error', () => {
  expect(() => read('whoever\n')).toThrow('names no user');
});
