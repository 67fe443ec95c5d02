import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertCommand, commandLine, escapeArgument } from './quote.ts';

test('a line never holds a newline of its own, whatever is in its words', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0')),
        { maxLength: 5 },
      ),
      (words) => {
        expect(commandLine(['set-buffer', ...words])).not.toMatch(/[\r\n]/);
      },
    ),
  );
});

test.each([
  [[]],
  [['']],
  [['# comment']],
  [['NAME=value']],
  [['  ']],
  [['Display']],
  [['a;b']],
  [['display-message', 'a\0b']],
])('%j is refused before it is sent', (argv) => {
  expect(() => assertCommand(argv)).toThrow(expect.objectContaining({ code: 'invalid_parameters' }));
});

test('only a closing ";" of an argument is special to tmux', () => {
  expect(['a;', ';', 'a;b', '\\;'].map(escapeArgument)).toEqual(['a\\;', '\\;', 'a;b', '\\\\;']);
});
