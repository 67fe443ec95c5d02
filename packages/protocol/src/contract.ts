import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import {
  type ChangeKind,
  type ContractChange,
  type ContractDiff,
  type ContractFormat,
  changeKinds,
  contractFormats,
} from './contract-change.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { isStorable, mustBeStorable } from './text.ts';

const namePattern = /^[\p{L}\p{N}_.][\p{L}\p{M}\p{N}._/ -]{0,199}$/u;
/** Whether a contract can be called that. */
export const isContractName = (text: string): boolean =>
  namePattern.test(text.normalize('NFC')) && text.trim() === text;
const name: z.ZodType<string> = z
  .string()
  .refine(isContractName, 'must be 1-200 letters, digits, ".", "_", "-", "/" or spaces');
const version = z.int();
const project = {
  ...projectChoice,
  project_dir: z
    .string()
    .min(1)
    .max(4096)
    .refine(isStorable, mustBeStorable)
    .optional()
    .describe('Names the project where none is named.'),
};
const format = z.enum(contractFormats).optional();

const change: z.ZodType<ContractChange> = z.object({
  path: z.string(),
  kind: z.enum(Object.keys(changeKinds) as [ChangeKind, ...ChangeKind[]]),
  breaking: z.boolean(),
  before: z.unknown(),
  after: z.unknown(),
  message: z.string(),
});
const diff = {
  added: z.array(change),
  removed: z.array(change),
  changed: z.array(change),
  breaking: z.boolean(),
};

export interface ContractRegisterParams extends ProjectChoice {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly format?: ContractFormat | undefined;
  readonly note?: string | undefined;
}

export interface ContractRegisterResult {
  readonly name: string;
  readonly project: string;
  readonly version: number;
  /** False where it said the same already: then there is no new version. */
  readonly changed: boolean;
  readonly diff?: ContractDiff | undefined;
}

export const contractRegister: Action<ContractRegisterParams, ContractRegisterResult> = defineAction({
  name: 'contract:register',
  tool: 'register_contract',
  summary:
    'Makes a JSON Schema or OpenAPI document the next version of a contract; the same again makes none.',
  scope: 'contract:write',
  effect: 'write',
  oneStep: true,
  secrets: ['schema'],
  params: z.strictObject({
    name,
    schema: z.record(z.string(), z.unknown()),
    format: format.describe('Told by the document when left out.'),
    note: z.string().max(1000).refine(isStorable, mustBeStorable).optional(),
    ...project,
  }),
  result: z.object({
    name: z.string(),
    project: z.string(),
    version,
    changed: z.boolean(),
    diff: z.object(diff).optional(),
  }),
});

export interface ContractGetParams extends ProjectChoice {
  readonly name: string;
  readonly version?: number | undefined;
}

export interface ContractGetResult {
  readonly name: string;
  readonly project: string;
  readonly version: number;
  readonly latest: number;
  readonly format: ContractFormat;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly note?: string | undefined;
  readonly registered_by: string;
  readonly registered_at: string;
  readonly watch?: string | undefined;
  readonly problem?: string | undefined;
}

export const contractGet: Action<ContractGetParams, ContractGetResult> = defineAction({
  name: 'contract:get',
  tool: 'get_contract',
  summary: 'Answers a contract, the latest version unless another is named.',
  scope: 'contract:read',
  effect: 'read',
  params: z.strictObject({ name, version: version.optional(), ...project }),
  result: z.object({
    name: z.string(),
    project: z.string(),
    version,
    latest: z.int(),
    format: z.enum(contractFormats),
    schema: z.record(z.string(), z.unknown()),
    note: z.string().optional(),
    registered_by: z.string(),
    registered_at: z.string(),
    watch: z.string().optional(),
    problem: z.string().optional(),
  }),
});

export interface ContractDiffParams extends ProjectChoice {
  readonly name: string;
  readonly from_version: number;
  readonly to_version: number;
}

export interface ContractDiffResult extends ContractDiff {
  readonly name: string;
  readonly from_version: number;
  readonly to_version: number;
}

export const contractDiff: Action<ContractDiffParams, ContractDiffResult> = defineAction({
  name: 'contract:diff',
  tool: 'diff_contracts',
  summary: 'Tells how two versions of a contract differ, change by change, and what breaks.',
  scope: 'contract:read',
  effect: 'read',
  params: z.strictObject({ name, from_version: version, to_version: version, ...project }),
  result: z.object({ name: z.string(), from_version: version, to_version: version, ...diff }),
});

export interface ContractSubscribeParams extends ProjectChoice {
  readonly name: string;
  readonly unsubscribe?: boolean | undefined;
}

export interface ContractSubscribeResult {
  readonly ok: true;
  readonly name: string;
  readonly project: string;
  readonly current_version: number | null;
}

export const contractSubscribe: Action<ContractSubscribeParams, ContractSubscribeResult> = defineAction({
  name: 'contract:subscribe',
  tool: 'subscribe_contract',
  summary: 'Lets you hear of every new version of a contract, also of one that is still to come.',
  scope: 'contract:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ name, unsubscribe: z.boolean().optional(), ...project }),
  result: z.object({
    ok: z.literal(true),
    name: z.string(),
    project: z.string(),
    current_version: z.int().nullable(),
  }),
});

/** A new version that somebody who depends on it is told of. */
export interface ContractNotice {
  readonly event_id: number;
  readonly name: string;
  readonly project: string;
  readonly from_version: number;
  readonly version: number;
  /** Why it is told: subscribed to, or a task that is held depends on it. */
  readonly reason: 'subscribed' | 'task';
  readonly breaking: boolean;
  readonly diff: ContractDiff | null;
  readonly acknowledged: boolean;
  readonly at: string;
}

export interface ContractPendingParams {
  readonly since_event_id?: number | undefined;
  readonly limit?: number | undefined;
}

export interface ContractPendingResult {
  readonly events: readonly ContractNotice[];
  readonly has_more: boolean;
  readonly last_event_id: number;
}

export const contractPending: Action<ContractPendingParams, ContractPendingResult> = defineAction({
  name: 'contract:pending',
  tool: 'pending_contract_events',
  summary: 'Lists new versions of what you subscribed to or build on that you have not acknowledged.',
  scope: 'contract:read',
  effect: 'read',
  params: z.strictObject({
    since_event_id: z.int().min(0).optional().describe('All behind this one, acknowledged or not.'),
    limit: z.int().min(1).max(500).optional().describe('100 when left out.'),
  }),
  result: z.object({
    events: z.array(
      z.object({
        event_id: z.int(),
        name: z.string(),
        project: z.string(),
        from_version: z.int(),
        version,
        reason: z.enum(['subscribed', 'task']),
        breaking: z.boolean(),
        diff: z.object(diff).nullable(),
        acknowledged: z.boolean(),
        at: z.string(),
      }),
    ),
    has_more: z.boolean(),
    last_event_id: z.int(),
  }),
});

export interface ContractAckParams extends ProjectChoice {
  readonly name: string;
  readonly version?: number | undefined;
  readonly task_id?: string | undefined;
}

export interface ContractAckResult {
  readonly ok: true;
  readonly name: string;
  readonly version: number;
  readonly acknowledged: number;
  /** Tasks that are built on this version from now on. */
  readonly tasks: readonly string[];
}

export const contractAck: Action<ContractAckParams, ContractAckResult> = defineAction({
  name: 'contract:ack',
  tool: 'ack_contract',
  summary: 'Says that you know a new version of a contract: your tasks are built on it from then on.',
  scope: 'contract:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    name,
    version: version.optional().describe('The latest when left out.'),
    task_id: z.string().max(64).optional().describe('Only for this task.'),
    ...project,
  }),
  result: z.object({
    ok: z.literal(true),
    name: z.string(),
    version,
    acknowledged: z.int(),
    tasks: z.array(z.string()),
  }),
});

export interface ContractWatchParams extends ProjectChoice {
  readonly path: string;
  readonly name?: string | undefined;
}

/** A contract as a list shows it. */
export interface ContractInfo {
  readonly name: string;
  readonly project: string;
  readonly format?: ContractFormat | undefined;
  /** 0 where there is none yet. */
  readonly version: number;
  readonly subscribers: number;
  readonly watch?: string | undefined;
  readonly problem?: string | undefined;
}

const info = z.object({
  name: z.string(),
  project: z.string(),
  format: z.enum(contractFormats).optional(),
  version: z.int(),
  subscribers: z.int(),
  watch: z.string().optional(),
  problem: z.string().optional(),
});

export const contractWatch: Action<ContractWatchParams, ContractInfo> = defineAction({
  name: 'contract:watch',
  tool: 'watch_contract',
  summary: 'Makes a file the contract: every change of it is a version, told to all who depend on it.',
  scope: 'contract:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    path: z
      .string()
      .min(1)
      .max(4096)
      .refine(isStorable, mustBeStorable)
      .describe('JSON Schema or OpenAPI, as JSON or YAML.'),
    name: name.optional().describe('The path of the file in its project when left out.'),
    ...project,
  }),
  result: info,
});

export interface ContractUnwatchParams extends ProjectChoice {
  readonly name: string;
}

export const contractUnwatch: Action<ContractUnwatchParams, ContractInfo> = defineAction({
  name: 'contract:unwatch',
  tool: 'unwatch_contract',
  summary: 'Leaves the file of a contract alone; its versions stay.',
  scope: 'contract:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ name, ...project }),
  result: info,
});

export const contractList: Action<ProjectChoice, { readonly contracts: readonly ContractInfo[] }> =
  defineAction({
    name: 'contract:list',
    tool: 'list_contracts',
    summary: 'Lists the contracts of a project, with the files that are watched.',
    scope: 'contract:read',
    effect: 'read',
    params: z.strictObject(project),
    result: z.object({ contracts: z.array(info) }),
  });

/** A version without what it says. */
export interface ContractVersion {
  readonly version: number;
  readonly registered_by: string;
  readonly registered_at: string;
  /** Whoever built on the one before has to change with it. */
  readonly breaking: boolean;
  readonly note?: string | undefined;
}

/** Somebody who is told of new versions. */
export interface ContractDependent {
  /** Not known of a program that held a task and has gone. */
  readonly participant?: string | undefined;
  readonly subscribed: boolean;
  /** Versions that it has been told of and has not acknowledged. */
  readonly unacknowledged: readonly number[];
}

export interface ContractHistoryParams extends ProjectChoice {
  readonly name: string;
}

export interface ContractHistoryResult extends ContractInfo {
  /** The newest first. */
  readonly versions: readonly ContractVersion[];
  readonly dependents: readonly ContractDependent[];
}

export const contractHistory: Action<ContractHistoryParams, ContractHistoryResult> = defineAction({
  name: 'contract:history',
  summary: 'Lists the versions of a contract, who depends on it, and who has not acknowledged which.',
  scope: 'contract:read',
  effect: 'read',
  params: z.strictObject({ name, ...project }),
  result: info.extend({
    versions: z.array(
      z.object({
        version,
        registered_by: z.string(),
        registered_at: z.string(),
        breaking: z.boolean(),
        note: z.string().optional(),
      }),
    ),
    dependents: z.array(
      z.object({
        participant: z.string().optional(),
        subscribed: z.boolean(),
        unacknowledged: z.array(z.int()),
      }),
    ),
  }),
});
