import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TmuxError } from '../errors.ts';
import { showEnvironment } from './show-environment.ts';

function read(stdout: string): Readonly<Record<string, string | null>> {
  return showEnvironment.spec.result.read(
    { status: 'complete', stdout, stderr: '' },
    { params: {}, guard: '' },
  ).variables;
}

/** As tmux writes a variable for shells. */
function statement(name: string, value: string | null): string {
  if (value === null) return `unset ${name};\n`;
  return `${name}="${value.replace(/["$`\\]/g, '\\$&')}"; export ${name};\n`;
}

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]*$/);
const value = fc.option(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '$', '`', '\n', ';', ' ', '=', 'é', '0', '1') }),
);

test('any value is read back as it was set, also with quotes, newlines and the words of tmux in it', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (variables) => {
      const printed = Object.entries(variables).map(([key, text]) => statement(key, text));
      expect(read(printed.join(''))).toEqual(variables);
    }),
  );
});

test('a value cannot pass for another variable', () => {
  const forged = 'x"; export A;\nB="y';
  expect(read(statement('A', forged))).toEqual({ A: forged });
});

test('the octal escapes of tmux 3.4 and 3.5 and the second backslash of 3.4 are undone', () => {
  expect(read('A="\\033[1m\\\\033"; export A;\n')).toEqual({ A: '\u001b[1m\\033' });
  expect(read('A="\\302\\205é"; export A;\n')).toEqual({ A: '\u0085é' });
  expect(read('A="\\\\$HOME"; export A;\n')).toEqual({ A: '$HOME' });
  expect(read('A="\\\\\\\\$HOME"; export A;\n')).toEqual({ A: '\\$HOME' });
});

test('a variable that is not set is an answer, and any other failure is not', () => {
  const { answersFailure } = showEnvironment.spec.result;
  expect(answersFailure?.({ status: 'failed', stdout: '', stderr: 'unknown variable: NONE\n' })).toBe(true);
  expect(answersFailure?.({ status: 'failed', stdout: '', stderr: "can't find session: x\n" })).toBe(false);
  expect(read('')).toEqual({});
});

test('what cannot be read is an error, not a variable less', () => {
  expect(() => read('A=1\n')).toThrow(TmuxError);
});
