import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';

/** What is asked for: to start a program; to read, type into or change, end, or end and start anew another pane; to change extensions; to have the seat of a session. */
export const approvalKinds = ['spawn', 'read', 'write', 'close', 'restart', 'extension', 'seat'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];
export type Decision = 'allow' | 'deny';

/** A call that waits for the user, with everything it would do: nothing is left out or cut off. */
export interface Approval {
  /** `apr_` and 8 hex digits. */
  readonly id: string;
  readonly kind: ApprovalKind;
  /** The action that waits. */
  readonly action: string;
  /** The pane that would be acted on. */
  readonly paneId?: string | undefined;
  /** Program and arguments that would be started. */
  readonly command?: readonly string[] | undefined;
  /** Where it would be started, with links resolved. */
  readonly cwd?: string | undefined;
  /** Names of the variables that it would be given and that differ from the user's own; never their values. */
  readonly env?: readonly string[] | undefined;
  /** What would be typed, or the other parameters as JSON. */
  readonly text?: string | undefined;
  /** Who is asked, where that is not the user. */
  readonly decider?: string | undefined;
  /** Why the user is asked. */
  readonly reason: string;
  readonly by: string;
  /** The pane that asks. */
  readonly pane?: string | undefined;
  readonly createdAt: string;
  readonly expiresAt: string;
}

const approval: z.ZodType<Approval> = z.object({
  id: z.string(),
  kind: z.enum(approvalKinds),
  action: z.string(),
  paneId: paneId.optional(),
  command: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  env: z.array(z.string()).optional(),
  text: z.string().optional(),
  decider: z.string().optional(),
  reason: z.string(),
  by: z.string(),
  pane: paneId.optional(),
  createdAt: z.string(),
  expiresAt: z.string(),
});

export interface ApprovalListResult {
  readonly approvals: readonly Approval[];
}

export const approvalList: Action<Record<string, never>, ApprovalListResult> = defineAction({
  name: 'approval:list',
  summary: 'Lists the calls that wait for the user, the oldest first.',
  scope: 'approval:read',
  effect: 'read',
  params: nothing,
  result: z.object({ approvals: z.array(approval) }),
});

export interface ApprovalResolveParams {
  readonly id: string;
  readonly decision: Decision;
}

const resolution: z.ZodType<ApprovalResolveParams> = z.strictObject({
  id: z.string().min(1).max(64).describe('Id of the approval.'),
  decision: z.enum(['allow', 'deny']).describe('allow lets that one call go on.'),
});

export const approvalResolve: Action<ApprovalResolveParams, ApprovalResolveParams> = defineAction({
  name: 'approval:resolve',
  summary: 'Allows or denies one call that waits for the user.',
  scope: 'approval:write',
  effect: 'write',
  params: resolution,
  result: resolution,
});
