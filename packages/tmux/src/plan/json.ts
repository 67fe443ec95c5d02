import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
import type { Operation } from '../operation/operation.ts';
import { paneIdSchema, sessionIdSchema, windowIdSchema } from '../operation/target.ts';
import { operations, type Registry } from '../registry.ts';
import { chain } from './chain.ts';
import { Plan } from './plan.ts';
import type { Probe } from './probe.ts';
import type { Bindings } from './slot.ts';
import { writtenHostStepSchema } from './step.ts';

const operation = z.unknown();
const stepSchema = z.union([
  z.strictObject({ operation, sameLine: z.literal(true).optional() }),
  z.strictObject({ probe: operation, create: operation }),
  z.strictObject({ host: z.looseObject({ type: z.string() }) }),
]);
const planSchema = z.strictObject({ steps: z.array(stepSchema) });

/**
 * Builds a plan back from what `plan.toJSON()` gave, validating every step anew.
 *
 * @example
 * const plan = new Plan();
 * plan.add(killPane({ target: '%1' }));
 * planFromJSON(JSON.parse(JSON.stringify(plan))).steps.length; // 1
 */
export function planFromJSON(json: unknown, registry: Registry = operations): Plan {
  const { steps } = readGiven(planSchema, json, 'This is not a plan');
  const plan = new Plan();
  for (const [index, step] of steps.entries()) {
    if ('host' in step) plan.host(readGiven(writtenHostStepSchema, step.host, 'This is not a host step'));
    else if ('probe' in step) plan.ensure(registry.parse(step.probe) as Probe, registry.parse(step.create));
    else if (!step.sameLine)
      addLine(plan, [step.operation, ...sameLine(steps, index + 1)].map(registry.parse));
    else if (index === 0 || !('operation' in (steps[index - 1] ?? {}))) {
      throw new TmuxError(
        'invalid_parameters',
        `Step ${index} has no operation before it whose line it could share.`,
        { step },
      );
    }
  }
  return plan;
}

/** The operations from `from` on that stay on the line of the one before them. */
function sameLine(steps: readonly z.infer<typeof stepSchema>[], from: number): unknown[] {
  const step = steps[from];
  return step && 'operation' in step && step.sameLine ? [step.operation, ...sameLine(steps, from + 1)] : [];
}

function addLine(plan: Plan, line: readonly Operation[]): void {
  if (line.length > 1) plan.addChain(chain(...line));
  else for (const operation of line) plan.add(operation);
}

const bindingsSchema = z.record(
  z.string().regex(/^\d+:(self|window|pane)$/, 'a binding is named "slot:part"'),
  z.union([sessionIdSchema, windowIdSchema, paneIdSchema]),
);

/**
 * Checks bindings that were stored as JSON.
 *
 * @example bindingsFromJSON(JSON.parse('{"0:pane":"%1"}'))
 */
export function bindingsFromJSON(json: unknown): Bindings {
  return readGiven(bindingsSchema, json, 'These are not the bindings of a plan') as Bindings;
}
