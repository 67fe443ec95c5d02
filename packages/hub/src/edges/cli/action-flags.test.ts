import { describe, expect, it } from 'vitest';
import { flagsOf } from './action-flags.ts';
import { builtInActions } from './build.ts';
import { globalFlags, parse } from './parse.ts';

function paramsOf(action: string, ...words: string[]): unknown {
  const schema = builtInActions().find(({ name }) => name === action)?.params ?? {};
  return parse(words, { ...flagsOf(schema), ...globalFlags }, { spelledSwitches: true }).flags;
}

const exotic = {
  type: 'object',
  properties: {
    ratio: { type: 'number' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    any: {},
    counts: { type: 'array', items: { type: 'integer' } },
    sizes: { type: 'object', additionalProperties: { type: 'number' } },
    nested: { type: 'object', properties: { a: { type: 'string' } } },
    kind: { enum: ['a', 'b'] },
  },
};

describe('the flags of an action', () => {
  it('are coerced by its schema: numbers, switches, lists and records', () => {
    expect(
      paramsOf(
        'pane:new',
        '--argv',
        'ls',
        '--argv',
        '-la',
        '--cols',
        '80',
        '--persist',
        '--env',
        'A=1',
        '--meta',
        'n=7',
      ),
    ).toEqual({ argv: ['ls', '-la'], cols: 80, persist: true, env: { A: '1' }, meta: { n: '7' } });
  });

  it('take true and false as words behind a switch', () => {
    expect(paramsOf('pane:close', '--cleanup', 'false', '--paneId', 'x')).toEqual({
      cleanup: false,
      paneId: 'x',
    });
    expect(paramsOf('pane:close', '--no-cleanup', '--paneId', 'x')).toEqual({ cleanup: false, paneId: 'x' });
  });

  it('take what may be any JSON value as a string', () => {
    expect(paramsOf('pane:set-meta', '--paneId', 'x', '--key', 'k', '--value', '7')).toEqual({
      paneId: 'x',
      key: 'k',
      value: '7',
    });
  });

  it('name what is missing', () => {
    expect(() => paramsOf('pane:set-meta', '--key', 'k')).toThrow('--paneId and --value are missing.');
  });

  it('follow schemas an extension may have', () => {
    const flags = { ...flagsOf(exotic), ...globalFlags };
    const read = (...words: string[]) => parse(words, flags).flags;
    expect(
      read(
        '--ratio',
        '0.5',
        '--maybe',
        '3',
        '--any',
        '{}',
        '--counts',
        '1',
        '--counts',
        '2',
        '--sizes',
        'a=2',
        '--kind',
        'b',
      ),
    ).toEqual({ ratio: 0.5, maybe: 3, any: '{}', counts: [1, 2], sizes: { a: 2 }, kind: 'b' });
    expect(() => read('--counts', 'x')).toThrow('--counts takes a whole number, not "x".');
    expect(() => read('--nested', '{}')).toThrow('--nested cannot be said in a flag.');
  });

  it('exist for every built-in action', () => {
    expect(builtInActions().length).toBeGreaterThan(20);
    for (const { params } of builtInActions()) expect(() => flagsOf(params)).not.toThrow();
  });
});
