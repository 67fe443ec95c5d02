import { expect, it } from 'vitest';
import { isCursorKey, keyBytes } from './keys.ts';

it.each([
  ['C-c', '\x03'],
  ['ctrl-c', '\x03'],
  ['Ctrl+C', '\x03'],
  ['control-c', '\x03'],
  ['^C', '\x03'],
  ['^', '^'],
  ['alt-x', '\x1bx'],
  ['ctrl-alt-x', '\x1b\x18'],
  ['shift-tab', '\x1b[Z'],
  ['enter', '\r'],
  ['Return', '\r'],
  ['ESC', '\x1b'],
  ['pgdn', '\x1b[6~'],
  ['ctrl-up', '\x1b[1;5A'],
  ['c', 'c'],
  ['C', 'C'],
  ['-', '-'],
])('reads %s as people write it', (key, bytes) => {
  expect(keyBytes(key)).toBe(bytes);
});

it('knows an arrow by every name', () => {
  expect(['Up', 'up', 'UP'].map((key) => [isCursorKey(key), keyBytes(key, true)])).toEqual(
    Array.from({ length: 3 }, () => [true, '\x1bOA']),
  );
});

it('takes no word for a key, and says which one may be meant', () => {
  for (const key of ['constructor', 'hello', 'hyper-x', 'ctrl-'])
    expect(() => keyBytes(key)).toThrow(`"${key}" is no key.`);
  expect(() => keyBytes('Entre')).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/^Did you mean Enter\? One character/) }),
  );
});
