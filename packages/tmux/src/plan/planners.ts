import { TmuxError } from '../errors.ts';
import { refsOf } from './slot.ts';
import { paramsOfStep, type Step } from './step.ts';

const reasons = {
  single: 'none of its neighbours may go with it',
  folded: 'one line, which stops at the first failure',
  pipelined: 'sent without waiting: none needs what another one creates',
  'created-id': 'later steps may need the id it answers with',
  capture: 'its output is its answer',
  'own-process': 'it would hold the others up',
  'find-or-create': 'what is there already is not created again',
  'host-step': 'it happens outside tmux',
} as const;

type Reason = keyof typeof reasons;

/** Steps that go to the engine together, and why. */
export interface Dispatch {
  readonly type: 'single' | 'chain' | 'batch' | 'ensure' | 'host';
  readonly steps: readonly number[];
  readonly reason: Reason;
  readonly because: string;
}

/** The steps of a plan with the bytes each takes on a line. */
interface Measured {
  readonly steps: readonly Step[];
  readonly bytes: readonly number[];
}

/** Decides which steps go together: whether a step joins the group before it, and how a group is sent. */
export interface Planner {
  readonly name: string;
  readonly together: 'chain' | 'batch';
  joins(index: number, group: readonly number[], measured: Measured): boolean;
}

/** tmux refuses a command of 16 KiB from a process; the rest is for what an engine adds. */
const lineLimit = 12 * 1024;
/** What an engine puts after each command of a line, to see how far the line came. */
const markerBytes = 64;

/** One step at a time; only what was added as a chain shares a line. */
export const sequential: Planner = Object.freeze({
  name: 'sequential',
  together: 'chain',
  joins: (index: number, group: readonly number[], measured: Measured) =>
    isSameLine(measured.steps[index]) && fits(index, group, measured),
});

/** As many neighbours as may share a line go on one: the same outcome as one at a time, in fewer calls. */
export const folding: Planner = Object.freeze({
  name: 'folding',
  together: 'chain',
  joins: (index: number, group: readonly number[], measured: Measured) =>
    isFoldable(measured.steps[index]) &&
    isFoldable(measured.steps[index - 1]) &&
    !needs(index, group, measured) &&
    fits(index, group, measured),
});

/** Neighbours are sent without waiting for each other. What follows a failure in a batch has been sent, and happens. */
export const pipelined: Planner = Object.freeze({
  name: 'pipelined',
  together: 'batch',
  joins: (index: number, group: readonly number[], measured: Measured) =>
    isSameLine(measured.steps[index])
      ? fits(index, group, measured)
      : isFree(index, measured) && isFree(index - 1, measured) && !needs(index, group, measured),
});

export const planners: Readonly<Record<'sequential' | 'folding' | 'pipelined', Planner>> = {
  sequential,
  folding,
  pipelined,
};
export type PlannerName = keyof typeof planners;

export function plannerOf(planner: Planner | PlannerName): Planner {
  if (typeof planner !== 'string') return planner;
  const known = Object.hasOwn(planners, planner) ? planners[planner] : undefined;
  if (known) return known;
  const names = Object.keys(planners).join(', ');
  throw new TmuxError(
    'invalid_parameters',
    `There is no planner ${JSON.stringify(planner)}; there are ${names}.`,
  );
}

export function dispatchesOf(planner: Planner, measured: Measured): readonly Dispatch[] {
  const groups: number[][] = [];
  for (const index of measured.steps.keys()) {
    const last = groups.at(-1);
    if (last && planner.joins(index, last, measured)) last.push(index);
    else groups.push([index]);
  }
  return groups.map((group) => {
    const [type, reason] = describe(group, measured, planner);
    return { type, steps: group, reason, because: reasons[reason] };
  });
}

function describe(
  group: readonly number[],
  measured: Measured,
  planner: Planner,
): [Dispatch['type'], Reason] {
  const step = measured.steps[group[0] ?? 0];
  if (step?.type === 'host') return ['host', 'host-step'];
  if (step?.type === 'ensure') return ['ensure', 'find-or-create'];
  if (group.length > 1) {
    const line = planner.together === 'chain' || isSameLine(measured.steps[group[1] ?? 0]);
    return line ? ['chain', 'folded'] : ['batch', 'pipelined'];
  }
  const spec = step?.operation.spec;
  if (spec?.ownProcess) return ['single', 'own-process'];
  if (spec?.creates) return ['single', 'created-id'];
  return ['single', spec?.result.name === 'Ack' ? 'single' : 'capture'];
}

function isSameLine(step: Step | undefined): boolean {
  return step?.type === 'operation' && step.sameLine === true;
}

/**
 * kill-server takes the connection with it, so that nothing may be on its way then. What is wrapped into another
 * command for its protection does not stop the line when it fails.
 */
function isFoldable(step: Step | undefined): boolean {
  if (step?.type !== 'operation' || !step.operation.chainable) return false;
  return step.operation.kind !== 'kill_server' && step.operation.spec.protect === undefined;
}

/** A process of its own would overtake the others, or be overtaken. */
function isFree(index: number, { steps }: Measured): boolean {
  const step = steps[index];
  if (step?.type !== 'operation' || isSameLine(step) || isSameLine(steps[index + 1])) return false;
  return !step.operation.spec.ownProcess && step.operation.kind !== 'kill_server';
}

/** Groups are runs of neighbours, so that the first of them tells where a group begins. */
function needs(index: number, [first = 0]: readonly number[], { steps }: Measured): boolean {
  const step = steps[index];
  return (
    step !== undefined &&
    paramsOfStep(step)
      .flatMap(refsOf)
      .some(({ slot }) => slot >= first)
  );
}

function fits(index: number, group: readonly number[], { bytes }: Measured): boolean {
  return [index, ...group].reduce((sum, each) => sum + (bytes[each] ?? 0) + markerBytes, 0) <= lineLimit;
}
