import { PolyError } from '@polyphony/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairs, text, toggle, wholeNumber } from './flag.ts';
import { globalFlags, parse } from './parse.ts';

const flags = {
  tail: wholeNumber('Lines.'),
  name: text('A name.'),
  wide: wholeNumber('Columns.', { least: 1, most: 1000 }),
  env: pairs('A variable.'),
  'ignore-case': toggle('Case.', { short: 'i' }),
  ...globalFlags,
};
const read = (...words: string[]) => parse(words, flags);
const refusal = (...words: string[]): PolyError => {
  try {
    read(...words);
  } catch (error) {
    if (error instanceof PolyError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('the words of a command line', () => {
  it('become typed values, wherever flags stand among the arguments', () => {
    expect(read('a', '--tail', '5', 'b', '--name=x y', '-i')).toEqual({
      flags: { tail: 5, name: 'x y', 'ignore-case': true },
      args: ['a', 'b'],
      rest: undefined,
    });
  });

  it('leave what stands behind two dashes as it is', () => {
    expect(read('--json', '--', '--tail', '-x')).toEqual({
      flags: { json: true },
      args: [],
      rest: ['--tail', '-x'],
    });
  });

  it('may give a value that looks like a flag', () => {
    expect(read('--name', '--help').flags).toEqual({ name: '--help' });
  });

  it('collect a repeated flag into a record, and keep an "=" of the value', () => {
    expect(read('--env', 'A=1', '--env', 'B=x=y', '--env', 'C=').flags).toEqual({
      env: { A: '1', B: 'x=y', C: '' },
    });
  });

  it('tell how a program gets a flag that is its own', () => {
    const words = ['--name', 'x', 'ls', '-la', 'a b'];
    expect(() => parse(words, flags, { program: 'run' })).toThrow(
      expect.objectContaining({
        hint: "To give it to the program: poly run --name x -- ls -la 'a b'",
      }),
    );
  });

  it('switch something off with --no-', () => {
    expect(read('--no-ignore-case').flags).toEqual({ 'ignore-case': false });
  });

  it.each([
    [['--tial', '3'], 'there is no flag --tial.', 'Did you mean --tail?'],
    [['--zzzzzz'], 'there is no flag --zzzzzz.', 'There is --tail, --name, --wide'],
    [['--tail', 'many'], '--tail takes a whole number, not "many".', ''],
    [['--tail', '1.5'], '--tail takes a whole number, not "1.5".', ''],
    [['--tail', ''], '--tail takes a whole number, not "".', ''],
    [['--tail'], '--tail needs a value: --tail N', ''],
    [['--tail', '1', '--tail', '2'], '--tail is given twice.', ''],
    [['--env', 'A'], '--env takes a name and a value, K=V, not "A".', ''],
    [['--name', '--', 'sh'], '--name needs a value: --name TEXT', ''],
    [['--wide', '0'], '--wide must be 1 to 1000, not 0.', ''],
    [['--tail', '-1'], '--tail must be 0 or more, not -1.', ''],
    [['--json=maybe'], '--json is true or false, not "maybe".', ''],
    [['--no-name'], 'there is no flag --no-name.', ''],
  ])('are refused when they are wrong: %j', (words, message, hint) => {
    const error = refusal(...words);
    expect(error.code).toBe('invalid_arguments');
    expect(error.message).toBe(message);
    expect(error.hint ?? '').toContain(hint);
  });

  it('keep every argument in its order, whatever it says', () => {
    const word = fc.string().filter((one) => !one.startsWith('-'));
    fc.assert(
      fc.property(fc.array(word), fc.array(fc.string()), (before, behind) => {
        const parsed = read(...before, '--', ...behind);
        expect(parsed.args).toEqual(before);
        expect(parsed.rest).toEqual(behind);
      }),
    );
  });
});
