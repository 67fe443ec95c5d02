import * as z from 'zod';
import type { Engine } from '../engine.ts';
import type { Operation } from '../operation/operation.ts';
import { type PaneId, paneIdSchema, type SlotRef, slotSchema } from '../operation/target.ts';
import type { Bindings } from './slot.ts';

/** What a host step of the kind `call` is given. */
export interface HostContext {
  readonly engine: Engine;
  /** Grows while the plan runs. */
  readonly bindings: Bindings;
  readonly signal?: AbortSignal | undefined;
}

interface SleepStep {
  readonly type: 'sleep';
  readonly ms: number;
}
/** A command for `sh -c`; anything but exit 0 is a failure. */
export interface ScriptStep {
  readonly type: 'script';
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}
/** Waits until a program has drawn something in the pane; an id or a slot, because names are not looked up exactly here. */
export interface WaitPaneStep {
  readonly type: 'wait_pane';
  readonly target: PaneId | SlotRef;
  readonly timeoutMs: number;
}
/** A function of this process; a plan that holds one has no JSON. */
interface CallStep {
  readonly type: 'call';
  readonly name: string;
  readonly run: (context: HostContext) => unknown;
}

/** What happens between operations, outside tmux. */
export type HostStep = SleepStep | ScriptStep | WaitPaneStep | CallStep;

const duration = z
  .number()
  .min(0)
  .max(2 ** 31 - 1);
const sleepSchema = z.strictObject({ type: z.literal('sleep'), ms: duration });
const scriptSchema = z.strictObject({
  type: z.literal('script'),
  command: z.string().regex(/^[^\0]+$/, 'a command cannot be empty or hold a NUL byte'),
  cwd: z.string().startsWith('/', 'must be an absolute path').optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const waitPaneSchema = z.strictObject({
  type: z.literal('wait_pane'),
  target: z.union([paneIdSchema, slotSchema]),
  timeoutMs: duration,
});
const callSchema = z.strictObject({
  type: z.literal('call'),
  name: z.string().min(1),
  run: z.custom<CallStep['run']>((value) => typeof value === 'function', 'must be a function'),
});
export const hostStepSchema: z.ZodType<HostStep> = z.discriminatedUnion('type', [
  sleepSchema, scriptSchema, waitPaneSchema, callSchema,
]); // biome-ignore format: a list
/** Those that can be written down: a function cannot. */
export const writtenHostStepSchema: z.ZodType<HostStep> = z.discriminatedUnion('type', [
  sleepSchema, scriptSchema, waitPaneSchema,
]); // biome-ignore format: a list

export interface OperationStep {
  readonly type: 'operation';
  readonly operation: Operation;
  /** Added as a chain: on the line of the step before it, whichever planner is used. */
  readonly sameLine?: true;
}
/** Find or create: `create` runs unless `probe` answers with the ids. */
export interface EnsureStep {
  readonly type: 'ensure';
  readonly probe: Operation;
  readonly create: Operation;
}
interface PausingStep {
  readonly type: 'host';
  readonly host: HostStep;
}

export type Step = OperationStep | EnsureStep | PausingStep;

/** The operation whose answer fills the slot of a step. */
export function creatorOf(step: Step): Operation | undefined {
  if (step.type === 'host') return undefined;
  return step.type === 'ensure' ? step.create : step.operation;
}

/** Everything of a step that may name slots. */
export function paramsOfStep(step: Step): readonly unknown[] {
  if (step.type === 'host') return [step.host];
  return step.type === 'ensure' ? [step.probe.params, step.create.params] : [step.operation.params];
}
