import { below, isObject, type JsonObject } from './json.ts';

/** Says what is wrong with the value of a keyword, or nothing; what lies below is checked by `deeper`. */
type Check = (
  value: unknown,
  deeper: (value: unknown, ...names: (string | number)[]) => void,
) => string | undefined;

const types = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isName = (value: unknown): boolean => typeof value === 'string';
const that =
  (holds: (value: unknown) => boolean, must: string): Check =>
  (value) =>
    holds(value) ? undefined : must;

const text = that(isName, 'must be text');
const flag = that((value) => typeof value === 'boolean', 'must be true or false');
const count = that(isCount, 'must be a whole number, 0 or more');
const number = that((value) => typeof value === 'number', 'must be a number');
const names = that((value) => Array.isArray(value) && value.every(isName), 'must be a list of names');
const bound = that((value) => ['number', 'boolean'].includes(typeof value), 'must be a number');

const schema: Check = (value, deeper) => {
  deeper(value);
  return undefined;
};
const schemas: Check = (value, deeper) => {
  if (!Array.isArray(value)) return 'must be a list of schemas';
  for (const [index, one] of value.entries()) deeper(one, index);
  return undefined;
};
const someSchemas: Check = (value, deeper) =>
  Array.isArray(value) && value.length === 0 ? 'must not be empty' : schemas(value, deeper);
const namedSchemas: Check = (value, deeper) => {
  if (!isObject(value)) return 'must be an object of schemas';
  for (const [name, one] of Object.entries(value)) deeper(one, name);
  return undefined;
};
const type: Check = (value) => {
  const given = Array.isArray(value) ? value : [value];
  const known = given.length > 0 && given.every((one) => types.includes(one as string));
  return known ? undefined : `must be of ${types.join(', ')}`;
};

/** The keywords of JSON Schema, of every draft and of OpenAPI, and what each holds. */
const keywords: Readonly<Record<string, Check>> = {
  ...{ $schema: text, $id: text, id: text, $ref: text, $anchor: text, $comment: text, $dynamicRef: text },
  ...{ $dynamicAnchor: text, $defs: namedSchemas, definitions: namedSchemas, $vocabulary: () => undefined },
  ...{ type, nullable: flag, enum: that(Array.isArray, 'must be a list'), const: () => undefined },
  ...{ properties: namedSchemas, patternProperties: namedSchemas, required: names },
  ...{ additionalProperties: schema, propertyNames: schema, minProperties: count, maxProperties: count },
  ...{ dependentRequired: that(isObject, 'must be an object'), dependentSchemas: namedSchemas },
  ...{ dependencies: that(isObject, 'must be an object'), unevaluatedProperties: schema },
  items: (value, deeper) => (Array.isArray(value) ? schemas : schema)(value, deeper),
  ...{ prefixItems: schemas, additionalItems: schema, unevaluatedItems: schema, contains: schema },
  ...{ minContains: count, maxContains: count, minItems: count, maxItems: count, uniqueItems: flag },
  ...{ minLength: count, maxLength: count, pattern: text, format: text },
  ...{ minimum: number, maximum: number, exclusiveMinimum: bound, exclusiveMaximum: bound },
  multipleOf: that((value) => typeof value === 'number' && value > 0, 'must be a number above 0'),
  ...{ allOf: someSchemas, anyOf: someSchemas, oneOf: someSchemas, not: schema },
  ...Object.fromEntries(['if', 'then', 'else', 'contentSchema'].map((name) => [name, schema])),
  ...{ contentEncoding: text, contentMediaType: text, title: text, description: text },
  ...{ default: () => undefined, examples: () => undefined, example: () => undefined },
  ...{ deprecated: flag, readOnly: flag, writeOnly: flag },
  ...{ discriminator: () => undefined, xml: () => undefined, externalDocs: () => undefined },
};

const deepest = 64;
const mostProblems = 10;

/** What keeps a value from being a JSON Schema, each with its place; nothing when it is one. */
export function schemaProblems(value: unknown, at = ''): readonly string[] {
  const problems: string[] = [];
  walk(value, at, 0);
  return problems;

  function walk(given: unknown, pointer: string, depth: number): void {
    if (problems.length >= mostProblems || typeof given === 'boolean') return;
    const problem = !isObject(given)
      ? 'must be a schema: an object, true or false'
      : depth > deepest
        ? `lies more than ${deepest} schemas deep`
        : undefined;
    if (problem || !isObject(given)) return void problems.push(said(pointer, problem ?? ''));
    for (const [keyword, held] of Object.entries(given)) {
      const place = below(pointer, keyword);
      const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
      const wrong = check?.(held, (one, ...names) => walk(one, below(place, ...names), depth + 1));
      if (wrong) problems.push(said(place, wrong));
    }
  }
}

/** Any object is a schema that allows everything; one that says something else entirely was not meant as one. */
export function saysNothing(value: JsonObject): boolean {
  const said = Object.keys(value);
  return said.length > 0 && !said.some((name) => Object.hasOwn(keywords, name));
}

export const isKeyword = (name: string): boolean => Object.hasOwn(keywords, name);

const said = (pointer: string, problem: string): string => `${pointer || 'the root'} ${problem}`;
