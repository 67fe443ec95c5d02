import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tomlEditor } from './edit-toml.ts';

const entry = { command: '/a "b"\\\x7f/poly', args: ['mcp', '--safety', 'readonly'], timeout: 300 };
const put = (text: string, made: Readonly<Record<string, unknown>> = entry) =>
  tomlEditor.put(text, 'mcp_servers', 'poly', made);
const cut = (text: string) => tomlEditor.cut(text, 'mcp_servers', 'poly', true);

const value = fc.constantFrom(
  '1',
  '9007199254740993',
  '-inf',
  '1979-05-27T07:32:00Z',
  '"a # [b] \\" c"',
  "'[mcp_servers.poly]'",
  '"""\n[mcp_servers.poly]\ncommand = 1 \\""" """"',
  "'''\n[x]\n'' #'''",
  '[ # [\n  1, 2,\n] # ]',
  '{ a = "}", b.c = [1] }',
  '[[1], ["[y]"]]',
);
const end = fc.constantFrom('', ' ', ' # [mcp_servers.poly]', '\t#');
const between = fc.constantFrom('', '', '\n', '# mcp_servers.poly\n', '  \n\n');
const part = fc.constantFrom('a', 'b-1', '"c d"', "'e.f'", '"\\u0041"', 'mcp_servers', '"poly x"');

interface Piece {
  readonly isHeader: boolean;
  readonly key: readonly string[];
  readonly value: string;
  readonly end: string;
  readonly between: string;
}

const piece: fc.Arbitrary<Piece> = fc.record({
  isHeader: fc.boolean(),
  key: fc.array(part, { minLength: 1, maxLength: 3 }),
  ...{ value, end, between },
});

/** Statements one after the other, without those that would make the text no TOML. */
const file = fc
  .tuple(fc.array(piece, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([pieces, eol, cutShort]) => {
    let text = '';
    for (const { isHeader, key, value: held, end: comment, between: gap } of pieces) {
      const statement = isHeader ? `[ ${key.join(' . ')} ]` : `${key.join('.')} = ${held}`;
      const longer = `${text}${gap}${statement}${comment}\n`;
      try {
        // Nothing but a table may bear the name of ours.
        const { mcp_servers: table = {} } = tomlEditor.read(longer);
        tomlEditor.read(`${longer}\n[mcp_servers.poly]\n`);
        if (!Object.hasOwn(table as object, 'poly')) text = longer;
      } catch {
        // It does not fit behind the others.
      }
    }
    const whole = text.replaceAll('\n', eol);
    return cutShort ? whole.replace(/\r?\n$/, '') : whole;
  });

describe('an entry in TOML', () => {
  it('is added to whatever stands there, of which no byte changes', () => {
    fc.assert(
      fc.property(file, (text) => {
        const data = tomlEditor.read(text);
        const made = put(text);
        expect(tomlEditor.read(made)).toEqual({
          ...data,
          mcp_servers: { ...(data.mcp_servers as object), poly: entry },
        });
        expect(made.startsWith(text)).toBe(true);
        expect(/\r\n/.test(text) && /[^\r]\n/.test(made)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it('is changed where it stands, with others behind it, and taken out again', () => {
    fc.assert(
      fc.property(file, fc.constantFrom('', '\n[z]\nkey = 1\n', '# last'), (text, behind) => {
        const made = put(text) + behind;
        const data = tomlEditor.read(made);
        const { mcp_servers: servers } = data;
        const other = { ...entry, args: ['mcp'] };
        const changed = put(made, other);
        expect(tomlEditor.read(changed)).toEqual({
          ...data,
          mcp_servers: { ...(servers as object), poly: other },
        });
        const closed =
          text === '' || text.endsWith('\n') ? text : `${text}${text.includes('\r') ? '\r\n' : '\n'}`;
        const left = cut(changed);
        if (behind === '' && !/\n\r?\n$/.test(closed)) expect(left).toBe(closed);
        const { poly: _, ...others } = servers as Record<string, unknown>;
        expect(tomlEditor.read(left)).toEqual({
          ...data,
          mcp_servers: tomlEditor.read(text).mcp_servers === undefined ? undefined : others,
        });
      }),
      { numRuns: 200 },
    );
  });

  it('keeps the comments inside it when it changes', () => {
    const text =
      '[mcp_servers.poly] # ours\n# why\ncommand = "poly" # found on PATH\nargs = [\n  "mcp", # first\n]\n[b]\n';
    expect(put(text, { command: '/poly', args: ['mcp'], enabled: true })).toBe(
      '[mcp_servers.poly] # ours\nenabled = true\n# why\ncommand = "/poly" # found on PATH\nargs = ["mcp"]\n[b]\n',
    );
    expect(cut(text)).toBe('# why\n[b]\n');
  });

  it('takes the place of one that is written in another way', () => {
    expect(tomlEditor.read(put('[mcp_servers]\npoly = { command = "x" }\nb = { command = "y" }\n'))).toEqual({
      mcp_servers: { poly: entry, b: { command: 'y' } },
    });
    expect(tomlEditor.read(put('[mcp_servers.poly.env]\nA = "1"\n[mcp_servers.poly]\nurl = "x"\n'))).toEqual({
      mcp_servers: { poly: entry },
    });
  });

  it('is refused by its place where the text is no TOML', () => {
    expect(() => tomlEditor.read('a = 1\nb = \n')).toThrow(expect.objectContaining({ line: 2 }));
  });
});

it('writes a table in a table of tables, under a name that needs quotes', () => {
  const before = '# mine\n[hooks.state."/other:stop:0:0"]\ntrusted_hash = "x"\n';
  const made = tomlEditor.put(before, 'hooks.state', '/a "b"/c:stop:0:0', { trusted_hash: 'y' });
  expect(made).toBe(`${before}\n[hooks.state."/a \\"b\\"/c:stop:0:0"]\ntrusted_hash = "y"\n`);
  const renewed = tomlEditor.put(made, 'hooks.state', '/a "b"/c:stop:0:0', { trusted_hash: 'z' });
  expect(renewed).toBe(made.replace('"y"', '"z"'));
  expect(tomlEditor.cut(renewed, 'hooks.state', '/a "b"/c:stop:0:0', true)).toBe(before);
});
