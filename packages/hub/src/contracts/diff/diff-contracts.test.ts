import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ContractChange,
  type ContractDiff,
  changeKinds,
  type Direction,
  isBreaking,
} from '@polyphony/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../document.ts';
import { diffContracts } from './diff-contracts.ts';

const diff = (before: unknown, after: unknown): ContractDiff =>
  diffContracts(readDocument(before), readDocument(after));
const all = ({ added, removed, changed }: ContractDiff): readonly ContractChange[] => [
  ...added,
  ...removed,
  ...changed,
];
/** Kind and place of each change, with `!` where it breaks somebody. */
const told = (before: unknown, after: unknown): readonly string[] =>
  all(diff(before, after)).map(({ kind, path, breaking }) => `${breaking ? '!' : ''}${kind} ${path}`);

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string' };

describe('what the first of these systems did not see', () => {
  it('is a new required field, other items and fewer values, all of them breaking', () => {
    const before = object({ tags: { type: 'array', items: text }, size: { enum: ['s', 'm', 'l'] } });
    const after = object(
      { tags: { type: 'array', items: { type: 'number' } }, size: { enum: ['s', 'm'] }, id: text },
      { required: ['id'] },
    );
    expect(told(before, after)).toEqual([
      '!required-property-added /properties/id',
      '!type-changed /properties/tags/items',
      '!enum-value-removed /properties/size/enum',
    ]);
    expect(diff(before, after).breaking).toBe(true);
  });

  it('is a value that is no schema', () => {
    for (const [value, why] of [
      [{ type: 42 }, '/type must be of'],
      [{ properties: [] }, '/properties must be an object of schemas'],
      [{ required: 'id' }, '/required must be a list of names'],
      [{ properties: { a: { items: 'x' } } }, '/properties/a/items must be a schema'],
      [{ anyOf: [] }, '/anyOf must not be empty'],
      [{ minLength: -1 }, '/minLength must be a whole number'],
      [{ hello: 'world' }, 'no keyword'],
      [{ swagger: '2.0' }, 'Swagger 2'],
      [{ openapi: '2.1', paths: {} }, 'openapi must be 3.x'],
      [{ openapi: '3.1.0' }, 'neither paths nor components'],
      [
        {
          openapi: '3.0.0',
          paths: { '/a': { get: { responses: { 200: { content: { j: { schema: { type: 1 } } } } } } } },
        },
        '/paths/~1a/get/responses/200/content/j/schema/type',
      ],
      [[], 'must be an object'],
      ['x', 'must be an object'],
    ] as const)
      expect(() => readDocument(value)).toThrow(why);
  });
});

describe('two JSON Schemas', () => {
  it.each<[string, object, object, readonly string[]]>([
    ['order of names', { a: 1, type: 'object' }, { type: 'object', a: 1 }, []],
    ['a new optional property', object({}), object({ a: text }), ['property-added /properties/a']],
    ['a property that is gone', object({ a: text }), object({}), ['!property-removed /properties/a']],
    [
      'one that is refused',
      object({ a: text }),
      object({}, { additionalProperties: false }),
      ['!property-refused /properties/a', '!additional-properties-closed /additionalProperties'],
    ],
    [
      'what is required now',
      object({ a: text }),
      object({ a: text }, { required: ['a'] }),
      ['!became-required /properties/a'],
    ],
    [
      'what is not any more',
      object({ a: text }, { required: ['a'] }),
      object({ a: text }),
      ['!became-optional /properties/a'],
    ],
    [
      'what is required without being described',
      { required: [] },
      { required: ['x'] },
      ['!became-required /required'],
    ],
    ['a type less', { type: ['string', 'null'] }, text, ['!type-narrowed ']],
    ['a type more', text, { type: ['string', 'null'] }, ['!type-widened ']],
    ['integers are numbers', { type: 'integer' }, { type: 'number' }, ['!type-widened ']],
    ['and not all numbers integers', { type: 'number' }, { type: 'integer' }, ['!type-narrowed ']],
    ['nullable is a type', text, { type: 'string', nullable: true }, ['!type-widened ']],
    ['both ways of saying so', { type: 'string', nullable: true }, { anyOf: [text, { type: 'null' }] }, []],
    ['a value more', { enum: [1] }, { enum: [1, 2] }, ['!enum-value-added /enum']],
    ['const is an enum of one', { const: 1 }, { enum: [1] }, []],
    ['values at all', text, { type: 'string', enum: ['a'] }, ['!enum-added /enum']],
    ['no values any more', { type: 'string', enum: ['a'] }, text, ['!enum-removed /enum']],
    [
      'further properties',
      object({}, { additionalProperties: false }),
      object({}),
      ['additional-properties-opened /additionalProperties'],
    ],
    [
      'further properties of another type',
      object({}, { additionalProperties: text }),
      object({}, { additionalProperties: { type: 'number' } }),
      ['!type-changed /additionalProperties'],
    ],
    ['a format', text, { ...text, format: 'uuid' }, ['!format-added /format']],
    ['another format', { format: 'uri' }, { format: 'uuid' }, ['!format-changed /format']],
    ['no format', { format: 'uri' }, {}, ['format-removed /format']],
    ['a pattern', text, { ...text, pattern: '^(a+)+$' }, ['!pattern-added /pattern']],
    ['shorter', { maxLength: 9 }, { maxLength: 5 }, ['!bound-tightened /maxLength']],
    ['longer', { maxLength: 5 }, { maxLength: 9 }, ['bound-loosened /maxLength']],
    ['a least of nothing', {}, { minItems: 0 }, []],
    ['a least', { minimum: 1 }, { minimum: 2 }, ['!bound-tightened /minimum']],
    ['excluded, in both ways', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }, []],
    ['multiples', { multipleOf: 4 }, { multipleOf: 2 }, ['bound-loosened /multipleOf']],
    ['other multiples', { multipleOf: 4 }, { multipleOf: 3 }, ['!bound-changed /multipleOf']],
    [
      'a tuple',
      { prefixItems: [text, text] },
      { prefixItems: [text, { type: 'number' }] },
      ['!type-changed /prefixItems/1'],
    ],
    ['a tuple in the older way', { items: [text] }, { prefixItems: [text] }, []],
    [
      'items that are described now',
      { type: 'array' },
      { type: 'array', items: text },
      ['!type-narrowed /items'],
    ],
    ['nothing allowed', object({ a: true }), object({ a: false }), ['!type-narrowed /properties/a']],
    [
      'patterns of names',
      { patternProperties: { '^x': text } },
      { patternProperties: { '^x': { type: 'number' } } },
      ['!type-changed /patternProperties/^x'],
    ],
    ['what may not be', { not: text }, { not: { type: 'number' } }, ['!keyword-changed /not']],
    ['a condition', { if: text, else: { minLength: 1 } }, { if: text }, ['!keyword-changed /else']],
    [
      'words only',
      { ...text, description: 'a' },
      { ...text, description: 'b' },
      ['annotation-changed /description'],
    ],
    [
      'names with slashes',
      object({ 'a/b~c': text }),
      object({ 'a/b~c': { type: 'number' } }),
      ['!type-changed /properties/a~1b~0c'],
    ],
    [
      'a name every object has',
      object({ constructor: text, __proto__: text }),
      object({ constructor: text }),
      [],
    ],
  ])('differ by %s', (_, before, after, changes) => {
    expect(told(before, after)).toEqual(changes);
  });

  it('are followed through references, also those that lead back', () => {
    const tree = (leaf: object) => ({
      $ref: '#/$defs/node',
      $defs: { node: object({ leaf, children: { type: 'array', items: { $ref: '#/$defs/node' } } }) },
    });
    expect(told(tree(text), tree({ type: 'number' }))).toEqual(['!type-changed /$defs/node/properties/leaf']);
    const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(told(loop, { ...loop, title: 'x' })).toEqual(['annotation-changed /title']);
    const never = { not: { $ref: '#' }, type: 'string' };
    expect(told(never, { ...never, minLength: 2 })).toContain('!bound-tightened /minLength');
  });

  it('see what a reference is moved to, or names elsewhere', () => {
    const inline = object({ a: object({ b: text }) });
    const moved = { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: object({ b: text }) } };
    expect(told(inline, moved)).toEqual([]);
    const anchored = {
      ...object({ a: { $ref: '#here' } }),
      $defs: { a: { $anchor: 'here', ...object({ b: text }) } },
    };
    expect(told(inline, anchored)).toEqual([]);
    expect(told({ $ref: 'http://x/a' }, { $ref: 'http://x/b' })).toEqual(['!keyword-changed /$ref']);
  });

  it('are the same whether said at once or in parts', () => {
    const whole = object({ a: text, b: { type: 'number' } }, { required: ['a'] });
    const parts = {
      allOf: [object({ a: text }, { required: ['a'] }), { $ref: '#/$defs/b' }],
      $defs: { b: object({ b: { type: 'number' } }) },
    };
    expect(told(whole, parts)).toEqual([]);
    expect(told(parts, object({ a: text }))).toEqual([
      '!property-removed /$defs/b/properties/b',
      '!became-optional /properties/a',
    ]);
  });

  it('match variants by reference, title, equality and then by place', () => {
    const defs = { $defs: { cat: object({ m: text }), dog: object({ w: text }) } };
    const one = { oneOf: [{ $ref: '#/$defs/cat' }, { $ref: '#/$defs/dog' }], ...defs };
    const turned = { oneOf: [{ $ref: '#/$defs/dog' }, { $ref: '#/$defs/cat' }], ...defs };
    expect(told(one, turned)).toEqual([]);
    expect(told(one, { oneOf: [{ $ref: '#/$defs/dog' }], ...defs })).toEqual(['!variant-removed /oneOf/0']);
    const titled = (a: object, b: object) => ({
      anyOf: [
        { title: 'A', ...a },
        { title: 'B', ...b },
      ],
    });
    expect(told(titled(text, { type: 'number' }), titled(text, { type: 'boolean' }))).toEqual([
      '!type-changed /anyOf/1',
    ]);
    expect(
      told({ anyOf: [text, { type: 'number' }] }, { anyOf: [text, { type: 'number' }, { type: 'boolean' }] }),
    ).toEqual(['!variant-added /anyOf/2']);
    expect(told({ anyOf: [{ minLength: 1 }] }, { anyOf: [{ minLength: 2 }] })).toEqual([
      '!bound-tightened /anyOf/0/minLength',
    ]);
    expect(told(object({ a: text }), { oneOf: [object({ a: text }), { type: 'number' }] })).toEqual([
      '!variant-added /oneOf/1',
    ]);
  });

  it('are compared by name where they only hold others', () => {
    const library = (defs: object) => ({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: defs,
    });
    expect(told(library({ a: text, b: text }), library({ a: { type: 'number' }, c: text }))).toEqual([
      'schema-added /$defs/c',
      '!schema-removed /$defs/b',
      '!type-changed /$defs/a',
    ]);
  });

  it('say each change as a sentence, with what was and what is', () => {
    expect(diff(object({ id: text }), object({ id: { type: 'integer' } })).changed).toEqual([
      {
        path: '/properties/id',
        kind: 'type-changed',
        breaking: true,
        before: 'string',
        after: 'integer',
        message: 'the type was string and is integer',
      },
    ]);
  });
});

describe('two OpenAPI documents', () => {
  const api = (paths: object, components: object = {}) => ({
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths,
    components,
  });
  const answer = (schema: object, type = 'application/json') => ({
    responses: { 200: { description: 'ok', content: { [type]: { schema } } } },
  });
  const asking = (schema: object, required = true) => ({
    requestBody: { required, content: { 'application/json': { schema } } },
    responses: {},
  });

  it.each<[string, object, object, readonly string[]]>([
    ['a path', {}, { '/a': {} }, ['path-added /paths/~1a']],
    ['no path', { '/a': {} }, {}, ['!path-removed /paths/~1a']],
    ['a method', { '/a': {} }, { '/a': { get: {} } }, ['operation-added /paths/~1a/get']],
    ['no method', { '/a': { get: {} } }, { '/a': {} }, ['!operation-removed /paths/~1a/get']],
    [
      'a parameter',
      { '/a': { get: {} } },
      { '/a': { get: { parameters: [{ name: 'q', in: 'query' }] } } },
      ['parameter-added /paths/~1a/get/parameters/0'],
    ],
    [
      'one that is needed',
      { '/a': { get: {} } },
      { '/a': { parameters: [{ name: 'q', in: 'query', required: true }], get: {} } },
      ['!required-parameter-added /paths/~1a/parameters/0'],
    ],
    [
      'one that is gone',
      { '/a': { get: { parameters: [{ name: 'q', in: 'query' }] } } },
      { '/a': { get: {} } },
      ['!parameter-removed /paths/~1a/get/parameters/0'],
    ],
    [
      'what a parameter may be',
      { '/a': { get: { parameters: [{ name: 'q', in: 'query', schema: { enum: ['a'] } }] } } },
      { '/a': { get: { parameters: [{ name: 'q', in: 'query', schema: { enum: ['a', 'b'] } }] } } },
      ['enum-value-added /paths/~1a/get/parameters/0/schema/enum'],
    ],
    [
      'more values to read',
      { '/a': { get: answer({ enum: ['a'] }) } },
      { '/a': { get: answer({ enum: ['a', 'b'] }) } },
      ['!enum-value-added /paths/~1a/get/responses/200/content/application~1json/schema/enum'],
    ],
    [
      'fewer values to read',
      { '/a': { get: answer({ enum: ['a', 'b'] }) } },
      { '/a': { get: answer({ enum: ['a'] }) } },
      ['enum-value-removed /paths/~1a/get/responses/200/content/application~1json/schema/enum'],
    ],
    [
      'more to read',
      { '/a': { get: answer(object({})) } },
      { '/a': { get: answer(object({ a: text }, { required: ['a'] })) } },
      ['required-property-added /paths/~1a/get/responses/200/content/application~1json/schema/properties/a'],
    ],
    [
      'more to write',
      { '/a': { post: asking(object({})) } },
      { '/a': { post: asking(object({ a: text }, { required: ['a'] })) } },
      ['!required-property-added /paths/~1a/post/requestBody/content/application~1json/schema/properties/a'],
    ],
    [
      'a body that is needed',
      { '/a': { post: asking(text, false) } },
      { '/a': { post: asking(text) } },
      ['!request-body-became-required /paths/~1a/post/requestBody'],
    ],
    [
      'no body',
      { '/a': { post: asking(text) } },
      { '/a': { post: { responses: {} } } },
      ['!request-body-removed /paths/~1a/post/requestBody'],
    ],
    [
      'another type of answer',
      { '/a': { get: answer(text) } },
      { '/a': { get: answer(text, 'text/plain') } },
      [
        'media-type-added /paths/~1a/get/responses/200/content/text~1plain',
        '!media-type-removed /paths/~1a/get/responses/200/content/application~1json',
      ],
    ],
    [
      'no answer',
      { '/a': { get: answer(text) } },
      { '/a': { get: { responses: {} } } },
      ['!response-removed /paths/~1a/get/responses/200'],
    ],
    [
      'who may',
      { '/a': { get: {} } },
      { '/a': { get: { security: [{ key: [] }] } } },
      ['!keyword-changed /paths/~1a/get/security'],
    ],
  ])('differ by %s', (_, before, after, changes) => {
    expect(told(api(before), api(after))).toEqual(changes);
  });

  it('tell a shared schema once, and as breaking when it breaks either side', () => {
    const pet = (schema: object) =>
      api(
        {
          '/pets': {
            get: answer({ $ref: '#/components/schemas/Pet' }),
            post: asking({ $ref: '#/components/schemas/Pet' }),
          },
        },
        { schemas: { Pet: schema, Unused: schema } },
      );
    expect(
      told(pet(object({ kind: { enum: ['cat', 'dog'] } })), pet(object({ kind: { enum: ['cat'] } }))),
    ).toEqual(['!enum-value-removed /components/schemas/Pet/properties/kind/enum']);
    const reading = (schema: object) =>
      api(
        { '/pets': { get: { responses: { 200: { $ref: '#/components/responses/Pets' } } } } },
        { responses: { Pets: { content: { 'application/json': { schema } } } } },
      );
    expect(told(reading(object({})), reading(object({ a: text }, { required: ['a'] })))).toEqual([
      'required-property-added /components/responses/Pets/content/application~1json/schema/properties/a',
    ]);
  });

  it('are compared as schemas where they have only components', () => {
    const only = (schemas: object) => ({ openapi: '3.0.3', components: { schemas } });
    expect(told(only({ A: text, B: text }), only({ A: { type: 'number' } }))).toEqual([
      '!schema-removed /components/schemas/B',
      '!type-changed /components/schemas/A',
    ]);
  });

  it('are no JSON Schemas', () => {
    expect(told(api({}), text)).toEqual(['!format-of-document-changed ']);
  });
});

describe('any two documents', () => {
  const word = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'x/y', '');
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom('string', 'object', 'array', 'integer', 'null'),
            fc.constant(['object', 'null']),
          ),
          enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
          const: fc.jsonValue({ maxDepth: 1 }),
          $ref: fc.constantFrom(
            '#',
            '#/$defs/a',
            '#/$defs/b',
            '#/properties/a',
            '#/%',
            'http://x',
            '#/allOf/0',
          ),
          properties: fc.dictionary(word, tie('schema'), { maxKeys: 3 }),
          $defs: fc.dictionary(word, tie('schema'), { maxKeys: 2 }),
          required: fc.array(word, { maxLength: 2 }),
          additionalProperties: tie('schema'),
          items: tie('schema'),
          prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
          allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          not: tie('schema'),
          nullable: fc.boolean(),
          minLength: fc.nat(5),
          multipleOf: fc.constantFrom(1, 2, 3, 0.1),
          title: word,
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const rooted = schema
    .map((value) => (typeof value === 'object' ? value : {}))
    .filter((value) => {
      try {
        return readDocument(value) !== undefined;
      } catch {
        return false;
      }
    });

  it('do not differ from themselves, whatever the order of their names', () => {
    const turned = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(turned)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([name, one]) => [name, turned(one)]),
            )
          : value;
    fc.assert(
      fc.property(rooted, (value) => {
        expect(all(diff(value, turned(value)))).toEqual([]);
      }),
    );
  });

  it('do not differ where only their words do', () => {
    fc.assert(
      fc.property(rooted, (value) => {
        const found = all(diff(value, { ...value, description: 'x' }));
        expect(found.filter(({ kind }) => kind !== 'annotation-changed')).toEqual([]);
      }),
    );
  });

  it('are compared to an end, each change with a place and a sentence', () => {
    fc.assert(
      fc.property(rooted, rooted, (before, after) => {
        const found = diff(before, after);
        for (const { path, message, kind } of all(found)) {
          expect(path).toMatch(/^(\/|$)/);
          expect(message).not.toBe('');
          expect(changeKinds).toHaveProperty(kind);
        }
        expect(found.breaking).toBe(all(found).some(({ breaking }) => breaking));
      }),
      { numRuns: 100 },
    );
  });

  it('may be any JSON: what is no contract is refused and nothing else happens', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        const read = [before, after].flatMap((value) => {
          try {
            return [readDocument(value)];
          } catch (error) {
            expect(String(error)).toMatch(/that is no/);
            return [];
          }
        });
        if (read[0] && read[1]) expect(diffContracts(read[0], read[1])).toHaveProperty('breaking');
      }),
    );
  });

  it('may be made to be endless: so much is compared and no more, and that is told as breaking', () => {
    const deep = (type: string) =>
      Array.from({ length: 60 }).reduce<object>((inner) => ({ items: inner }), { type });
    expect(told(deep('string'), deep('number')).at(-1)).toMatch(/^!type-changed \/items/);
    const many = (type: string) =>
      object(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type }])));
    expect(all(diff(many('string'), many('number'))).length).toBeLessThanOrEqual(501);
    expect(told(many('string'), many('number'))).toContainEqual(expect.stringMatching(/^!limit-reached/));
    /** Every one refers to every other, in both halves of `allOf`: 2^n ways. */
    const web = (type: string) => ({
      $ref: '#/$defs/n0',
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [
          `n${i}`,
          i === 39
            ? { type }
            : {
                anyOf: [
                  { allOf: [{ $ref: `#/$defs/n${i + 1}` }, { $ref: `#/$defs/n${i + 1}` }] },
                  { not: { $ref: `#/$defs/n${i + 1}` } },
                  object({ a: { $ref: `#/$defs/n${i + 1}` }, b: { $ref: `#/$defs/n${i + 1}` } }),
                ],
              },
        ]),
      ),
    });
    expect(diff(web('string'), web('number')).breaking).toBe(true);
  });

  it('may have thousands of variants where the other has thousands of names: each is looked at once', () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);
    const variants = {
      oneOf: names(3000).map((name) => object({ k: { const: name } }, { required: ['k'] })),
    };
    const properties = object(Object.fromEntries(names(15_000).map((name) => [name, text])));
    expect(diff(variants, properties).breaking).toBe(true);
    expect(diff({ oneOf: names(5000).map(() => ({})) }, { required: names(5000) }).breaking).toBe(true);
  });

  it('may refer along a chain that everything begins with', () => {
    const names = Array.from({ length: 4000 }, (_, i) => `d${i}`);
    const chain = Object.fromEntries(names.map((name, i) => [name, { $ref: `#/$defs/d${i + 1}` }]));
    const document = (end: object) => ({
      ...object(Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/d0' }]))),
      $defs: { ...chain, d4000: end },
    });
    expect(told(document(text), document({ type: 'number' }))).toEqual(['!type-changed /$defs/d4000']);
  });

  it('may have a property that is called like one that is missing, with a question mark', () => {
    const closed = (type: string) => object({ 'a?': { type } }, { patternProperties: { '^a$': text } });
    expect(told(object({ a: text, ...closed('string').properties }), closed('number'))).toContain(
      '!type-changed /properties/a?',
    );
  });
});

it('is described kind by kind', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../../docs/work.md'), 'utf8');
  const row = ([kind, breaks]: readonly [string, readonly boolean[]]) =>
    `| \`${kind}\` | ${breaks.map((one) => (one ? 'yes' : 'no')).join(' | ')} |\n`;
  expect(page).toContain(Object.entries(changeKinds).map(row).join(''));
});

it('knows of every kind whom it breaks, and takes the unknown direction for at least as bad as a new duty', () => {
  const breaks = (direction: Direction) =>
    Object.keys(changeKinds).filter((kind) => isBreaking(kind as never, direction));
  expect(breaks('unknown')).toEqual(expect.arrayContaining(breaks('request')));
});
