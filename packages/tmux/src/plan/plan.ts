import type { Engine } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
import { type Operation, requireOperation } from '../operation/operation.ts';
import type { TmuxVersion } from '../operation/version.ts';
import type { Chain } from './chain.ts';
import { drive, type PlanEvent, type StreamOptions } from './drive.ts';
import type { PlanResult, StepResult } from './plan-result.ts';
import { type Dispatch, dispatchesOf, type Planner, type PlannerName, plannerOf } from './planners.ts';
import { type PreviewLine, previewSteps } from './preview.ts';
import type { Probe } from './probe.ts';
import { type Bindings, type CreatedBy, hasPart, refsOf, type Slot, slotOf } from './slot.ts';
import { creatorOf, type HostStep, hostStepSchema, paramsOfStep, type Step } from './step.ts';

export interface ExecuteOptions extends StreamOptions {
  /** Called, and awaited, after every step; what it throws stops the plan. */
  readonly onStep?: (step: StepResult, bindings: Bindings) => void | Promise<void>;
}

/** What a plan would send together, why, and how it reads. */
export interface Explanation extends Dispatch {
  readonly lines: readonly string[];
}

/**
 * Operations and host steps as one value: later ones name what earlier ones will create. Nothing runs before `execute`,
 * and a plan may be run any number of times.
 *
 * @example
 * const plan = new Plan();
 * const work = plan.add(newSession({ name: 'work' }));
 * const side = plan.add(splitWindow({ target: work.pane, direction: 'right' }));
 * plan.add(sendKeys({ target: side.pane, keys: ['top', 'Enter'] }));
 * const result = (await plan.execute(engine)).raiseForStatus();
 * result.id(side.pane); // '%1'
 */
export class Plan {
  readonly #steps: Step[] = [];

  get steps(): readonly Step[] {
    return [...this.#steps];
  }

  /** Adds an operation. The slot's parts stand for what it creates, in the targets of later operations. */
  add<P, V>(operation: Operation<P, V>): Slot<CreatedBy<V>> {
    requireOperation(operation as Operation);
    return this.#push({ type: 'operation', operation }) as Slot<CreatedBy<V>>;
  }

  /** Adds operations that stay on one line, whichever planner is used. */
  addChain({ operations }: Chain): readonly Slot[] {
    const steps = operations.map(
      (operation, i): Step => ({ type: 'operation', operation, ...(i > 0 && { sameLine: true }) }),
    );
    for (const step of steps) this.#check(step);
    return steps.map((step) => this.#push(step));
  }

  /** Finds or creates: when the probe answers with the ids, the slot stands for what is there; else `create` runs. */
  ensure<P, V>(probe: Probe, create: Operation<P, V>): Slot<CreatedBy<V>> {
    const step: Step = { type: 'ensure', probe, create };
    if (step.probe.effect !== 'read' || step.probe.spec.result.name !== 'Text') {
      throw new TmuxError(
        'invalid_parameters',
        `${probe.kind} is no probe: it must only read, and answer with a text of ids.`,
      );
    }
    if (!create.spec.creates)
      throw new TmuxError(
        'invalid_parameters',
        `${create.kind} creates nothing that a slot could stand for.`,
      );
    return this.#push(step) as Slot<CreatedBy<V>>;
  }

  /** Adds what happens outside tmux, between the operations before and after it. */
  host(step: HostStep): Slot {
    const host = Object.freeze(readGiven(hostStepSchema, step, 'This is not a host step'));
    return this.#push({ type: 'host', host });
  }

  /** The words of every step, before anything runs. */
  preview(version: TmuxVersion | string): readonly PreviewLine[] {
    return previewSteps(this.#steps, version);
  }

  /** What goes to the engine together, and why. */
  explain(version: TmuxVersion | string, planner: Planner | PlannerName = 'folding'): readonly Explanation[] {
    const lines = this.preview(version);
    const dispatches = dispatchesOf(plannerOf(planner), {
      steps: this.#steps,
      bytes: lines.map(({ bytes }) => bytes),
    });
    return dispatches.map((dispatch) => ({
      ...dispatch,
      lines: dispatch.steps.map((index) => lines[index]?.text ?? ''),
    }));
  }

  /**
   * Runs the plan. A failure, of tmux or of the connection, is in the result and skips the rest; only what this tmux
   * does not know throws, before anything is sent.
   */
  async execute(engine: Engine, { onStep, ...options }: ExecuteOptions = {}): Promise<PlanResult> {
    for await (const event of this.stream(engine, options)) {
      if (event.type === 'done') return event.result;
      await onStep?.(event.step, event.bindings);
    }
    throw new TmuxError('protocol', 'The plan ended without a result.');
  }

  /** Runs the plan and tells of every step as it is done, then of the whole. Leaving the loop stops the plan. */
  stream(engine: Engine, options: StreamOptions = {}): AsyncIterableIterator<PlanEvent> {
    return drive(engine, this.steps, options);
  }

  toJSON(): { steps: readonly Record<string, unknown>[] } {
    return {
      steps: this.#steps.map(({ type, ...step }) => {
        if (!('host' in step) || step.host.type !== 'call') return step;
        const why = `The host step ${JSON.stringify(step.host.name)} is a function of this process and has no JSON.`;
        throw new TmuxError('invalid_parameters', `${why} Use a script, or build the plan where it runs.`, {
          name: step.host.name,
        });
      }),
    };
  }

  #push(step: Step): Slot {
    this.#check(step);
    this.#steps.push(Object.freeze(step));
    return slotOf(this.#steps.length - 1, creatorOf(step));
  }

  #check(step: Step): void {
    for (const { slot, part } of paramsOfStep(step).flatMap(refsOf)) {
      const filled = this.#steps[slot];
      const creator = filled && creatorOf(filled);
      if (creator && hasPart(creator, part)) continue;
      const why = creator ? `${creator.kind} creates no ${part}` : 'no step before this one fills it';
      throw new TmuxError('forward_reference', `Slot ${slot} has no ${part}: ${why}.`, { slot, part });
    }
  }
}
