import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { agentName } from './mail-names.ts';
import { isOneLine, isStorable, mustBeOneLine, mustBeStorable, utf8Length } from './text.ts';

export const taskStatuses = ['pending', 'in_progress', 'completed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** A contract a task is built on, as far as it is known to whoever does the task. */
export interface TaskContract {
  readonly name: string;
  /** The version it is built on: what was current when it was added, or was acknowledged since. */
  readonly version: number;
  readonly current: number;
  /** It has changed since: the task cannot be completed before that is acknowledged. */
  readonly stale: boolean;
}

export interface Task {
  readonly task_id: string;
  readonly project: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly status: TaskStatus;
  readonly depends_on: readonly string[];
  /** Those of them that are not completed. */
  readonly waits_for: readonly string[];
  /** Whether it can be claimed now. */
  readonly ready: boolean;
  readonly contracts: readonly TaskContract[];
  readonly stale: boolean;
  readonly owner?: string | undefined;
  readonly owner_id?: string | undefined;
  /** Counts the claims: who holds an older number holds nothing. */
  readonly fence: number;
  readonly lease_until?: string | undefined;
  readonly result?: unknown;
  readonly created_by: string;
  readonly created_at: string;
  readonly completed_at?: string | undefined;
}

const taskId = z.string().regex(/^tsk_[0-9a-f]{1,16}$/, 'must be tsk_ and hex digits');
const fence = z
  .int()
  .min(1)
  .optional()
  .describe('As claiming answered it: refused when somebody claimed since.');
const lease = z
  .int()
  .min(1)
  .max(86_400)
  .optional()
  .describe('Seconds until the claim runs out; 3600 when left out.');
const projectDir = z
  .string()
  .min(1)
  .max(4096)
  .refine(isStorable, mustBeStorable)
  .optional()
  .describe('Names the project where none is named.');

const taskContract: z.ZodType<TaskContract> = z.object({
  name: z.string(),
  version: z.int(),
  current: z.int(),
  stale: z.boolean(),
});

const task: z.ZodType<Task> = z.object({
  task_id: z.string(),
  project: z.string(),
  title: z.string(),
  description: z.string().optional(),
  status: z.enum(taskStatuses),
  depends_on: z.array(z.string()),
  waits_for: z.array(z.string()),
  ready: z.boolean(),
  contracts: z.array(taskContract),
  stale: z.boolean(),
  owner: z.string().optional(),
  owner_id: z.string().optional(),
  fence: z.int(),
  lease_until: z.string().optional(),
  result: z.unknown(),
  created_by: z.string(),
  created_at: z.string(),
  completed_at: z.string().optional(),
});

export interface TaskAddParams extends ProjectChoice {
  readonly title: string;
  readonly description?: string | undefined;
  readonly depends_on?: readonly string[] | undefined;
  readonly contracts?:
    | readonly { readonly name: string; readonly version?: number | undefined }[]
    | undefined;
}

export interface TaskAddResult {
  readonly task_id: string;
  readonly project: string;
  readonly ready: boolean;
}

export const taskAdd: Action<TaskAddParams, TaskAddResult> = defineAction({
  name: 'task:add',
  summary: 'Adds a task for whoever claims it; it waits for the tasks it depends on.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    title: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .refine(isStorable, mustBeStorable)
      .refine(isOneLine, mustBeOneLine),
    description: z.string().max(16_384).refine(isStorable, mustBeStorable).optional(),
    depends_on: z.array(taskId).max(100).optional().describe('Ids of tasks that must be completed first.'),
    contracts: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(200).refine(isStorable, mustBeStorable),
          version: z.int().optional(),
        }),
      )
      .max(20)
      .optional()
      .describe('Contracts it is built on, each with a version; the current one when left out.'),
    ...projectChoice,
    project_dir: projectDir,
  }),
  result: z.object({ task_id: z.string(), project: z.string(), ready: z.boolean() }),
});

export interface TaskClaimParams {
  readonly task_id: string;
  readonly lease_s?: number | undefined;
}

/** What holding a task means: with which number, until when, and what changed under it before. */
export interface TaskHeld {
  readonly ok: true;
  readonly task_id: string;
  readonly owner: string;
  readonly fence: number;
  readonly lease_until: string;
  readonly stale: readonly TaskContract[];
}

const held: z.ZodType<TaskHeld> = z.object({
  ok: z.literal(true),
  task_id: z.string(),
  owner: z.string(),
  fence: z.int(),
  lease_until: z.string(),
  stale: z.array(taskContract),
});

export const taskClaim: Action<TaskClaimParams, TaskHeld> = defineAction({
  name: 'task:claim',
  summary: 'Claims a task for you alone, for a time; answers the fence that completing it takes.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ task_id: taskId, lease_s: lease }),
  result: held,
});

export interface TaskHoldParams extends TaskClaimParams {
  readonly fence?: number | undefined;
}

export const taskHeartbeat: Action<TaskHoldParams, TaskHeld> = defineAction({
  name: 'task:heartbeat',
  summary: 'Keeps a task that you hold for a further time.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ task_id: taskId, fence, lease_s: lease }),
  result: held,
});

export interface TaskReleaseParams {
  readonly task_id: string;
  readonly fence?: number | undefined;
}

const done = z.object({ ok: z.literal(true), task_id: z.string() });

export interface TaskDone {
  readonly ok: true;
  readonly task_id: string;
}

export const taskRelease: Action<TaskReleaseParams, TaskDone> = defineAction({
  name: 'task:release',
  summary: 'Gives a task back that you hold, so that somebody else can claim it.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ task_id: taskId, fence }),
  result: done,
});

export interface TaskReassignParams extends TaskHoldParams {
  readonly to: string;
}

export const taskReassign: Action<TaskReassignParams, TaskHeld> = defineAction({
  name: 'task:reassign',
  summary: 'Hands a task that you hold, or that nobody holds, to another agent of its project.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    task_id: taskId,
    to: agentName.describe('Name of the agent.'),
    fence,
    lease_s: lease,
  }),
  result: held,
});

export interface TaskDependParams {
  readonly task_id: string;
  readonly depends_on: readonly string[];
}

export const taskDepend: Action<TaskDependParams, TaskDone> = defineAction({
  name: 'task:depend',
  summary: 'Lets a task wait for further tasks; a circle is refused.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ task_id: taskId, depends_on: z.array(taskId).min(1).max(100) }),
  result: done,
});

export interface TaskCompleteParams extends TaskReleaseParams {
  readonly result?: unknown;
}

export const taskComplete: Action<TaskCompleteParams, TaskDone> = defineAction({
  name: 'task:complete',
  summary: 'Completes a task that you hold, with its result.',
  scope: 'task:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    task_id: taskId,
    result: z
      .unknown()
      .refine(
        (value) => value === undefined || utf8Length(JSON.stringify(value)) <= 65_536,
        'must be 64 KiB or less',
      )
      .optional(),
    fence,
  }),
  result: done,
});

export interface TaskListParams extends ProjectChoice {
  readonly status?: TaskStatus | undefined;
  readonly ready?: boolean | undefined;
  readonly mine?: boolean | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TaskListResult {
  readonly tasks: readonly Task[];
  readonly has_more: boolean;
}

export const taskList: Action<TaskListParams, TaskListResult> = defineAction({
  name: 'task:list',
  summary: 'Lists the tasks of a project, the oldest first; those with ready can be claimed now.',
  scope: 'task:read',
  effect: 'read',
  params: z.strictObject({
    status: z.enum(taskStatuses).optional(),
    ready: z.boolean().optional().describe('Only those that can be claimed now, or only those that cannot.'),
    mine: z.boolean().optional().describe('Only those that you hold or have completed.'),
    after: taskId.optional().describe('Go on behind this task.'),
    limit: z.int().min(1).max(500).optional().describe('100 when left out.'),
    ...projectChoice,
    project_dir: projectDir,
  }),
  result: z.object({ tasks: z.array(task), has_more: z.boolean() }),
});
