import { TmuxError } from '../errors.ts';
import type { Reply } from '../operation/reply.ts';
import type { Result } from '../operation/result.ts';
import type { Bindings, ObjectId, Ref } from './slot.ts';
import type { HostStep } from './step.ts';

interface Settled {
  readonly index: number;
  readonly status: Reply['status'];
  /** Why it failed, when tmux's text in the result is not the whole story, or whose failure kept it from running. */
  readonly error?: Error;
}
export interface OperationResult extends Settled {
  readonly type: 'operation';
  readonly result: Result;
  /** Of a find-or-create step: it was there already. */
  readonly found?: boolean;
}
export interface HostResult extends Settled {
  readonly type: 'host';
  readonly host: HostStep;
  /** What the step answered: `{ stdout, stderr }` of a script, `{ ready }` of wait_pane, anything of a call. */
  readonly value?: unknown;
}
/** What became of one step of a plan. */
export type StepResult = OperationResult | HostResult;

export function hasFailed(step: StepResult): boolean {
  return step.status === 'failed' || step.status === 'unknown';
}

const fates: Readonly<Record<Reply['status'], string>> = {
  complete: 'created nothing',
  failed: 'created nothing',
  skipped: 'was not run',
  unknown: 'was not answered',
};

/** The error of a slot that stands for nothing: with the result of what should have created it, and tmux's text. */
export function failedCreate(creator: StepResult): TmuxError {
  const { index, status, error } = creator;
  const result = creator.type === 'operation' ? creator.result : undefined;
  const said = result?.stderr.join(' ') || error?.message || 'it said nothing';
  const what = `Slot ${index} (${result?.operation.kind ?? 'host step'}) ${fates[status]}: ${said}`;
  return new TmuxError('failed_create', what, { slot: index, result });
}

/**
 * What became of a plan: every step in order, and the ids its slots stand for.
 *
 * @example
 * const plan = new Plan();
 * const work = plan.add(newSession({ name: 'work' }));
 * const result = await plan.execute(engine);
 * if (result.ok) console.log(result.id(work.pane));
 */
export class PlanResult {
  readonly steps: readonly StepResult[];
  readonly bindings: Bindings;
  /** The first step that failed. */
  readonly failure: StepResult | undefined;

  constructor(steps: readonly StepResult[], bindings: Bindings) {
    this.steps = Object.freeze([...steps]);
    this.bindings = Object.freeze({ ...bindings });
    this.failure = steps.find(hasFailed);
    Object.freeze(this);
  }

  get ok(): boolean {
    return this.failure === undefined;
  }

  /** The id a slot stands for; `failed_create` when what should have created it did not. */
  id<Id extends ObjectId>(ref: Ref<Id>): Id {
    const id = this.bindings[`${ref.slot}:${ref.part}`];
    if (id !== undefined) return id as Id;
    const creator = this.steps[ref.slot];
    if (creator && creator.status !== 'complete') throw failedCreate(creator);
    throw new TmuxError('forward_reference', `This plan binds nothing to ${ref.slot}:${ref.part}.`, { ref });
  }

  /** Throws the error of the first step that failed. */
  raiseForStatus(): this {
    const { failure } = this;
    if (failure?.error) throw failure.error;
    if (failure?.type === 'operation') failure.result.raiseForStatus();
    return this;
  }

  toJSON(): Record<string, unknown> {
    const { ok, bindings } = this;
    return { ok, steps: this.steps.map(stepJson), bindings, failure: this.failure?.index ?? null };
  }
}

function stepJson(step: StepResult): Record<string, unknown> {
  const { error, ...rest } = step;
  if (!error) return rest;
  return {
    ...rest,
    error: { ...(error instanceof TmuxError && { code: error.code }), message: error.message },
  };
}
