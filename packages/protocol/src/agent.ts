import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { paneId } from './id.ts';
import { type PaneNewParams, type PaneNewResult, paneNew, paneNewShape } from './pane.ts';
import { text } from './pane-parts.ts';

export const agentStatuses = [
  'unknown',
  'starting',
  'idle',
  'running',
  'blocked',
  'done',
  'error',
  'gone',
] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export interface AgentCreateParams extends Pick<PaneNewParams, 'id' | 'cwd' | 'env' | 'meta'> {
  readonly argv: readonly string[];
  readonly model?: string | undefined;
  readonly permissions?: 'ask' | 'auto' | undefined;
  readonly prompt?: string | undefined;
}

export interface AgentPane extends PaneNewResult {
  readonly agent: { readonly vendor: string; readonly status: AgentStatus };
}

const { id, cwd, env, meta } = paneNewShape;

export const agentCreate: Action<AgentCreateParams, AgentPane> = defineAction({
  name: 'agent:create',
  summary: 'Starts a coding agent in a new pane.',
  scope: 'pane:spawn',
  effect: 'write',
  params: z.strictObject({
    argv: z.array(text).min(1).describe('The agent and its own flags, for example ["claude"].'),
    id,
    cwd,
    env,
    meta,
    model: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('haiku, sonnet or opus for claude; a model’s name for others.'),
    permissions: z
      .enum(['ask', 'auto'])
      .optional()
      .describe('Whether the agent asks before it acts; ask when left out.'),
    prompt: z.string().min(1).optional().describe('What it starts with.'),
  }),
  result: z.intersection(
    paneNew.result,
    z.object({ agent: z.object({ vendor: z.string(), status: z.enum(agentStatuses) }) }),
  ),
  secrets: ['env'],
});

export interface AgentInfo {
  readonly id: string;
  readonly vendor: string;
  readonly status: AgentStatus;
  /** What told the status. */
  readonly evidence?: string | undefined;
  readonly title: string;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
}

export const agentList: Action<Record<string, never>, readonly AgentInfo[]> = defineAction({
  name: 'agent:list',
  summary: 'Lists the agents and what each is doing, as far as its screen tells.',
  scope: 'pane:read',
  effect: 'read',
  params: nothing,
  result: z.array(
    z.object({
      id: paneId,
      vendor: z.string(),
      status: z.enum(agentStatuses),
      evidence: z.string().optional(),
      title: z.string(),
      exitCode: z.int().nullable().optional(),
      exitSignal: z.string().nullable().optional(),
    }),
  ),
});

export const deliveryStates = ['queued', 'written', 'seen', 'failed', 'uncertain'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One attempt to reach one recipient. */
export interface Delivery {
  readonly state: DeliveryState;
  /** Which way it went. */
  readonly door: string;
  readonly reason?: string | undefined;
}

export interface AgentMessageParams {
  readonly paneId: string;
  readonly text: string;
  readonly timeoutMs?: number | undefined;
}

export const agentMessage: Action<AgentMessageParams, Delivery> = defineAction({
  name: 'agent:message',
  summary: 'Gives an agent a message, and says how far it got.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({
    paneId,
    text: z.string().min(1).max(65_536),
    timeoutMs: z
      .int()
      .min(1)
      .max(3_600_000)
      .optional()
      .describe('For how long it may show no place for text; 60 seconds when left out.'),
  }),
  result: z.object({ state: z.enum(deliveryStates), door: z.string(), reason: z.string().optional() }),
});

export interface AgentSetStateParams {
  readonly paneId: string;
  readonly status: AgentStatus;
  readonly sessionId?: string | undefined;
  readonly error?: string | undefined;
  readonly runtime?: string | undefined;
}

export const agentSetState: Action<AgentSetStateParams, { readonly id: string }> = defineAction({
  name: 'agent:set-state',
  summary: 'Notes what an agent is doing.',
  scope: 'agent:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({
    paneId,
    status: z.enum(agentStatuses),
    sessionId: z.string().max(256).optional(),
    error: z.string().max(4096).optional(),
    runtime: z.string().max(64).optional(),
  }),
  result: z.object({ id: paneId }),
});
