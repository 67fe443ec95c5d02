import fc from 'fast-check';
import * as jsonc from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { cutAt, jsonEditor, putAt } from './edit-json.ts';

const entry = { command: 'poly', args: ['mcp'] };
const put = (text: string) => jsonEditor.put(text, 'mcpServers', 'poly', entry);
const cut = (text: string) => jsonEditor.cut(text, 'mcpServers', 'poly', true);

/** Space and comments as people leave them between tokens, and how a value is laid out with them. */
const space = fc.constantFrom(
  '',
  '',
  '',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\n  ',
  ' // poly, { "a" ]\n',
  '/* } */',
  '\n\n/* x\n*/ ',
);
const key = fc.oneof(fc.constantFrom('mcpServers', 'poly', 'a', '__proto__', 'b"\\\n'), fc.string());

const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('null', 'true', '-1.5e3', '"}"', '"//"', '""'),
    tie('object'),
    fc.tuple(fc.array(fc.tuple(space, tie('value'), space)), fc.boolean(), space).map(
      ([items, comma, end]) =>
        `[${joined(
          items.map((item) => item.join('')),
          comma,
        )}${end}]`,
    ),
  ),
  object: objectOf(tie('value')),
}));

function objectOf(inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const property = fc
    .tuple(space, key, space, space, inner, space)
    .map(([before, name, a, b, held, after]) => `${before}${JSON.stringify(name)}${a}:${b}${held}${after}`);
  return fc
    .tuple(fc.array(property, { maxLength: 5 }), fc.boolean(), space)
    .map(([properties, comma, end]) => `{${joined(properties, comma)}${end}}`);
}

const joined = (items: readonly string[], comma: boolean): string =>
  items.join(',') + (comma && items.length > 0 ? ',' : '');

/** A file whose table, if it has one, is a table. */
const file = fc
  .tuple(
    space,
    fc.array(fc.tuple(space, fc.string(), space, value)),
    fc.option(objectOf(value)),
    fc.boolean(),
    space,
  )
  .map(([before, others, table, comma, after]) => {
    const properties = others
      .filter(([, name]) => name !== 'mcpServers')
      .map(([a, name, b, held]) => `${a}${JSON.stringify(name)}:${b}${held}`);
    if (table !== null) properties.splice(properties.length / 2, 0, `"mcpServers":${table}`);
    return `${before}{${joined(properties, comma)}${after}}${before}`;
  });

function comments(text: string): readonly string[] {
  const scanner = jsonc.createScanner(text);
  const found: string[] = [];
  for (let kind = scanner.scan(); kind !== jsonc.SyntaxKind.EOF; kind = scanner.scan())
    if (kind === jsonc.SyntaxKind.LineCommentTrivia || kind === jsonc.SyntaxKind.BlockCommentTrivia)
      found.push(text.slice(scanner.getTokenOffset(), scanner.getPosition()));
  return found;
}

describe('an entry in JSON with comments', () => {
  it('is added to whatever stands there, which says the same as before and keeps its comments', () => {
    fc.assert(
      fc.property(file, (text) => {
        const { mcpServers = {}, ...others } = jsonEditor.read(text) as Record<string, object>;
        const made = put(text);
        const held = { ...mcpServers, poly: entry };
        expect(jsonEditor.read(made)).toEqual({ ...others, mcpServers: held });
        if (!Object.hasOwn(mcpServers, 'poly')) expect(comments(made)).toEqual(comments(text));
      }),
      { numRuns: 300 },
    );
  });

  it('is taken out again, and nothing else with it', () => {
    fc.assert(
      fc.property(file, (text) => {
        const { mcpServers = {}, ...others } = jsonEditor.read(text) as Record<string, object>;
        fc.pre(!Object.hasOwn(mcpServers, 'poly'));
        const { mcpServers: left = {}, ...rest } = jsonEditor.read(cut(put(text)));
        expect([left, rest]).toEqual([mcpServers, others]);
        expect(comments(cut(put(text)))).toEqual(comments(text));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    [
      '{}',
      '{\n  "mcpServers": {\n    "poly": {\n      "command": "poly",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}',
    ],
    ['{"a":1}', '{"a":1,"mcpServers":{"poly":{"command":"poly","args":["mcp"]}}}'],
    ['{"mcpServers":{}}', '{"mcpServers":{"poly":{"command":"poly","args":["mcp"]}}}'],
    [
      '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t},\r\n}\r\n',
      '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t\t"poly": {\r\n\t\t\t"command": "poly",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t},\r\n\t},\r\n}\r\n',
    ],
  ])('is written as the rest of %j is', (text, made) => {
    expect(put(text)).toBe(made);
    if (text !== '{"mcpServers":{}}') expect(cut(made)).toBe(text);
  });

  it('keeps the comments inside it when it changes', () => {
    const text =
      '{ "mcpServers": {\n  "poly": {\n    // found on PATH\n    "command": "/poly", // once\n  }\n} }';
    expect(put(text)).toBe(
      '{ "mcpServers": {\n  "poly": {\n    // found on PATH\n    "command": "poly", // once\n    "args": [\n      "mcp"\n    ],\n  }\n} }',
    );
  });

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 'comma expected', 3, 3],
    ['{ "a": }', 'value expected', 1, 8],
    ['[]', 'an object is expected', 1, 1],
  ])('refuses %j by its place', (text, message, line, column) => {
    expect(() => jsonEditor.read(text)).toThrow(expect.objectContaining({ message, line, column }));
  });
});

describe('an item of a list in JSON with comments', () => {
  const list = fc.tuple(
    fc.array(fc.tuple(space, value, space).map((item) => item.join(''))),
    fc.boolean(),
    space,
  );

  it('is put behind the others and taken out again, and nothing else with it', () => {
    fc.assert(
      fc.property(list, space, ([items, comma, end], before) => {
        const text = `${before}{ "a": {"b":${before}[${joined(items, comma)}${end}]}${before}}`;
        const { a } = jsonEditor.read(text) as { a: { b: readonly unknown[] } };
        const made = putAt(text, ['a', 'b', a.b.length], entry);
        expect(jsonEditor.read(made)).toEqual({ a: { b: [...a.b, entry] } });
        expect(comments(made)).toEqual(comments(text));
        const left = cutAt(made, ['a', 'b', a.b.length]);
        expect(jsonEditor.read(left)).toEqual({ a });
        expect(comments(left)).toEqual(comments(text));
      }),
      { numRuns: 300 },
    );
  });

  it('brings the list and what holds it along', () => {
    expect(putAt('{"x":1}', ['a', 'b', 0], entry)).toBe(
      '{"x":1,"a":{"b":[{"command":"poly","args":["mcp"]}]}}',
    );
  });
});
