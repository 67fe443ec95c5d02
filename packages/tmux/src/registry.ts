import * as z from 'zod';
import { TmuxError } from './errors.ts';
import { readGiven, shown } from './operation/given.ts';
import { nearest } from './operation/nearest.ts';
import {
  type Builder,
  commandOf,
  type Effect,
  isChainable,
  type Operation,
  paramsOf,
  type Scope,
} from './operation/operation.ts';
import * as builtIn from './operations/index.ts';

type AnyBuilder = Builder<object, unknown>;

export interface CatalogEntry {
  readonly kind: string;
  readonly command: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly effect: Effect;
  readonly since: string | null;
  readonly chainable: boolean;
  readonly creates: string | null;
  readonly result: string;
  readonly resultSchema: object;
  readonly paramsSchema: object;
  readonly params: readonly {
    name: string;
    flag: string;
    required: boolean;
    since: string | null;
    doc: string;
  }[];
  readonly example: object;
}

/** Looks operations up by kind, and fails closed: what is not listed does not exist. */
export interface Registry {
  get(kind: string): AnyBuilder;
  has(kind: string): boolean;
  kinds(): readonly string[];
  select(wanted: (entry: CatalogEntry) => boolean): readonly AnyBuilder[];
  /** Builds an operation back from its JSON, validating it anew. */
  parse(json: unknown): Operation;
  catalog(): readonly CatalogEntry[];
}

/**
 * A set of operations, such as all that a tool may use.
 *
 * @example
 * const allowed = createRegistry(operations.select((entry) => entry.effect === 'read'));
 * allowed.has('kill_pane'); // false
 */
export function createRegistry(builders: readonly AnyBuilder[]): Registry {
  const byKind = new Map<string, AnyBuilder>();
  for (const builder of builders) {
    const { kind } = builder.spec;
    if (byKind.has(kind))
      throw new TmuxError('duplicate_operation', `Two operations are named ${kind}.`, { kind });
    byKind.set(kind, builder);
  }
  const get = (kind: string): AnyBuilder => {
    const builder = byKind.get(kind);
    if (!builder) {
      const meant = nearest(String(kind), [...byKind.keys()]);
      const advice = meant === undefined ? '' : ` Did you mean ${meant}?`;
      throw new TmuxError('unknown_operation', `There is no operation ${shown(kind)}.${advice}`, { kind });
    }
    return builder;
  };
  return Object.freeze({
    get,
    has: (kind: string) => byKind.has(kind),
    kinds: () => [...byKind.keys()],
    select: (wanted: (entry: CatalogEntry) => boolean) =>
      [...byKind.values()].filter((b) => wanted(describe(b))),
    parse: (json: unknown) => {
      const { kind, params } = readGiven(operationJson, json, 'An operation is { kind, params }');
      return get(kind)(params);
    },
    catalog: () => [...byKind.values()].map(describe),
  });
}

const operationJson = z.strictObject({ kind: z.string(), params: z.record(z.string(), z.unknown()) });

function describe(builder: AnyBuilder): CatalogEntry {
  const { spec } = builder;
  return {
    kind: spec.kind,
    command: commandOf(spec),
    summary: spec.summary,
    scope: spec.scope,
    effect: spec.effect,
    since: spec.since ?? null,
    chainable: isChainable(spec),
    creates: spec.creates ?? null,
    result: spec.result.name,
    resultSchema: z.toJSONSchema(spec.result.schema),
    paramsSchema: z.toJSONSchema(builder.schema, { io: 'input' }),
    params: paramsOf(spec).map(([name, param]) => ({
      name,
      flag: param.flag,
      required: param.required,
      since: param.since ?? null,
      doc: param.doc,
    })),
    example: spec.example,
  };
}

/**
 * Every operation of this library, by kind.
 *
 * @example operations.get('kill_pane')({ target: '%1' })
 */
export const operations: Registry = createRegistry(Object.values(builtIn) as unknown as AnyBuilder[]);
