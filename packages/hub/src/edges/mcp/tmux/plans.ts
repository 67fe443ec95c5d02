import { PolyError } from '@polyphony/protocol';
import type { Plan, PlannerName, PlanResult, StepResult } from '@polyphony/tmux';
import * as z from 'zod';
import type { ToolAnswer } from '../tool.ts';
import { requireAllowed, sparedEngine } from './guarded-engine.ts';
import { hostStepOf } from './host-step.ts';
import { furthest, type Reach } from './operation-effect.ts';
import { schemaOf, valueSchemaOf } from './operations.ts';
import { maybe } from './params.ts';
import { nameOfStep, planOf, reachOfStep } from './plan-steps.ts';
import type { Use } from './use.ts';
import { requireSafety, type Verb, verb } from './verb.ts';

const operations = z
  .array(z.looseObject({}))
  .min(1)
  .max(500)
  .describe(
    'In order: { kind, params }. A later target may be what an earlier step creates: { slot: 0, part: "pane" }. Also { probe, create } (find or create) and { host: { type: "sleep" | "script" | "wait_pane", … } }.',
  );
const version = z
  .string()
  .regex(/^\d+\.\d+/)
  .optional()
  .describe('Of tmux, as 3.4; the server’s unless given');
const planner = z.enum(['sequential', 'folding', 'pipelined']).default('folding');

/** Several operations as one, looked at before and told exactly after. */
export const plans: Readonly<Record<string, Verb>> = {
  preview_plan: verb({
    description: 'The words of every step of a plan, and how far each goes; nothing is run.',
    effect: 'read',
    params: { operations, version },
    run: (given, use) => previewPlan(given, use),
  }),
  explain_plan: verb({
    description: 'Which steps of a plan go to tmux together, and why; nothing is run.',
    effect: 'read',
    params: { operations, planner, version },
    async run({ operations: steps, planner: how, version: wanted }, use) {
      const known = wanted ?? (await use.seat.engine.version()).text;
      const dispatches = planOf(use.tmux, steps).explain(known, how);
      const text = dispatches.flatMap(({ type, because, lines }) => [
        `${type}: ${because}`,
        ...lines.map(indented),
      ]);
      return { text: text.join('\n'), structured: { version: known, planner: how, dispatches } };
    },
  }),
  execute_plan: verb({
    description:
      'Runs a plan up to the first failure, and tells what became of every step. It goes as far as its furthest step.',
    effect: 'write',
    waits: true,
    params: { operations, planner, version },
    run: (given, use) => executePlan(given, use),
  }),
  result_schema: verb({
    description: 'What an operation takes and answers, as JSON Schema; without a kind, which there are.',
    effect: 'read',
    params: { kind: maybe },
    run: async ({ kind }, use) => resultSchema(kind, use),
  }),
};

const indented = (line: string): string => `  ${line}`;

interface Given {
  readonly operations: readonly Readonly<Record<string, unknown>>[];
  readonly version?: string | undefined;
}

async function previewPlan(
  { operations: given, version: wanted }: Given,
  { tmux, seat }: Use,
): Promise<ToolAnswer> {
  const plan = planOf(tmux, given);
  const known = wanted ?? (await seat.engine.version()).text;
  const steps = plan.preview(known).map(({ index, argv, text }) => {
    const step = plan.steps[index] as Plan['steps'][number];
    return { index, kind: nameOfStep(step), argv, text, ...reachOfStep(step) };
  });
  const { effect, why } = furthest(steps);
  const head = `With tmux ${known}; effect: ${effect}${why ? `, since ${why}` : ''}.`;
  return {
    text: [head, ...steps.map((step) => `${step.index} ${step.text}`)].join('\n'),
    structured: { version: known, effect, steps },
  };
}

async function executePlan(given: Given & { readonly planner: PlannerName }, use: Use): Promise<ToolAnswer> {
  const { tmux, seat, context } = use;
  const plan = planOf(tmux, given.operations);
  const reaches = plan.steps.map((step, index): Reach => {
    const { effect, why } = reachOfStep(step);
    return {
      effect,
      ...(why !== undefined && { why: `operations[${index}] (${nameOfStep(step)}): ${why}` }),
    };
  });
  requireSafety('execute_plan', furthest(reaches), context);
  const { text: server } = await seat.engine.version();
  if (given.version !== undefined && given.version !== server)
    throw new PolyError('conflict', `the plan is for tmux ${given.version}, and this server is ${server}.`, {
      hint: 'Leave version out, and look at preview_plan.',
    });
  await requireAllowedPlan(plan, server, use);
  const result = await plan.execute(sparedEngine(use, 'execute_plan', 'answered'), {
    planner: given.planner,
    signal: context.signal,
    host: hostStepOf(use, 'execute_plan'),
    onStep: ({ index, status }) => context.progress(`step ${index} of ${plan.steps.length}: ${status}`),
  });
  return planAnswer(plan, result);
}

/** Refuses a plan of which it can be seen now that a step would be refused; the rest is looked at step by step. */
async function requireAllowedPlan(plan: Plan, version: string, use: Use): Promise<void> {
  for (const { argv, index } of plan.preview(version)) {
    if (!argv) continue;
    await requireAllowed(argv, use, `execute_plan: operations[${index}]:`).catch((error: unknown) => {
      // What a step names may be made, or named so, by one before it.
      if (!(error instanceof PolyError) || error.code === 'forbidden') throw error;
    });
  }
}

function planAnswer(plan: Plan, result: PlanResult): ToolAnswer {
  const { ok, failure, bindings } = result;
  const steps = result.steps.map((step) => told(plan, step));
  const ran = steps.filter(({ status }) => status === 'complete').length;
  const left = steps.filter(({ status }) => status === 'skipped').length;
  const head = failure
    ? `operations[${failure.index}] (${steps[failure.index]?.kind}) ${failure.status}: ${reasonOf(failure)} ${ran} steps are done, ${left} were not run.`
    : `All ${steps.length} steps are done.`;
  const lines = steps.map(({ index, kind, status, value }) => `${index} ${kind} ${status}${shown(value)}`);
  return {
    text: [head, ...lines].join('\n'),
    structured: { ok, failure: failure?.index ?? null, steps, bindings },
    ...(!ok && { isError: true }),
  };
}

const shown = (value: unknown): string => {
  const text = value === null || value === undefined ? '{}' : JSON.stringify(value);
  return text === '{}' ? '' : ` ${text}`;
};

function told(plan: Plan, step: StepResult) {
  const kind = nameOfStep(plan.steps[step.index] as Plan['steps'][number]);
  const value = step.type === 'operation' ? step.result.value : step.value;
  const failed = step.status === 'failed' || step.status === 'unknown';
  return {
    ...{ index: step.index, kind, status: step.status, value: value ?? null },
    ...(step.type === 'operation' && step.found !== undefined && { found: step.found }),
    ...((failed || step.error) && { error: reasonOf(step) }),
  };
}

function reasonOf(step: StepResult): string {
  const said = step.type === 'operation' ? step.result.stderr.join(' ') : '';
  return said || step.error?.message || 'nothing was said.';
}

function resultSchema(kind: string | undefined, { tmux }: Use): ToolAnswer {
  const all = tmux.operations;
  if (kind === undefined) {
    const kinds = all.catalog().map(({ kind: name, effect, summary }) => ({ kind: name, effect, summary }));
    return {
      text: kinds.map(({ kind: name, effect, summary }) => `${name} (${effect}): ${summary}`).join('\n'),
      structured: { kinds },
    };
  }
  all.get(kind);
  const entry = all.catalog().find((one) => one.kind === kind);
  if (!entry) throw new PolyError('not_found', `there is no operation "${kind}".`);
  const { summary, effect, creates, since, result, example } = entry;
  const params = schemaOf(tmux, entry, '%1, @1, $1, session:window.pane, or { slot, part }');
  const schema = valueSchemaOf(entry);
  const structured = { kind, summary, effect, creates, since, params, result, schema, example };
  return { text: JSON.stringify(structured), structured };
}
