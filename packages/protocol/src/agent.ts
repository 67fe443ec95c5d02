import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { type BlockedOn, blockedReasons, type ScreenStatus, screenStatuses } from './agent-screen.ts';
import { paneId } from './id.ts';
import { type PaneNewParams, type PaneNewResult, paneNew, paneNewShape } from './pane.ts';
import { type PaneParams, paneParams, text } from './pane-parts.ts';
import { type PaneScreen, paneScreen } from './pane-terminal.ts';

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

/** Who may tell what an agent does, the most trusted first. */
export const authorities = ['process', 'protocol', 'hooks', 'session file', 'screen'] as const;
export type Authority = (typeof authorities)[number];

/** What an agent waits for. `setup` is a question of its own at its start, `menu` anything it opened. */
export const reasonKinds = [
  'permission',
  'question',
  'plan',
  'rate limit',
  'trust',
  'setup',
  'menu',
  'dialog',
] as const;

export interface AgentReason {
  readonly kind: (typeof reasonKinds)[number];
  /** The tool it wants to use, and on what. */
  readonly tool?: string | undefined;
  readonly input?: string | undefined;
  /** The question, or what it says. */
  readonly text?: string | undefined;
  readonly options?: readonly string[] | undefined;
  /** When a limit ends, where that was told. */
  readonly resetsAt?: string | undefined;
}

/** An agent that somebody else has started: where it runs, and what can be known of it and done with it. */
export interface AdoptedAgentInfo {
  readonly pid: number;
  readonly cwd: string;
  /** Its tmux pane; without one it runs outside of any tmux that answers. */
  readonly tmux?: { readonly socket: string; readonly pane: string } | undefined;
  /** Who can tell what it does. */
  readonly sources: readonly Authority[];
  /** Whether it can be given messages. */
  readonly typing: boolean;
  /** Whether its conversation is known, so that it can be taken up again once it has ended. */
  readonly resume: boolean;
  /** What cannot be known or done, and what would change that. */
  readonly notes: readonly string[];
}

export const adoptedAgentInfo: z.ZodType<AdoptedAgentInfo> = z.object({
  pid: z.int(),
  cwd: z.string(),
  tmux: z.object({ socket: z.string(), pane: z.string() }).optional(),
  sources: z.array(z.enum(authorities)),
  typing: z.boolean(),
  resume: z.boolean(),
  notes: z.array(z.string()),
});

export interface AgentInfo {
  readonly id: string;
  readonly vendor: string;
  readonly status: AgentStatus;
  /** Since when. */
  readonly since?: string | undefined;
  /** What it waits for. */
  readonly reason?: AgentReason | undefined;
  /** Which conversation it is in, in its own words, where that is known. */
  readonly sessionId?: string | undefined;
  /** What told the status, and who. */
  readonly evidence?: string | undefined;
  readonly authority?: Authority | undefined;
  readonly title: string;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
  /** Of one that was adopted, and runs in no pane of ours. */
  readonly adopted?: AdoptedAgentInfo | undefined;
}

const reason = z.object({
  kind: z.enum(reasonKinds),
  tool: z.string().optional(),
  input: z.string().optional(),
  text: z.string().optional(),
  options: z.array(z.string()).optional(),
  resetsAt: z.string().optional(),
});

const agentInfo = z.object({
  id: paneId,
  vendor: z.string(),
  status: z.enum(agentStatuses),
  since: z.string().optional(),
  reason: reason.optional(),
  sessionId: z.string().optional(),
  evidence: z.string().optional(),
  authority: z.enum(authorities).optional(),
  title: z.string(),
  exitCode: z.int().nullable().optional(),
  exitSignal: z.string().nullable().optional(),
  adopted: adoptedAgentInfo.optional(),
});

export const agentList: Action<Record<string, never>, readonly AgentInfo[]> = defineAction({
  name: 'agent:list',
  summary: 'Lists the agents and what each is doing, as far as anybody can tell.',
  scope: 'pane:read',
  effect: 'read',
  params: nothing,
  result: z.array(agentInfo),
});

/** What one source tells of an agent, and what that counted for. */
export interface AgentSignal {
  readonly authority: Authority;
  readonly status: AgentStatus;
  readonly reason?: AgentReason | undefined;
  readonly evidence: string;
  readonly ageMs: number;
  readonly decides: boolean;
}

export interface AgentExplanation extends AgentInfo {
  /** Why the deciding source is believed. */
  readonly rule: string;
  readonly signals: readonly AgentSignal[];
  /** What nobody tells of this kind of agent, and where it is seen instead. */
  readonly gaps: readonly string[];
}

export const agentExplain: Action<{ readonly paneId: string }, AgentExplanation> = defineAction({
  name: 'agent:explain',
  summary: 'Says why an agent is taken to do what it does: every source, how old it is, and which decided.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: z.strictObject({ paneId }),
  result: z.intersection(
    agentInfo,
    z.object({
      rule: z.string(),
      signals: z.array(
        z.object({
          authority: z.enum(authorities),
          status: z.enum(agentStatuses),
          reason: reason.optional(),
          evidence: z.string(),
          ageMs: z.number(),
          decides: z.boolean(),
        }),
      ),
      gaps: z.array(z.string()),
    }),
  ),
});

export const agentResume: Action<{ readonly paneId: string }, AgentPane> = defineAction({
  name: 'agent:resume',
  summary: 'Starts an agent that has ended again, in its pane and with its conversation.',
  scope: 'pane:spawn',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId }),
  result: agentCreate.result,
});

export const agentSeen: Action<{ readonly paneId: string }, Record<string, never>> = defineAction({
  name: 'agent:seen',
  summary: 'Notes that somebody has looked at an agent: what is done is then idle.',
  scope: 'agent:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId }),
  result: nothing,
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

export const deliveryShape: z.ZodType<Delivery> = z.object({
  state: z.enum(deliveryStates),
  door: z.string(),
  reason: z.string().optional(),
});

export interface AgentMessageParams {
  readonly paneId: string;
  readonly text: string;
  readonly timeoutMs?: number | undefined;
}

export const agentMessage: Action<AgentMessageParams, Delivery> = defineAction({
  name: 'agent:message',
  summary: 'Gives an agent a message, and says how far it got.',
  scope: 'pane:drive',
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
  result: deliveryShape,
});

/** A reason as somebody tells it: words of a program, which have an end. */
const toldReason = z.strictObject({
  kind: z.enum(reasonKinds),
  tool: z.string().max(256).optional(),
  input: z.string().max(4096).optional(),
  text: z.string().max(4096).optional(),
  options: z.array(z.string().max(256)).max(32).optional(),
  resetsAt: z.iso.datetime().optional(),
});

export interface AgentSetStateParams {
  readonly paneId: string;
  readonly status: AgentStatus;
  readonly reason?: AgentReason | undefined;
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
    reason: toldReason.optional().describe('What it waits for, when it is blocked.'),
    sessionId: z.string().min(1).max(256).optional(),
    error: z.string().max(4096).optional(),
    runtime: z.string().min(1).max(64).optional(),
  }),
  result: z.object({ id: paneId }),
});

export interface AgentRecording {
  readonly vendor: string;
  readonly version?: string | undefined;
  /** What it does as far as is known without its screen, what for it waits, and who told. */
  readonly told?:
    | {
        readonly status: AgentStatus;
        readonly kind?: AgentReason['kind'] | undefined;
        readonly authority: Authority;
      }
    | undefined;
  readonly screen: PaneScreen;
  /** What the rules read from the screen. */
  readonly read: {
    readonly status: ScreenStatus;
    readonly evidence: string;
    readonly blockedOn?: BlockedOn | undefined;
    readonly draft?: string | undefined;
    readonly queued?: boolean | undefined;
    /** The file of rules that told it. */
    readonly rules?: string | undefined;
  };
}

export const agentRecord: Action<PaneParams, AgentRecording> = defineAction({
  name: 'agent:record',
  summary: 'Answers what an agent shows, what the rules read from it, and what is known without it.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: paneParams,
  result: z.object({
    vendor: z.string(),
    version: z.string().optional(),
    told: z
      .object({
        status: z.enum(agentStatuses),
        kind: z.enum(reasonKinds).optional(),
        authority: z.enum(authorities),
      })
      .optional(),
    screen: paneScreen.result,
    read: z.object({
      status: z.enum(screenStatuses),
      evidence: z.string(),
      blockedOn: z.enum(blockedReasons).optional(),
      draft: z.string().optional(),
      queued: z.boolean().optional(),
      rules: z.string().optional(),
    }),
  }),
});
