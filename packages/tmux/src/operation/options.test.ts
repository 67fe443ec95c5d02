import { expect, it } from 'vitest';
import { readOptions, unquoteOption } from './options.ts';

it('takes the quotes and escapes off a string', () => {
  expect(unquoteOption(`"it's \\"so\\" \\\\ \\n \\$HOME \\001"`)).toBe(`it's "so" \\ \n $HOME \x01`);
  expect(unquoteOption(`'say "x"'`)).toBe('say "x"');
  expect(unquoteOption("''")).toBe('');
  expect(unquoteOption('\\;')).toBe(';');
});

it('leaves keys, numbers and commands alone', () => {
  for (const raw of ['\\', '"', "'", 'C-\\', '500', 'new-session -n "a \\$b"'])
    expect(unquoteOption(raw)).toBe(raw);
});

it('undoes the backslash that tmux 3.4 adds before a variable', () => {
  expect(unquoteOption('"\\\\$HOME"')).toBe('$HOME');
  expect(unquoteOption('"\\\\\\\\$x{"')).toBe('\\$x{');
  expect(unquoteOption('"\\\\$5 \\\\\\\\$_"')).toBe('\\$5 \\$_');
});

it('joins the bytes of a character that tmux could not print', () => {
  expect(unquoteOption('\\342\\200\\215')).toBe('\u200d');
});

it('reads arrays, empty arrays and marks of inheritance', () => {
  const lines = ['mouse* off', 'status-format[0]* "#S x"', 'status-format[12] b', 'user-keys', "@empty ''"];
  expect(readOptions(lines)).toEqual({
    options: { mouse: 'off', 'status-format': { 0: '#S x', 12: 'b' }, 'user-keys': {}, '@empty': '' },
    inherited: ['mouse', 'status-format'],
  });
});
