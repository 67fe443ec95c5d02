import type { Operation } from '../operation/operation.ts';
import type { CreatedSession, Text } from '../operation/outcome.ts';
import type { SlotRef } from '../operation/target.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { type Answer, skipped, statusOf, toStep } from './answer.ts';
import { failedCreate, hasFailed, type OperationResult, PlanResult, type StepResult } from './plan-result.ts';
import type { Dispatch } from './planners.ts';
import type { OperationRequest, Request, StepDone } from './request.ts';
import { type Bindings, bindingsOf, bindOperation, idsIn, isSlotRef, type ObjectId, refsOf } from './slot.ts';
import { type EnsureStep, type HostStep, type OperationStep, paramsOfStep, type Step } from './step.ts';

export interface CoreOptions {
  readonly version: TmuxVersion;
  /** Whether the rest still runs after a failure; what needs an object that was not created never does. */
  readonly onError: (failed: StepResult) => 'stop' | 'continue';
}

type Running<T = void> = Generator<Request | StepDone, T, readonly Answer[]>;
type Sending = Exclude<OperationRequest['type'], 'probe'>;

/** Runs a plan without any I/O: it yields what is to be done, and is resumed with what came of it. */
export function* runPlan(
  steps: readonly Step[],
  dispatches: readonly Dispatch[],
  options: CoreOptions,
): Running<PlanResult> {
  const run = new PlanRun(options);
  for (const dispatch of dispatches) {
    const { type } = dispatch;
    const todo = dispatch.steps.map((index) => [index, steps[index] as Step] as const);
    yield* run.dispatch(type === 'chain' || type === 'batch' ? type : 'single', todo);
  }
  return new PlanResult(run.results, run.bindings);
}

type Todo = readonly [index: number, step: Step];

class PlanRun {
  readonly results: StepResult[] = [];
  readonly bindings: Record<string, ObjectId> = {};
  readonly #options: CoreOptions;
  #stopped = false;

  constructor(options: CoreOptions) {
    this.#options = options;
  }

  *dispatch(type: Sending, steps: readonly Todo[]): Running {
    let left = steps;
    let how = type;
    while (left[0]) {
      const [index, step] = left[0];
      const before = this.results.length;
      const creator = this.#unbound(step);
      if (this.#stopped || creator) yield* this.#skip(index, step, creator && this.results[creator.slot]);
      else if (step.type === 'host') yield* this.#host(index, step.host);
      else if (step.type === 'ensure') yield* this.#ensure(index, step);
      else yield* this.#send(how, left);
      // Nothing of a line ran when all of it failed: it did not parse, or nobody heard it. One by one they tell which.
      if (this.results.length === before) how = 'single';
      left = left.slice(this.results.length - before);
    }
  }

  /** Sends those whose slots are bound, and settles what was answered; what a failure held back is left. */
  *#send(how: Sending, left: readonly Todo[]): Running {
    const end = how === 'single' ? 1 : left.findIndex(([, step]) => this.#unbound(step));
    const sent = left.slice(0, end < 0 ? undefined : end);
    const operations = sent.map(([, step]) => this.#bind((step as OperationStep).operation));
    const answers = yield { type: sent.length > 1 ? how : 'single', operations };
    if (how === 'chain' && sent.length > 1 && answers.every((answer) => statusOf(answer) === 'failed'))
      return;
    for (const [i, [index]] of sent.entries()) {
      if (i > 0 && statusOf(answers[i]) === 'skipped') return;
      yield* this.#settle(this.#toStep(index, operations[i] as Operation, answers[i]));
    }
  }

  *#ensure(index: number, { probe, create }: EnsureStep): Running {
    const look = this.#bind(probe);
    const [seen] = yield { type: 'probe', operations: [look] };
    const probed = this.#toStep(index, look, seen);
    const { value, status } = probed.result;
    const ids = status === 'complete' ? bindingsOf(index, create, idsIn((value as Text).text)) : undefined;
    if (ids) return yield* this.#settle({ ...probed, found: true }, ids);
    if (status === 'unknown' || probed.error) return yield* this.#settle(probed);
    const operation = this.#bind(create);
    const [made] = yield { type: 'single', operations: [operation] };
    yield* this.#settle({ ...this.#toStep(index, operation, made), found: false });
  }

  *#host(index: number, step: HostStep): Running {
    const host = (
      step.type === 'wait_pane' ? { ...step, target: this.#place(step.target) } : step
    ) as HostStep;
    const [answer] = yield { type: 'host', host, bindings: this.bindings };
    if (answer && 'error' in answer)
      yield* this.#settle({ type: 'host', index, host, status: 'failed', error: answer.error });
    else yield* this.#settle({ type: 'host', index, host, status: 'complete', ...answer });
  }

  *#skip(index: number, step: Step, creator: StepResult | undefined): Running {
    const lost = creator && (hasFailed(creator) || creator.error) ? { error: failedCreate(creator) } : {};
    const settled = { index, status: 'skipped', ...lost } as const;
    if (step.type === 'host') return yield* this.#settle({ type: 'host', ...settled, host: step.host });
    const operation = step.type === 'ensure' ? step.create : step.operation;
    yield* this.#settle({ type: 'operation', ...settled, ...skipped(operation) });
  }

  *#settle(step: StepResult, found?: Bindings): Running {
    this.results.push(step);
    if (step.type === 'operation' && step.result.ok) {
      const { operation, value } = step.result;
      Object.assign(
        this.bindings,
        found ?? bindingsOf(step.index, operation, value as Partial<CreatedSession>),
      );
    }
    if (hasFailed(step) && this.#options.onError(step) === 'stop') this.#stopped = true;
    yield { type: 'step', step, bindings: this.bindings };
  }

  #toStep(index: number, operation: Operation, answer: Answer | undefined): OperationResult {
    return toStep(index, operation, answer, this.#options.version);
  }

  /** The first slot this step needs that has no id. */
  #unbound(step: Step): SlotRef | undefined {
    return paramsOfStep(step)
      .flatMap(refsOf)
      .find(({ slot, part }) => this.bindings[`${slot}:${part}`] === undefined);
  }

  #bind(operation: Operation): Operation {
    return bindOperation(operation, (ref) => this.#place(ref));
  }

  #place(target: SlotRef | string): string {
    return isSlotRef(target) ? (this.bindings[`${target.slot}:${target.part}`] as string) : target;
  }
}
