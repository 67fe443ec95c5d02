import { PolyError } from '@polyphony/protocol';
import type * as Tmux from '@polyphony/tmux';
import type { Plan } from '@polyphony/tmux';
import { type Reach, reachOf } from './operation-effect.ts';
import { parseTarget } from './target.ts';

type Given = Readonly<Record<string, unknown>>;
type Step = Plan['steps'][number];

const forms =
  'A step is { kind, params }, { probe, create } or { host }; result_schema shows the kinds and what they take.';

/** A plan of the steps an agent has written; what is wrong is told with the place of the step. */
export function planOf(tmux: typeof Tmux, operations: readonly Given[]): Plan {
  const steps = operations.map((step, index) => at(index, () => stepOf(tmux, step)));
  try {
    return tmux.planFromJSON({ steps });
  } catch (error) {
    return at(firstWrong(tmux, steps), () => {
      throw error;
    });
  }
}

/** Which step makes steps no plan: halving, since every longer beginning is wrong for the same reason. */
function firstWrong(tmux: typeof Tmux, steps: readonly object[]): number {
  let [right, wrong] = [0, steps.length];
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    try {
      tmux.planFromJSON({ steps: steps.slice(0, middle) });
      right = middle;
    } catch {
      wrong = middle; // What is wrong is told of all of them.
    }
  }
  return right;
}

function stepOf(tmux: typeof Tmux, step: Given): object {
  const { kind, params, operation, ...rest } = step;
  if (typeof kind === 'string') return { ...rest, operation: operationOf(tmux, { kind, params }) };
  if (isGiven(operation)) return { ...rest, operation: operationOf(tmux, operation) };
  if (isGiven(step.probe) && isGiven(step.create))
    return { ...rest, probe: operationOf(tmux, step.probe), create: operationOf(tmux, step.create) };
  if (isGiven(step.host)) {
    const { host } = step as { readonly host: Given };
    return typeof host.target === 'string' && !host.target.startsWith('%')
      ? refuse(`the target of a host step is an id (%1) or a slot, not "${host.target.slice(0, 40)}".`)
      : { host };
  }
  return refuse(`${JSON.stringify(step).slice(0, 100)} is no step.`);
}

/** An operation as agents write it: places as everywhere, session:window.pane, or as slots. */
export function operationOf(tmux: typeof Tmux, { kind, params = {} }: Given): Tmux.Operation {
  const { spec } = tmux.operations.get(String(kind));
  const places = targetsOf(spec);
  const given = Object.entries(isGiven(params) ? params : refuse('params must be an object.')).map(
    ([name, value]) => [name, typeof value === 'string' && places.has(name) ? parseTarget(value) : value],
  );
  return tmux.operations.parse({ kind, params: Object.fromEntries(given) });
}

/** The parameters of an operation that name a place: those that take what an earlier step creates. */
export function targetsOf(spec: { readonly params: object }): ReadonlySet<string> {
  const slot = { slot: 0, part: 'pane' };
  const params = Object.entries(
    spec.params as Record<string, { readonly schema: { safeParse(value: unknown): { success: boolean } } }>,
  );
  return new Set(params.filter(([, { schema }]) => schema.safeParse(slot).success).map(([name]) => name));
}

/** How far a step goes. */
export function reachOfStep(step: Step): Reach {
  if (step.type === 'operation') return reachOf(step.operation);
  if (step.type === 'ensure') {
    const probe = reachOf(step.probe);
    return probe.effect === 'read' ? reachOf(step.create) : probe;
  }
  return step.host.type === 'script'
    ? { effect: 'destructive', why: 'it runs a command of a shell' }
    : { effect: 'read' };
}

export const nameOfStep = (step: Step): string =>
  step.type === 'host' ? step.host.type : (step.type === 'ensure' ? step.create : step.operation).kind;

function at<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string; readonly info?: { hint?: string } };
    const how = error instanceof PolyError ? error.info.hint : hint;
    const advice = how && !how.includes('()') ? how : forms;
    throw new PolyError('invalid_arguments', `operations[${index}]: ${message}`, {
      hint: advice,
      cause: error,
    });
  }
}

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(message: string): never {
  throw new PolyError('invalid_arguments', message, { hint: forms });
}
