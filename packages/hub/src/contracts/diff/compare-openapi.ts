import type { ChangeKind, Direction } from '@polyphony/protocol';
import { below, canonical, type Json, type JsonObject, listOf, member, objectOf } from '../json.ts';
import { methods } from '../openapi-methods.ts';
import type { Changes } from './changes.ts';
import { SchemaComparer } from './compare-schemas.ts';
import { type Node, SchemaSource } from './schema-view.ts';

interface Part {
  readonly value: JsonObject;
  readonly pointer: string;
}

/** Compares two OpenAPI documents: what is sent as requests, what comes as responses, wherever it is written. */
export function compareOpenApi(before: JsonObject, after: JsonObject, changes: Changes): void {
  new OpenApiComparer(before, after, changes).compare();
}

/** Schemas by name, of documents that offer nothing else. */
export function compareNamed(
  [before, after]: readonly [SchemaSource, SchemaSource],
  [were, are]: readonly [JsonObject, JsonObject],
  place: string,
  comparer: SchemaComparer,
): void {
  for (const name of new Set([...Object.keys(were), ...Object.keys(are)])) {
    const pointer = below(place, name);
    const [was, is] = [before.resolve(`#${encodeURI(pointer)}`), after.resolve(`#${encodeURI(pointer)}`)];
    if (was && is) comparer.compare(was, is, 'unknown');
    else if (is) comparer.tell('unknown', 'schema-added', pointer, `the schema ${name} is new`);
    else if (was) comparer.tell('unknown', 'schema-removed', pointer, `the schema ${name} is gone`);
  }
}

class OpenApiComparer {
  readonly #before: SchemaSource;
  readonly #after: SchemaSource;
  readonly #roots: readonly [JsonObject, JsonObject];
  readonly #changes: Changes;
  readonly #schemas: SchemaComparer;

  constructor(before: JsonObject, after: JsonObject, changes: Changes) {
    this.#before = new SchemaSource(before);
    this.#after = new SchemaSource(after);
    this.#roots = [before, after];
    this.#changes = changes;
    this.#schemas = new SchemaComparer(this.#before, this.#after, changes);
  }

  compare(): void {
    const [before, after] = this.#roots;
    const [were, are] = [objectOf(before.paths), objectOf(after.paths)];
    for (const name of new Set([...Object.keys(were), ...Object.keys(are)])) {
      const pointer = below('/paths', name);
      const [was, is] = [
        this.#part(this.#before, were[name], pointer),
        this.#part(this.#after, are[name], pointer),
      ];
      if (was && is) this.#path(name, was, is);
      else this.#tell(is ? 'path-added' : 'path-removed', pointer, `${name} is ${is ? 'new' : 'gone'}`);
    }
    if (Object.keys(were).length === 0 && Object.keys(are).length === 0)
      compareNamed(
        [this.#before, this.#after],
        [objectOf(member(before.components, 'schemas')), objectOf(member(after.components, 'schemas'))],
        '/components/schemas',
        this.#schemas,
      );
    for (const name of ['security', 'webhooks'])
      this.#whole('keyword-changed', below('', name), name, before[name], after[name]);
    for (const name of ['openapi', 'info', 'servers', 'tags', 'externalDocs'])
      this.#whole('annotation-changed', below('', name), name, before[name], after[name]);
  }

  #path(name: string, before: Part, after: Part): void {
    for (const method of methods) {
      const [was, is] = [before.value[method], after.value[method]];
      const what = `${method.toUpperCase()} ${name}`;
      const pointer = below((is ? after : before).pointer, method);
      if (was !== undefined && is !== undefined)
        this.#operation(
          what,
          [before, objectOf(was), below(before.pointer, method)],
          [after, objectOf(is), pointer],
        );
      else if (is !== undefined) this.#tell('operation-added', pointer, `${what} is new`);
      else if (was !== undefined) this.#tell('operation-removed', pointer, `${what} is gone`);
    }
  }

  #operation(
    what: string,
    [pathBefore, before, atBefore]: readonly [Part, JsonObject, string],
    [pathAfter, after, at]: readonly [Part, JsonObject, string],
  ): void {
    this.#parameters(
      what,
      this.#parametersOf(this.#before, pathBefore, before, atBefore),
      this.#parametersOf(this.#after, pathAfter, after, at),
    );
    this.#body(
      what,
      this.#part(this.#before, before.requestBody, below(atBefore, 'requestBody')),
      this.#part(this.#after, after.requestBody, below(at, 'requestBody')),
    );
    this.#responses(what, [objectOf(before.responses), atBefore], [objectOf(after.responses), at]);
    this.#whole(
      'keyword-changed',
      below(at, 'security'),
      `the security of ${what}`,
      before.security,
      after.security,
    );
    for (const name of ['deprecated', 'summary', 'description', 'operationId', 'tags'])
      this.#whole('annotation-changed', below(at, name), `${name} of ${what}`, before[name], after[name]);
  }

  /** By place and name; what an operation says goes before what its path says. */
  #parametersOf(
    source: SchemaSource,
    path: Part,
    operation: JsonObject,
    at: string,
  ): ReadonlyMap<string, Part> {
    const given = [
      ...listOf(path.value.parameters).map((one, i) =>
        this.#part(source, one, below(path.pointer, 'parameters', i)),
      ),
      ...listOf(operation.parameters).map((one, i) => this.#part(source, one, below(at, 'parameters', i))),
    ];
    return new Map(
      given.flatMap((part) => (part ? [[`${String(part.value.in)} ${String(part.value.name)}`, part]] : [])),
    );
  }

  #parameters(what: string, before: ReadonlyMap<string, Part>, after: ReadonlyMap<string, Part>): void {
    for (const [key, was] of before) {
      const is = after.get(key);
      if (!is) {
        this.#tell('parameter-removed', was.pointer, `${what} no longer takes the ${key}`, was.value);
        continue;
      }
      const needed = [was, is].map(isNeeded);
      if (needed[0] !== needed[1])
        this.#tell(
          needed[1] ? 'parameter-became-required' : 'parameter-became-optional',
          is.pointer,
          `the ${key} of ${what} is ${needed[1] ? 'required now' : 'no longer required'}`,
        );
      this.#schema(was, is, 'request');
      this.#contents(what, was, is, 'request');
      for (const name of ['style', 'explode', 'allowReserved'])
        this.#whole(
          'keyword-changed',
          below(is.pointer, name),
          `${name} of the ${key}`,
          was.value[name],
          is.value[name],
        );
    }
    for (const [key, is] of after) {
      if (before.has(key)) continue;
      const kind = isNeeded(is) ? 'required-parameter-added' : 'parameter-added';
      this.#tell(
        kind,
        is.pointer,
        `${what} takes the ${isNeeded(is) ? 'required ' : ''}${key} now`,
        undefined,
        is.value,
      );
    }
  }

  #body(what: string, before: Part | undefined, after: Part | undefined): void {
    if (!before && !after) return;
    const needed = [before, after].map((part) => part?.value.required === true);
    if (!before) {
      const kind = needed[1] ? 'required-request-body-added' : 'request-body-added';
      return void this.#tell(
        kind,
        after?.pointer ?? '',
        `${what} takes ${needed[1] ? 'and needs ' : ''}a body now`,
      );
    }
    if (!after)
      return void this.#tell('request-body-removed', before.pointer, `${what} takes no body any more`);
    if (needed[0] !== needed[1])
      this.#tell(
        needed[1] ? 'request-body-became-required' : 'request-body-became-optional',
        after.pointer,
        `the body of ${what} is ${needed[1] ? 'required now' : 'no longer required'}`,
      );
    this.#contents(`the body of ${what}`, before, after, 'request');
  }

  #responses(
    what: string,
    [before, atBefore]: readonly [JsonObject, string],
    [after, at]: readonly [JsonObject, string],
  ): void {
    for (const status of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const pointer = below(at, 'responses', status);
      const was = this.#part(this.#before, before[status], below(atBefore, 'responses', status));
      const is = this.#part(this.#after, after[status], pointer);
      const name = `the response ${status} of ${what}`;
      if (was && is) {
        this.#contents(name, was, is, 'response');
        this.#headers(name, was, is);
      } else if (is) this.#tell('response-added', pointer, `${name} is new`);
      else if (was) this.#tell('response-removed', was.pointer, `${name} is gone`);
    }
  }

  #headers(what: string, before: Part, after: Part): void {
    const [were, are] = [objectOf(before.value.headers), objectOf(after.value.headers)];
    for (const name of new Set([...Object.keys(were), ...Object.keys(are)])) {
      const was = this.#part(this.#before, were[name], below(before.pointer, 'headers', name));
      const is = this.#part(this.#after, are[name], below(after.pointer, 'headers', name));
      if (was && is) this.#schema(was, is, 'response');
      else if (is) this.#tell('header-added', is.pointer, `${what} has the header ${name} now`);
      else if (was) this.#tell('header-removed', was.pointer, `${what} has no header ${name} any more`);
    }
  }

  #contents(what: string, before: Part, after: Part, direction: Direction): void {
    const [were, are] = [objectOf(before.value.content), objectOf(after.value.content)];
    for (const type of new Set([...Object.keys(were), ...Object.keys(are)])) {
      const pointer = below(after.pointer, 'content', type);
      const was = this.#part(this.#before, were[type], below(before.pointer, 'content', type));
      const is = this.#part(this.#after, are[type], pointer);
      if (was && is) this.#schema(was, is, direction);
      else if (is) this.#tell('media-type-added', pointer, `${what} may be ${type} now`);
      else if (was) this.#tell('media-type-removed', was.pointer, `${what} is no longer ${type}`);
    }
  }

  #schema(before: Part, after: Part, direction: Direction): void {
    const at = ({ value, pointer }: Part): Node | undefined =>
      value.schema === undefined ? undefined : { value: value.schema, pointer: below(pointer, 'schema') };
    this.#schemas.compare(at(before), at(after), direction);
  }

  /** A part of the document, wherever its references lead. */
  #part(source: SchemaSource, value: Json | undefined, pointer: string): Part | undefined {
    if (value === undefined) return undefined;
    const found = source.follow({ value, pointer });
    return { value: objectOf(found.value), pointer: found.pointer };
  }

  #whole(
    kind: ChangeKind,
    path: string,
    what: string,
    before: Json | undefined,
    after: Json | undefined,
  ): void {
    if (canonical(before ?? null) === canonical(after ?? null)) return;
    this.#changes.add('unknown', { kind, path, message: `${what} is another now`, before, after });
  }

  #tell(kind: ChangeKind, path: string, message: string, before?: unknown, after?: unknown): void {
    this.#changes.add('unknown', { kind, path, message, before, after });
  }
}

const isNeeded = ({ value }: Part): boolean => value.required === true || value.in === 'path';
