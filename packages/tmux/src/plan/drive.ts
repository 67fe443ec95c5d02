import { type Engine, execute, executeChain, type RunOptions } from '../engine.ts';
import { TmuxError, type TmuxErrorCode } from '../errors.ts';
import { requireEngine } from '../operation/given.ts';
import type { Operation } from '../operation/operation.ts';
import { type Answer, skipped } from './answer.ts';
import { runPlan } from './core.ts';
import { type HostRunner, runHostStep } from './host.ts';
import type { PlanResult, StepResult } from './plan-result.ts';
import { dispatchesOf, type Planner, type PlannerName, plannerOf } from './planners.ts';
import { previewSteps } from './preview.ts';
import type { HostRequest, OperationRequest, StepDone } from './request.ts';
import type { Step } from './step.ts';

export interface StreamOptions extends RunOptions {
  /** Which steps go to the engine together; default `folding`. */
  readonly planner?: Planner | PlannerName;
  /** Who carries out the host steps; default this process. */
  readonly host?: HostRunner;
  /** Asked at every failure; default is to stop, and to skip the rest. */
  readonly onError?: (failed: StepResult) => 'stop' | 'continue';
}

export type PlanEvent = StepDone | { readonly type: 'done'; readonly result: PlanResult };

/** Carries out what the plan asks for, step by step. Whoever stops listening stops the plan. */
export async function* drive(
  engine: Engine,
  steps: readonly Step[],
  options: StreamOptions,
): AsyncGenerator<PlanEvent, void> {
  const { planner = 'folding', onError = () => 'stop' } = options;
  requireEngine(engine);
  const version = await engine.version();
  const bytes = previewSteps(steps, version).map((line) => line.bytes);
  const dispatches = dispatchesOf(plannerOf(planner), { steps, bytes });
  const plan = runPlan(steps, dispatches, { version, onError });
  // Operations of a batch must reach the engine in order, which asking it for its version each time could upset.
  const carrier = withVersion(engine, version);
  let next = plan.next();
  while (!next.done) {
    if (next.value.type === 'step') {
      yield next.value;
      next = plan.next([]);
    } else if (next.value.type === 'host') {
      next = plan.next([await runHost(next.value, engine, options)]);
    } else {
      next = plan.next(await runOperations(next.value, carrier, options));
    }
  }
  yield { type: 'done', result: next.value };
}

function withVersion(engine: Engine, version: Awaited<ReturnType<Engine['version']>>): Engine {
  return {
    name: engine.name,
    ordered: engine.ordered,
    version: async () => version,
    run: (command, options) => engine.run(command, options),
    runChain: (commands, options) => engine.runChain(commands, options),
    close: () => engine.close(),
  };
}

async function runHost(
  { host, bindings }: HostRequest,
  engine: Engine,
  options: StreamOptions,
): Promise<Answer> {
  const { signal, host: runner = runHostStep } = options;
  const work = async (): Promise<Answer> => ({ value: await runner(host, { engine, bindings, signal }) });
  return attempt(work, (error) =>
    signal?.aborted ? aborted(`during the host step ${host.type}`, signal) : asError(error),
  );
}

async function runOperations(
  { type, operations }: OperationRequest,
  engine: Engine,
  { signal, timeoutMs }: StreamOptions,
): Promise<readonly Answer[]> {
  if (signal?.aborted) return halted(operations, aborted(`before ${operations[0]?.kind}`, signal), false);
  const run: RunOptions = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
  if (type === 'chain') {
    return executeChain(engine, operations, run).then(
      (results) => results.map((result) => ({ result })),
      (error: unknown) => halted(operations, protocolError(error), wasSent(error)),
    );
  }
  const one = (operation: Operation): Promise<Answer> =>
    attempt(async () => ({ result: await execute(engine, operation, run) }), protocolError);
  return type === 'batch' && !engine.ordered ? inTurn(operations, one) : Promise.all(operations.map(one));
}

/** An engine that keeps no order gets the operations of a batch one by one, up to the first failure. */
async function inTurn(
  operations: readonly Operation[],
  one: (operation: Operation) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const operation of operations) {
    const last = await one(operation);
    answers.push(last);
    if ('error' in last || ('result' in last && !last.result.ok)) break;
  }
  return [...answers, ...operations.slice(answers.length).map(skipped)];
}

/** What was sent together and never answered is unknown for all; what was not sent failed at the first. */
function halted(operations: readonly Operation[], error: Error, sent: boolean): readonly Answer[] {
  return operations.map((operation, i) => (sent || i === 0 ? { error, sent } : skipped(operation)));
}

async function attempt(work: () => Promise<Answer>, read: (error: unknown) => Error): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    return { error: read(error), sent: wasSent(error) };
  }
}

function aborted(when: string, signal: AbortSignal): TmuxError {
  return new TmuxError('aborted', `The plan was aborted ${when}.`, {}, signal.reason);
}

const neverSent: ReadonlySet<TmuxErrorCode> = new Set([
  'missing_binary', 'engine_closed', 'invalid_parameters', 'version_unsupported', 'forward_reference',
]); // biome-ignore format: a list

function wasSent(error: unknown): boolean {
  return !(error instanceof TmuxError && neverSent.has(error.code));
}

/** A reply that lacks what it should hold comes as the error of a schema. */
function protocolError(error: unknown): Error {
  return error instanceof TmuxError ? error : new TmuxError('protocol', asError(error).message, {}, error);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
