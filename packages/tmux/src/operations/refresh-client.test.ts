import { expect, test } from 'vitest';
import { refreshClient } from './refresh-client.ts';

const target = { client: 'client-1' };

test('each kind of change is written as tmux takes it', () => {
  const render = (params: object): readonly string[] =>
    refreshClient({ target, ...params })
      .render('3.5')
      .slice(3);
  expect(render({ size: { width: 80, height: 24 } })).toEqual(['-C', '80x24']);
  expect(render({ size: { width: 80, height: 24, window: '@2' } })).toEqual(['-C', '@2:80x24']);
  expect(render({ flags: ['!no-output', 'pause-after=5'] })).toEqual(['-f', '!no-output,pause-after=5']);
  expect(render({ output: { '%1': 'off', '%2': 'continue' } })).toEqual([
    '-A',
    '%1:off',
    '-A',
    '%2:continue',
  ]);
  expect(
    render({
      subscribe: [
        { name: 'a', format: '#{session_name}' },
        { name: 'b', what: '%*', format: '#{t:x}' },
      ],
      unsubscribe: ['c'],
    }),
  ).toEqual(['-B', 'a::#{session_name}', '-B', 'b:%*:#{t:x}', '-B', 'c']);
  expect(render({ pan: 'up', by: 3 })).toEqual(['-U', '--', '3']);
  expect(render({ clipboardTo: '%1' })).toEqual(['-l', '%1']);
  expect(render({ report: { pane: '%1', sequence: '\u001b]10;rgb:0/0/0\u0007' } })).toEqual([
    '-r',
    '%1:\u001b]10;rgb:0/0/0\u0007',
  ]);
});

test('what tmux would leave out without a word is refused', () => {
  expect(() => refreshClient({ target, statusOnly: true, size: { width: 80, height: 24 } })).toThrow(
    'exclude each other',
  );
  expect(() => refreshClient({ target, output: { '%1': 'on' }, unsubscribe: ['a'] })).toThrow(
    'exclude each other',
  );
  expect(() => refreshClient({ target, by: 2 })).toThrow('give pan too');
});

test('flags and names that would split are refused', () => {
  expect(() => refreshClient({ target, flags: ['a,b'] })).toThrow('not a client flag');
  expect(() => refreshClient({ target, subscribe: [{ name: 'a:b', format: 'x' }] })).toThrow(
    'cannot hold ":"',
  );
});
