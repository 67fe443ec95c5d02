import { isKeyword } from '../check-schema.ts';
import { below, canonical, isObject, type Json, type JsonObject, listOf, member, objectOf } from '../json.ts';

/** A schema and where it stands; several that must hold together are one. */
export interface Node {
  readonly value: Json;
  readonly pointer: string;
  readonly also?: readonly Node[];
}

/** Everything a schema asks for, with references followed and `allOf` and `nullable` worked in. */
export interface View {
  readonly pointer: string;
  /** The schema as it stands there. */
  readonly whole: Json;
  readonly types: ReadonlySet<string>;
  /** What `enum` and `const` leave, by canonical text. */
  readonly values?: ReadonlyMap<string, Json>;
  readonly properties: ReadonlyMap<string, Node>;
  readonly patternProperties: ReadonlyMap<string, Node>;
  readonly required: ReadonlySet<string>;
  /** Nothing where any further property may come. */
  readonly additional?: Node;
  readonly items?: Node;
  readonly prefix: readonly Node[];
  readonly bounds: ReadonlyMap<string, number>;
  readonly formats: readonly string[];
  readonly patterns: readonly string[];
  readonly variants: ReadonlyMap<'oneOf' | 'anyOf', readonly Node[]>;
  /** Further keywords that hold a schema. */
  readonly inner: ReadonlyMap<string, Node>;
  /** Further keywords that ask for something, as they stand. */
  readonly others: ReadonlyMap<string, readonly Json[]>;
  readonly annotations: ReadonlyMap<string, Json>;
}

/** `number` is here what an integer is not, so that one type can be part of another. */
const allTypes = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const leasts = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
const mosts = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];
export const isLeast = (bound: string): boolean => leasts.includes(bound) || bound === 'uniqueItems';

const inner = ['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedProperties'];
const innerKeywords = new Set([...inner, 'unevaluatedItems', 'contentSchema']);
const otherKeywords = new Set(
  ['dependentRequired', 'dependentSchemas', 'dependencies', 'discriminator', '$dynamicRef'].concat([
    'contentEncoding',
    'contentMediaType',
  ]),
);
const readElsewhere = new Set(
  ['type', 'nullable', 'enum', 'const', 'properties', 'patternProperties', 'required', 'items'].concat(
    ['additionalProperties', 'additionalItems', 'prefixItems', 'uniqueItems', 'multipleOf', 'pattern'],
    ['format', 'allOf', 'oneOf', 'anyOf', '$ref', '$defs', 'definitions', ...leasts, ...mosts],
    ['$schema', '$id', 'id', '$anchor', '$dynamicAnchor', '$vocabulary'],
  ),
);
const isAnnotation = (name: string): boolean =>
  !readElsewhere.has(name) && !innerKeywords.has(name) && !otherKeywords.has(name);

/** More parts than this are no schema that somebody wrote. */
const mostParts = 256;

/** A document whose schemas can refer to each other. */
export class SchemaSource {
  readonly root: Json;
  readonly #views = new Map<string, View>();
  /** Where references end, by where they begin: a long chain is gone along once. */
  readonly #ends = new Map<string, Node>();
  #anchors: ReadonlyMap<string, Node> | undefined;

  constructor(root: Json) {
    this.root = root;
  }

  /** What a reference within the document names. */
  resolve(ref: string): Node | undefined {
    if (!ref.startsWith('#')) return undefined;
    const pointer = decode(ref.slice(1));
    if (pointer !== '' && !pointer.startsWith('/')) return this.#anchor(pointer);
    const names = pointer.split('/').slice(1);
    let value: Json | undefined = this.root;
    for (const name of names) {
      const key: string = name.replaceAll('~1', '/').replaceAll('~0', '~');
      value = Array.isArray(value) ? (value[Number(key)] as Json | undefined) : member(value, key);
      if (value === undefined) return undefined;
    }
    return { value: value as Json, pointer };
  }

  /** Follows references that say nothing beside where they lead. */
  follow(node: Node): Node {
    const seen = new Set<string>();
    let at = node;
    while (!at.also && !seen.has(at.pointer)) {
      const end = this.#ends.get(at.pointer);
      if (end) {
        at = end;
        break;
      }
      seen.add(at.pointer);
      const ref = member(at.value, '$ref');
      const more = Object.keys(objectOf(at.value)).some((name) => name !== '$ref' && !isAnnotation(name));
      const next = typeof ref === 'string' && !more ? this.resolve(ref) : undefined;
      if (!next) break;
      at = next;
    }
    for (const pointer of seen) this.#ends.set(pointer, at);
    return at;
  }

  viewOf(given: Node): View {
    const node = this.follow(given);
    const name = nameOf(node);
    const known = this.#views.get(name);
    if (known) return known;
    const view = this.#look(node);
    this.#views.set(name, view);
    return view;
  }

  #look(node: Node): View {
    const parts: { schema: JsonObject; pointer: string }[] = [];
    const found = { never: false };
    const seen = new Set<string>();
    const add = (one: Node): void => {
      if (one.value === false) found.never = true;
      for (const other of one.also ?? []) add(other);
      if (!isObject(one.value) || seen.has(one.pointer) || parts.length >= mostParts) return;
      seen.add(one.pointer);
      parts.push({ schema: one.value, pointer: one.pointer });
      const ref = member(one.value, '$ref');
      const named = typeof ref === 'string' ? this.resolve(ref) : undefined;
      if (named) add(named);
      for (const [i, value] of listOf(member(one.value, 'allOf')).entries())
        add({ value, pointer: below(one.pointer, 'allOf', i) });
      const nullable = orNull(one);
      if (nullable) add(nullable);
    };
    add(node);
    const view = { ...this.#merge(parts), pointer: node.pointer, whole: node.value };
    return found.never ? { ...view, types: new Set() } : view;
  }

  #merge(
    parts: readonly { readonly schema: JsonObject; readonly pointer: string }[],
  ): Omit<View, 'pointer' | 'whole'> {
    let types = new Set(allTypes);
    let values: ReadonlyMap<string, Json> | undefined;
    const properties = new Map<string, Node>();
    const patternProperties = new Map<string, Node>();
    const required = new Set<string>();
    const prefix: Node[] = [];
    const bounds = new Map<string, number>();
    const formats = new Set<string>();
    const patterns = new Set<string>();
    const variants = new Map<'oneOf' | 'anyOf', readonly Node[]>();
    const innerNodes = new Map<string, Node>();
    const others = new Map<string, Json[]>();
    const annotations = new Map<string, Json>();
    let [additional, items]: (Node | undefined)[] = [];
    // Whoever refers to a type and adds null means both.
    const allowsNull = parts.some(
      ({ schema, pointer }) => schema.nullable === true || orNull({ value: schema, pointer }),
    );
    const tighten = (name: string, value: unknown, least: boolean): void => {
      const before = bounds.get(name);
      if (typeof value !== 'number') return;
      bounds.set(
        name,
        before === undefined ? value : least ? Math.max(before, value) : Math.min(before, value),
      );
    };
    for (const { schema, pointer } of parts) {
      const at = (...names: (string | number)[]): Node => ({
        value: names.reduce<Json>((value, name) => (value as JsonObject)[name] as Json, schema),
        pointer: below(pointer, ...names),
      });
      if (Object.hasOwn(schema, 'type')) {
        const given = typesOf(schema.type as Json);
        types = new Set([...types].filter((one) => given.has(one)));
      }
      const said = valuesOf(schema);
      if (said) values = values ? new Map([...values].filter(([text]) => said.has(text))) : said;
      for (const [map, keyword] of [
        [properties, 'properties'],
        [patternProperties, 'patternProperties'],
      ] as const)
        for (const name of Object.keys(objectOf(schema[keyword])))
          map.set(name, both(map.get(name), at(keyword, name)));
      for (const name of listOf(schema.required)) if (typeof name === 'string') required.add(name);
      if (Object.hasOwn(schema, 'additionalProperties') && schema.additionalProperties !== true)
        additional = both(additional, at('additionalProperties'));
      const tuple = Array.isArray(schema.items) ? 'items' : 'prefixItems';
      listOf(schema[tuple]).forEach((_, i) => {
        prefix[i] = both(prefix[i], at(tuple, i));
      });
      const rest = tuple === 'items' ? 'additionalItems' : 'items';
      if (Object.hasOwn(schema, rest)) items = both(items, at(rest));
      const { exclusiveMinimum, exclusiveMaximum, ...plain } = exclusive(schema);
      for (const name of leasts) tighten(name, plain[name], true);
      for (const name of mosts) tighten(name, plain[name], false);
      tighten('exclusiveMinimum', exclusiveMinimum, true);
      tighten('exclusiveMaximum', exclusiveMaximum, false);
      if (schema.uniqueItems === true) bounds.set('uniqueItems', 1);
      if (typeof schema.multipleOf === 'number') bounds.set('multipleOf', schema.multipleOf);
      if (typeof schema.format === 'string') formats.add(schema.format);
      if (typeof schema.pattern === 'string') patterns.add(schema.pattern);
      for (const keyword of ['oneOf', 'anyOf'] as const)
        if (Array.isArray(schema[keyword]) && !orNull({ value: schema, pointer }))
          variants.set(keyword, [
            ...(variants.get(keyword) ?? []),
            ...listOf(schema[keyword]).map((_, i) => at(keyword, i)),
          ]);
      for (const [name, value] of Object.entries(schema)) {
        const unread = name === '$ref' && !(typeof value === 'string' && this.resolve(value));
        if (innerKeywords.has(name)) innerNodes.set(name, both(innerNodes.get(name), at(name)));
        else if (otherKeywords.has(name) || unread) others.set(name, [...(others.get(name) ?? []), value]);
        else if (isAnnotation(name) && !annotations.has(name)) annotations.set(name, value);
      }
    }
    if (allowsNull) types.add('null');
    return {
      ...{ types, properties, patternProperties, required, prefix, bounds, variants, others, annotations },
      inner: innerNodes,
      formats: [...formats].sort(),
      patterns: [...patterns].sort(),
      ...(values && { values }),
      ...(additional && { additional }),
      ...(items && { items }),
    };
  }

  #anchor(name: string): Node | undefined {
    this.#anchors ??= anchorsOf(this.root);
    return this.#anchors.get(name);
  }
}

export const nameOf = ({ pointer, also = [] }: Node): string => [pointer, ...also.map(nameOf)].join('&');

function both(first: Node | undefined, second: Node): Node {
  return first ? { ...first, also: [...(first.also ?? []), second] } : second;
}

function typesOf(given: Json): ReadonlySet<string> {
  const named = (Array.isArray(given) ? given : [given]) as readonly string[];
  return new Set(named.flatMap((name) => (name === 'number' ? ['number', 'integer'] : name)));
}

function valuesOf(schema: JsonObject): ReadonlyMap<string, Json> | undefined {
  const values = Object.hasOwn(schema, 'const') ? [schema.const as Json] : schema.enum;
  return Array.isArray(values) ? new Map(values.map((value: Json) => [canonical(value), value])) : undefined;
}

/** Draft 4 and OpenAPI 3.0 say with a flag that a bound itself is excluded. */
function exclusive(schema: JsonObject): Record<string, Json | undefined> {
  const { minimum, maximum } = schema;
  return {
    ...schema,
    ...(schema.exclusiveMinimum === true && { minimum: undefined, exclusiveMinimum: minimum }),
    ...(schema.exclusiveMaximum === true && { maximum: undefined, exclusiveMaximum: maximum }),
  };
}

/** What may be null, said as one of two variants of which one is only null. */
function orNull({ value, pointer }: Node): Node | undefined {
  for (const keyword of ['anyOf', 'oneOf']) {
    const variants = listOf(member(value, keyword));
    const at = variants.findIndex((one) => member(one, 'type') !== 'null');
    if (variants.length === 2 && at >= 0 && variants.some((one) => member(one, 'type') === 'null'))
      return { value: variants[at] as Json, pointer: below(pointer, keyword, at) };
  }
  return undefined;
}

function anchorsOf(root: Json): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>();
  const look = (value: Json, pointer: string): void => {
    const anchor = member(value, '$anchor');
    if (typeof anchor === 'string' && !found.has(anchor)) found.set(anchor, { value, pointer });
    if (typeof value !== 'object' || value === null) return;
    for (const [name, one] of Object.entries(value)) look(one as Json, below(pointer, name));
  };
  look(root, '');
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Then the name has a percent sign of its own.
  }
}

/** Types as people write them. */
export function shownTypes(types: ReadonlySet<string>): string {
  if (types.size === allTypes.length) return 'anything';
  if (types.size === 0) return 'nothing';
  const words = [...types].filter((type) => !(type === 'integer' && types.has('number')));
  return words.join(' or ');
}

/** Whether a schema only holds others that are referred to by somebody else. */
export function isLibrary(root: Json): boolean {
  const names = Object.keys(objectOf(root));
  const holds = names.some((name) => name === '$defs' || name === 'definitions');
  const asks = (name: string): boolean => isKeyword(name) && !isAnnotation(name) && !quiet.has(name);
  return holds && !names.some(asks);
}

const quiet = new Set(['$defs', 'definitions', '$schema', '$id', 'id', '$anchor', '$vocabulary']);
