import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { readGiven, shown } from './given.ts';
import type { Outcome } from './outcome.ts';
import type { Param } from './param.ts';
import { atLeast, oldestTmux, parseVersion, type TmuxVersion } from './version.ts';

export type Scope = 'server' | 'session' | 'window' | 'pane' | 'client';
export type Effect = 'read' | 'write' | 'destructive';

/** Everything there is to know about one kind of operation; one file under operations/ declares one. */
export interface OperationSpec<P, V> {
  readonly kind: string;
  /** The tmux command; the kind with dashes unless it differs. */
  readonly command?: string;
  readonly scope: Scope;
  readonly effect: Effect;
  readonly summary: string;
  /** The first tmux that has the command; with an older one the operation is refused. The oldest we know unless told. */
  readonly since?: string;
  /** In the order tmux is given them; those without a flag come last, after `--`. */
  readonly params: {
    readonly [K in keyof P]-?: undefined extends P[K] ? Param<NonNullable<P[K]>, false> : Param<P[K], true>;
  };
  /** A combination tmux would misread; answers what is wrong with it. */
  refuse?(params: P, version: TmuxVersion | null): string | undefined;
  /** Puts the words into others where a tmux release needs to be kept from harm. */
  protect?(argv: readonly string[], params: P, version: TmuxVersion): readonly string[];
  readonly result: Outcome<V>;
  /** Words that are always sent, after the flags of the parameters: `-p`, or the `-` that means standard output. */
  readonly fixed?: readonly string[];
  /** May share a `;` line with others. Default: it answers nothing but done. */
  readonly chainable?: boolean;
  /** Which part of the created object its slot stands for. */
  readonly creates?: 'session' | 'window' | 'pane';
  /** Needs a tmux process of its own: it waits, or it uses that process's standard output. */
  readonly ownProcess?: boolean;
  /** Parameters that work on the server `demo` of the testing package; shown in the reference and run by the tests. */
  readonly example: P;
}

/** The guard where nothing is run, or nothing needs one. */
export const shownGuard = 'guard';

/**
 * One tmux command as a frozen value: build it, look at it, send it with any engine, store it as JSON.
 *
 * @example splitWindow({ target: '%0' }).render('3.4') // ['split-window', '-P', …]
 */
export class Operation<P = unknown, V = unknown> {
  readonly kind: string;
  readonly params: P;
  readonly #spec: OperationSpec<P, V>;
  /** What was rendered last: an operation that is sent again and again is rendered once. */
  #rendered:
    | { readonly version: TmuxVersion; readonly guard: string; readonly argv: readonly string[] }
    | undefined;

  constructor(spec: OperationSpec<P, V>, params: P) {
    this.kind = spec.kind;
    this.params = params;
    this.#spec = spec;
    Object.freeze(this);
  }

  get spec(): OperationSpec<P, V> {
    return this.#spec;
  }

  get scope(): Scope {
    return this.#spec.scope;
  }

  get effect(): Effect {
    return this.#spec.effect;
  }

  get chainable(): boolean {
    return isChainable(this.#spec);
  }

  /** The words tmux gets. Pure: the same value, version and guard give the same words. */
  render(version: TmuxVersion | string, guard: string = shownGuard): readonly string[] {
    const known = typeof version === 'string' ? parseVersion(version) : version;
    const last = this.#rendered;
    if (last?.version === known && last.guard === guard) return last.argv;
    const argv = renderOperation(this.#spec, this.params, known, guard);
    this.#rendered = { version: known, guard, argv };
    return argv;
  }

  toJSON(): { kind: string; params: P } {
    return { kind: this.kind, params: this.params };
  }
}

/** Makes operations of one kind, and carries the declaration of that kind. */
export interface Builder<P, V> {
  (...args: Record<never, never> extends P ? [params?: P] : [params: P]): Operation<P, V>;
  readonly spec: OperationSpec<P, V>;
  /** The schema of the parameters, for tools and documents. */
  readonly schema: z.ZodType<P>;
}

/**
 * Declares a kind of operation. The table of its parameters is its schema, its rendering and its documentation.
 *
 * @example
 * const endPane = defineOperation({ ...killPane.spec, kind: 'end_pane', summary: 'Ends a pane.' });
 * endPane({ target: '%1' }).render('3.4'); // ['kill-pane', '-t', '%1']
 */
export function defineOperation<P extends object, V>(spec: OperationSpec<P, V>): Builder<P, V> {
  const schema = z.strictObject(shapeOf(spec)) as unknown as z.ZodType<P>;
  const build = (params?: P): Operation<P, V> => {
    const given = readGiven(schema, params ?? {}, spec.kind);
    const refusal = spec.refuse?.(given, null);
    if (refusal)
      throw new TmuxError('invalid_parameters', `${spec.kind}: ${refusal}.`, { kind: spec.kind, params });
    return new Operation(spec, deepFreeze(given));
  };
  return Object.freeze(Object.assign(build, { spec: Object.freeze(spec), schema }));
}

/** Refuses what is no operation, such as a builder nobody has called. */
export function requireOperation(given: Operation): void {
  if (typeof given?.render === 'function') return;
  const kind = (given as Partial<Builder<object, unknown>> | undefined)?.spec?.kind;
  const builder = kind?.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const message = builder
    ? `${builder} only builds operations: call it, ${builder}({ … }).`
    : `${shown(given)} is no operation: give what a builder answers, as killPane({ target: '%1' }).`;
  throw new TmuxError('invalid_parameters', message, { given });
}

export function isChainable(
  spec: Pick<OperationSpec<unknown, unknown>, 'chainable' | 'result' | 'ownProcess'>,
): boolean {
  return spec.chainable ?? (spec.result.name === 'Ack' && !spec.ownProcess);
}

export function commandOf(spec: Pick<OperationSpec<unknown, unknown>, 'kind' | 'command'>): string {
  return spec.command ?? spec.kind.replaceAll('_', '-');
}

/** The parameters of a spec as a plain table, for whoever walks them. */
export function paramsOf(spec: { readonly params: object }): [name: string, param: Param<unknown>][] {
  return Object.entries(spec.params as Record<string, Param<unknown>>);
}

function shapeOf(spec: { readonly params: object }): Record<string, z.ZodType> {
  return Object.fromEntries(
    paramsOf(spec).map(([name, { schema, required, doc }]) => [
      name,
      (required ? schema : schema.optional()).describe(doc),
    ]),
  );
}

function renderOperation<P, V>(
  spec: OperationSpec<P, V>,
  params: P,
  version: TmuxVersion,
  guard: string,
): readonly string[] {
  requireVersion(spec.kind, 'Every operation', oldestTmux, version);
  requireVersion(spec.kind, spec.kind, spec.since, version);
  const refusal = spec.refuse?.(params, version);
  if (refusal)
    throw new TmuxError('version_unsupported', `${spec.kind}: ${refusal}.`, { kind: spec.kind, params });
  const argv = [commandOf(spec)];
  const positional: string[] = [];
  const given = params as Readonly<Record<string, unknown>>;
  argv.push(...(spec.result.ask?.(guard, given) ?? []));
  for (const [name, param] of paramsOf(spec)) {
    const value = given[name];
    const words = value === undefined ? (param.absent ?? []) : param.render(value, given);
    if (value !== undefined && words.length > 0)
      requireVersion(spec.kind, `${spec.kind}.${name}`, param.since, version);
    (param.flag === '' ? positional : argv).push(...words);
  }
  argv.push(...(spec.fixed ?? []));
  if (positional.length > 0) argv.push('--', ...positional);
  return Object.freeze(spec.protect?.(argv, params, version) ?? argv);
}

function requireVersion(kind: string, what: string, since: string | undefined, version: TmuxVersion): void {
  if (since === undefined || atLeast(version, since)) return;
  throw new TmuxError('version_unsupported', `${what} needs tmux ${since}; this server is ${version.text}.`, {
    kind,
    since,
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
