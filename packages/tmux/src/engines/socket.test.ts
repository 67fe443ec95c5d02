import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { socketPathOf } from './socket.ts';

const tmp = realpathSync('/tmp');

test('a given path wins, then a given name, then the server of $TMUX, then the default', () => {
  const env = { TMUX: '/run/inherited,12,0' };
  expect(socketPathOf({ socketPath: '/run/s', socketName: 'work' }, env, 7)).toBe('/run/s');
  expect(socketPathOf({ socketName: 'work' }, env, 7)).toBe(`${tmp}/tmux-7/work`);
  expect(socketPathOf({}, env, 7)).toBe('/run/inherited');
  expect(socketPathOf({}, { TMUX: '' }, 7)).toBe(`${tmp}/tmux-7/default`);
});

test('TMUX_TMPDIR moves the sockets while it exists', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'poly-socket-')));
  try {
    expect(socketPathOf({}, { TMUX_TMPDIR: folder }, 7)).toBe(`${folder}/tmux-7/default`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  expect(socketPathOf({}, { TMUX_TMPDIR: folder }, 7)).toBe(`${tmp}/tmux-7/default`);
});
