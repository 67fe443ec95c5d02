import type { ChangeKind, Direction } from '@polyphony/protocol';
import { below, canonical, type Json, member } from '../json.ts';
import type { Changes } from './changes.ts';
import { isLeast, type Node, nameOf, type SchemaSource, shownTypes, type View } from './schema-view.ts';

/** Compares schemas of two documents, each pair once for each direction. */
export class SchemaComparer {
  readonly #before: SchemaSource;
  readonly #after: SchemaSource;
  readonly #changes: Changes;
  /** Pairs that were met: what refers to itself is not followed for ever. */
  readonly #seen = new Set<string>();
  readonly #outer: SchemaComparer | undefined;

  constructor(before: SchemaSource, after: SchemaSource, changes: Changes, outer?: SchemaComparer) {
    this.#before = before;
    this.#after = after;
    this.#changes = changes;
    this.#outer = outer;
  }

  /** One that is missing allows everything. */
  compare(before: Node | undefined, after: Node | undefined, direction: Direction, depth = 0): void {
    if (!before && !after) return;
    const place = after?.pointer ?? before?.pointer ?? '';
    const [a, b] = [
      this.#before.follow(before ?? { value: true, pointer: `?${place}` }),
      this.#after.follow(after ?? { value: true, pointer: `?${place}` }),
    ];
    const pair = `${nameOf(a)} ${nameOf(b)} ${direction}`;
    if (this.#has(pair) || !this.#changes.mayGoOn(place, depth)) return;
    this.#seen.add(pair);
    const where = after ? b.pointer : place;
    new Pair(this.#before.viewOf(a), this.#after.viewOf(b), where, direction, this, depth).compare();
  }

  tell(
    direction: Direction,
    kind: ChangeKind,
    path: string,
    message: string,
    before?: unknown,
    after?: unknown,
  ): void {
    this.#changes.add(direction, { kind, path, message, before, after });
  }

  /** Whether anything differs that matters, without telling what. */
  differs(before: Node, after: Node, depth: number): boolean {
    return this.#changes.anyIn((apart) =>
      new SchemaComparer(this.#before, this.#after, apart, this).compare(before, after, 'unknown', depth),
    );
  }

  #has(pair: string): boolean {
    if (this.#seen.has(pair)) return true;
    return this.#outer ? this.#outer.#has(pair) : false;
  }

  /** Whether a variant of one document is the schema that stands at a place of the other. */
  isVariant(variant: Node, single: View, grew: boolean, depth: number): boolean {
    const other: Node = { value: single.whole, pointer: single.pointer };
    return grew ? !this.differs(other, variant, depth) : !this.differs(variant, other, depth);
  }
}

/** Two views of one schema. */
class Pair {
  readonly #a: View;
  readonly #b: View;
  readonly #at: string;
  readonly #direction: Direction;
  readonly #comparer: SchemaComparer;
  readonly #depth: number;

  constructor(a: View, b: View, at: string, direction: Direction, comparer: SchemaComparer, depth: number) {
    this.#a = a;
    this.#b = b;
    this.#at = at;
    this.#direction = direction;
    this.#comparer = comparer;
    this.#depth = depth;
  }

  compare(): void {
    if (this.#becameVariants()) return;
    const [a, b] = [this.#a, this.#b];
    if (!this.#types()) return;
    this.#values();
    this.#words('format', a.formats, b.formats);
    this.#words('pattern', a.patterns, b.patterns);
    this.#bounds();
    if (a.types.has('object') && b.types.has('object')) this.#object();
    if (a.types.has('array') && b.types.has('array')) this.#array();
    for (const keyword of ['oneOf', 'anyOf'] as const) this.#variants(keyword);
    this.#others();
  }

  #tell(kind: ChangeKind, path: string, message: string, before?: unknown, after?: unknown): void {
    this.#comparer.tell(this.#direction, kind, path, message, before, after);
  }

  #deeper(before: Node | undefined, after: Node | undefined): void {
    this.#comparer.compare(before, after, this.#direction, this.#depth + 1);
  }

  /** Answers whether there is anything left that both allow. */
  #types(): boolean {
    const [a, b] = [this.#a.types, this.#b.types];
    const gone = [...a].filter((type) => !b.has(type));
    const come = [...b].filter((type) => !a.has(type));
    if (gone.length === 0 && come.length === 0) return a.size > 0;
    const kind = come.length === 0 ? 'type-narrowed' : gone.length === 0 ? 'type-widened' : 'type-changed';
    const [was, is] = [shownTypes(a), shownTypes(b)];
    this.#tell(kind, this.#at, `the type was ${was} and is ${is}`, was, is);
    return gone.length < a.size;
  }

  #values(): void {
    const [a, b] = [this.#a.values, this.#b.values];
    const path = below(this.#at, 'enum');
    if (!a && !b) return;
    if (!a)
      return void this.#tell('enum-added', path, 'only some values are allowed now', undefined, listed(b));
    if (!b) return void this.#tell('enum-removed', path, 'any value is allowed now', listed(a));
    for (const [text, value] of a)
      if (!b.has(text))
        this.#tell('enum-value-removed', path, `the value ${brief(text)} is no longer allowed`, value);
    for (const [text, value] of b)
      if (!a.has(text))
        this.#tell('enum-value-added', path, `the value ${brief(text)} is allowed now`, undefined, value);
  }

  #words(what: 'format' | 'pattern', a: readonly string[], b: readonly string[]): void {
    const [was, is] = [a.join(' and '), b.join(' and ')];
    if (was === is) return;
    const kind = was === '' ? 'added' : is === '' ? 'removed' : 'changed';
    const message =
      kind === 'added'
        ? `the ${what} must be ${brief(is)} now`
        : kind === 'removed'
          ? `the ${what} ${brief(was)} is no longer asked for`
          : `the ${what} was ${brief(was)} and is ${brief(is)}`;
    this.#tell(`${what}-${kind}`, below(this.#at, what), message, was || undefined, is || undefined);
  }

  #bounds(): void {
    const [a, b] = [this.#a.bounds, this.#b.bounds];
    for (const name of new Set([...a.keys(), ...b.keys()])) {
      const [was, is] = [meaningful(name, a.get(name)), meaningful(name, b.get(name))];
      if (was === is) continue;
      const message =
        was === undefined
          ? `${name} is ${is} now`
          : is === undefined
            ? `${name} was ${was} and is gone`
            : `${name} was ${was} and is ${is}`;
      this.#tell(boundKind(name, was, is), below(this.#at, name), message, was, is);
    }
  }

  #object(): void {
    const [a, b] = [this.#a, this.#b];
    const closed = b.additional?.value === false;
    for (const [name, node] of a.properties) {
      const other = b.properties.get(name);
      const path = other?.pointer ?? node.pointer;
      if (!other && !b.patternProperties.size) {
        const kind = closed ? 'property-refused' : 'property-removed';
        const left = closed ? 'is gone, and others are refused' : 'is gone';
        this.#tell(kind, path, `the property ${brief(name)} ${left}`, node.value);
        continue;
      }
      this.#required(name, path);
      this.#deeper(node, other);
    }
    for (const [name, node] of b.properties) {
      if (a.properties.has(name)) continue;
      const needed = b.required.has(name) && !a.required.has(name);
      const kind = needed ? 'required-property-added' : 'property-added';
      const message = `the ${needed ? 'required' : 'optional'} property ${brief(name)} is new`;
      this.#tell(kind, node.pointer, message, undefined, node.value);
    }
    for (const required of [a.required, b.required])
      for (const name of required)
        if (!a.properties.has(name) && !b.properties.has(name))
          this.#required(name, below(this.#at, 'required'));
    this.#additional();
    for (const name of new Set([...a.patternProperties.keys(), ...b.patternProperties.keys()])) {
      const [was, is] = [a.patternProperties.get(name), b.patternProperties.get(name)];
      if (was && is) this.#deeper(was, is);
      else
        this.#tell(
          'keyword-changed',
          (is ?? was)?.pointer ?? this.#at,
          `properties like ${brief(name)} are ${is ? 'described now' : 'no longer described'}`,
          was?.value,
          is?.value,
        );
    }
  }

  #required(name: string, path: string): void {
    const [was, is] = [this.#a.required.has(name), this.#b.required.has(name)];
    if (was === is) return;
    const message = `the property ${brief(name)} is ${is ? 'required now' : 'no longer required'}`;
    this.#tell(is ? 'became-required' : 'became-optional', path, message, was, is);
  }

  #additional(): void {
    const [a, b] = [this.#a.additional, this.#b.additional];
    const [wasClosed, isClosed] = [a?.value === false, b?.value === false];
    const path = below(this.#at, 'additionalProperties');
    if (isClosed && !wasClosed)
      this.#tell('additional-properties-closed', path, 'further properties are refused now', true, false);
    else if (wasClosed && !isClosed)
      this.#tell('additional-properties-opened', path, 'further properties are allowed now', false, true);
    else this.#deeper(a, b);
  }

  #array(): void {
    const [a, b] = [this.#a, this.#b];
    for (let i = 0; i < Math.max(a.prefix.length, b.prefix.length); i++)
      this.#deeper(a.prefix[i] ?? a.items, b.prefix[i] ?? b.items);
    this.#deeper(a.items, b.items);
  }

  #variants(keyword: 'oneOf' | 'anyOf'): void {
    const [a, b] = [this.#a.variants.get(keyword) ?? [], this.#b.variants.get(keyword) ?? []];
    const path = below(this.#at, keyword);
    if (a.length === 0 && b.length === 0) return;
    if (a.length === 0)
      return void this.#tell(
        'variants-added',
        path,
        `it must be one of ${b.length} variants now`,
        undefined,
        b.length,
      );
    if (b.length === 0)
      return void this.#tell(
        'variants-removed',
        path,
        `it need not be one of ${a.length} variants any more`,
        a.length,
      );
    const { matched, gone, come } = this.#match(a, b);
    for (const [was, is] of matched) this.#deeper(was, is);
    for (const node of gone)
      this.#tell('variant-removed', node.pointer, `the variant ${variantName(node)} is gone`, node.value);
    for (const node of come)
      this.#tell(
        'variant-added',
        node.pointer,
        `the variant ${variantName(node)} is new`,
        undefined,
        node.value,
      );
  }

  /** By where they refer to, by title, by what they say, and what is left by its place. */
  #match(a: readonly Node[], b: readonly Node[]) {
    const matched: [Node, Node][] = [];
    const left = new Set(a);
    const right = new Set(b);
    const ways: readonly ((node: Node) => string | undefined)[] = [
      ({ value }) => asText(member(value, '$ref')),
      ({ value }) => asText(member(value, 'title')),
      ({ value }) => canonical(value),
    ];
    for (const way of ways) {
      const named = new Map<string, Node>();
      for (const node of right) {
        const name = way(node);
        if (name !== undefined && !named.has(name)) named.set(name, node);
      }
      for (const node of left) {
        const name = way(node);
        const other = name === undefined ? undefined : named.get(name);
        if (!other || !right.delete(other)) continue;
        left.delete(node);
        matched.push([node, other]);
      }
    }
    const rest = [...right];
    for (const [i, node] of [...left].entries()) {
      const other = rest[i];
      if (!other) break;
      left.delete(node);
      right.delete(other);
      matched.push([node, other]);
    }
    return { matched, gone: [...left], come: [...right] };
  }

  /** What was one schema and is one of several, or the other way round, is told as that and no more. */
  #becameVariants(): boolean {
    const [a, b] = [[...this.#a.variants.values()].flat(), [...this.#b.variants.values()].flat()];
    if ((a.length === 0) === (b.length === 0)) return false;
    const grew = a.length === 0;
    const variants = grew ? b : a;
    const single = grew ? this.#a : this.#b;
    const kept = variants.find((variant) => this.#comparer.isVariant(variant, single, grew, this.#depth + 1));
    if (!kept) return false;
    for (const node of variants) {
      if (node === kept) continue;
      const name = variantName(node);
      if (grew)
        this.#tell('variant-added', node.pointer, `the variant ${name} is new`, undefined, node.value);
      else this.#tell('variant-removed', node.pointer, `the variant ${name} is gone`, node.value);
    }
    return true;
  }

  #others(): void {
    const [a, b] = [this.#a, this.#b];
    for (const name of new Set([...a.inner.keys(), ...b.inner.keys()])) {
      const [was, is] = [a.inner.get(name), b.inner.get(name)];
      if (was && is && !this.#comparer.differs(was, is, this.#depth + 1)) continue;
      this.#keyword(name, was?.value, is?.value);
    }
    for (const name of new Set([...a.others.keys(), ...b.others.keys()])) {
      const [was, is] = [a.others.get(name), b.others.get(name)];
      if (was && is && canonical(was) === canonical(is)) continue;
      this.#keyword(name, was?.length === 1 ? was[0] : was, is?.length === 1 ? is[0] : is);
    }
    for (const name of new Set([...a.annotations.keys(), ...b.annotations.keys()])) {
      const [was, is] = [a.annotations.get(name), b.annotations.get(name)];
      if (was !== undefined && is !== undefined && canonical(was) === canonical(is)) continue;
      this.#tell('annotation-changed', below(this.#at, name), `${brief(name)} ${change(was, is)}`, was, is);
    }
  }

  #keyword(name: string, was: unknown, is: unknown): void {
    this.#tell('keyword-changed', below(this.#at, name), `${brief(name)} ${change(was, is)}`, was, is);
  }
}

const change = (was: unknown, is: unknown): string =>
  was === undefined ? 'is new' : is === undefined ? 'is gone' : 'is another now';

/** A least of nothing asks for nothing. */
const meaningful = (name: string, value: number | undefined): number | undefined =>
  value === 0 && /^min[LIPC]/.test(name) ? undefined : value;

function boundKind(name: string, was: number | undefined, is: number | undefined): ChangeKind {
  if (was === undefined) return 'bound-tightened';
  if (is === undefined) return 'bound-loosened';
  if (name === 'multipleOf')
    return is % was === 0 ? 'bound-tightened' : was % is === 0 ? 'bound-loosened' : 'bound-changed';
  return is > was === isLeast(name) ? 'bound-tightened' : 'bound-loosened';
}

const asText = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

function variantName({ value, pointer }: Node): string {
  const name = asText(member(value, 'title')) ?? asText(member(value, '$ref'))?.split('/').at(-1);
  return brief(name ?? pointer.split('/').at(-1) ?? '');
}

const listed = (values: ReadonlyMap<string, Json> | undefined): readonly Json[] => [
  ...(values?.values() ?? []),
];

const brief = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
