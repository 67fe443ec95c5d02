import { expect, test } from 'vitest';
import { displayMenu } from './display-menu.ts';

const client = { client: '/dev/pts/0' };

test('an item is a name, a key and a command; a line between items is one empty word', () => {
  const items = [{ name: 'Logs', key: 'l', command: 'next-window' }, null, { name: 'Off', disabled: true }];
  const argv = displayMenu({ client, items }).render('3.3a');
  expect(argv).toEqual([
    'display-menu',
    '-c',
    '/dev/pts/0',
    '--',
    'Logs',
    'l',
    'next-window',
    '',
    '-Off',
    '',
    '',
  ]);
});

test('a name that tmux would take for something else is refused', () => {
  for (const name of ['', '-Logs'])
    expect(() => displayMenu({ client, items: [{ name }] })).toThrow('means something else');
});
