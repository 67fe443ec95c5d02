import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { agentName, displayName, label, visibleText } from './mail-names.ts';
import { isStorable, mustBeStorable } from './text.ts';

/** Whether the program behind an agent runs; what cannot be known is not guessed. */
export const livenessValues = ['alive', 'gone', 'unknown'] as const;
export type Liveness = (typeof livenessValues)[number];

/** Which project is meant: xats calls it team. */
export interface ProjectChoice {
  readonly project?: string | undefined;
  readonly team?: string | undefined;
  readonly project_dir?: string | undefined;
}

type OptionalText = z.ZodOptional<z.ZodType<string>>;

const short = (most: number): z.ZodType<string> => z.string().min(1).max(most);

export const projectChoice: { readonly project: OptionalText; readonly team: OptionalText } = {
  project: label.optional(),
  team: label.optional().describe('The same as project.'),
};
const projectDir = z
  .string()
  .min(1)
  .max(4096)
  .refine(isStorable, mustBeStorable)
  .optional()
  .describe('Names the project where none is named.');

export interface MailRegisterParams extends ProjectChoice {
  readonly name: string;
  readonly display_name?: string | undefined;
  readonly role?: string | undefined;
  readonly client?: string | undefined;
  readonly model?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  readonly take_over?: boolean | undefined;
}

export interface MailRegisterResult {
  readonly agent_id: string;
  readonly name: string;
  readonly participant: string;
  readonly project: string;
  readonly team: string;
  readonly status: 'new' | 'again' | 'taken-over';
  /** Proves later that it is the same agent; answered once. */
  readonly secret?: string | undefined;
  readonly unread: number;
  readonly hint: string;
}

const agentId = z.string().regex(/^agt_[0-9a-f]{16}$/, 'must be agt_ and 16 hex digits');

export const mailRegister: Action<MailRegisterParams, MailRegisterResult> = defineAction({
  name: 'mail:register',
  tool: 'register_agent',
  summary: 'Gives you a name in a project, so that others can write to you. Your user says which name.',
  scope: 'mail:write',
  effect: 'write',
  oneStep: true,
  secrets: ['secret'],
  params: z.strictObject({
    name: agentName,
    ...projectChoice,
    project_dir: projectDir,
    role: label.optional(),
    display_name: displayName.optional(),
    client: label.optional(),
    model: visibleText(100).optional(),
    capabilities: z.array(visibleText(64)).max(20).optional(),
    secret: short(128).optional().describe('As an earlier registration answered it.'),
    take_over: z
      .boolean()
      .optional()
      .describe('Take the name from whoever holds it; only if your user said so.'),
  }),
  result: z.object({
    agent_id: agentId,
    name: z.string(),
    participant: z.string(),
    project: z.string(),
    team: z.string(),
    status: z.enum(['new', 'again', 'taken-over']),
    secret: z.string().optional(),
    unread: z.int(),
    hint: z.string(),
  }),
});

export interface MailRenameParams extends ProjectChoice {
  readonly name: string;
  readonly agent_name?: string | undefined;
}

export interface MailRenameResult {
  readonly agent_id: string;
  readonly name: string;
  /** What it was called before. */
  readonly before: string;
  readonly participant: string;
  readonly project: string;
  readonly team: string;
}

export const mailRename: Action<MailRenameParams, MailRenameResult> = defineAction({
  name: 'mail:rename',
  summary: 'Gives an agent another name; it keeps its agent_id, its mail and how far it has read.',
  scope: 'mail:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    name: agentName.describe('What it is called from now on.'),
    agent_name: agentName.optional().describe('Whom your user renames; an agent renames itself.'),
    ...projectChoice,
    project_dir: projectDir,
  }),
  result: z.object({
    agent_id: agentId,
    name: z.string(),
    before: z.string(),
    participant: z.string(),
    project: z.string(),
    team: z.string(),
  }),
});

export interface MailUnregisterResult {
  readonly ok: true;
  readonly agent_id: string;
  readonly name: string;
  readonly project: string;
  readonly team: string;
}

export const mailUnregister: Action<Record<string, never>, MailUnregisterResult> = defineAction({
  name: 'mail:unregister',
  tool: 'unregister_self',
  summary: 'Leaves the project; your mail is kept for when you register again.',
  scope: 'mail:write',
  effect: 'write',
  oneStep: true,
  params: nothing,
  result: z.object({
    ok: z.literal(true),
    agent_id: agentId,
    name: z.string(),
    project: z.string(),
    team: z.string(),
  }),
});

export interface MailReconnectParams extends ProjectChoice {
  readonly name?: string | undefined;
  readonly secret?: string | undefined;
}

interface Candidate {
  readonly agent_id: string;
  readonly name: string;
  readonly project: string;
}

export interface MailReconnectResult {
  readonly status: 'reused' | 'need_register' | 'ambiguous';
  readonly agent_id?: string | undefined;
  readonly name?: string | undefined;
  readonly project?: string | undefined;
  readonly unread?: number | undefined;
  readonly candidates?: readonly Candidate[] | undefined;
  /** What to do next, and who decides. */
  readonly hint: string;
}

export const mailReconnect: Action<MailReconnectParams, MailReconnectResult> = defineAction({
  name: 'mail:reconnect',
  tool: 'reconnect',
  summary: 'Finds out who you were before a restart, and is that again; changes nothing when it cannot tell.',
  scope: 'mail:write',
  effect: 'write',
  oneStep: true,
  secrets: ['secret'],
  params: z.strictObject({
    name: agentName.optional(),
    ...projectChoice,
    project_dir: projectDir,
    secret: short(128).optional(),
  }),
  result: z.object({
    status: z.enum(['reused', 'need_register', 'ambiguous']),
    agent_id: agentId.optional(),
    name: z.string().optional(),
    project: z.string().optional(),
    unread: z.int().optional(),
    candidates: z.array(z.object({ agent_id: agentId, name: z.string(), project: z.string() })).optional(),
    hint: z.string(),
  }),
});

/** An agent as others see it: no pane, no folder, nothing that proves anything. */
export interface MailAgent {
  readonly agent_id: string;
  readonly name: string;
  readonly participant: string;
  readonly display_name?: string | undefined;
  readonly project: string;
  readonly role?: string | undefined;
  readonly client?: string | undefined;
  readonly model?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly liveness: Liveness;
  readonly online: boolean;
  readonly registered_at: string;
  readonly last_seen_at: string;
  /** Where it runs, and how much it has not read: for the user alone. */
  readonly pane?: string | undefined;
  readonly unread?: number | undefined;
  readonly you?: true | undefined;
}

const mailAgent: z.ZodType<MailAgent> = z.object({
  agent_id: agentId,
  name: z.string(),
  participant: z.string(),
  display_name: z.string().optional(),
  project: z.string(),
  role: z.string().optional(),
  client: z.string().optional(),
  model: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  liveness: z.enum(livenessValues),
  online: z.boolean(),
  registered_at: z.string(),
  last_seen_at: z.string(),
  pane: z.string().optional(),
  unread: z.int().optional(),
  you: z.literal(true).optional(),
});

export interface MailAgentsParams extends ProjectChoice {
  readonly role?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface MailAgentsResult {
  readonly agents: readonly MailAgent[];
  readonly has_more: boolean;
}

export const mailAgents: Action<MailAgentsParams, MailAgentsResult> = defineAction({
  name: 'mail:agents',
  tool: 'list_agents',
  summary: 'Lists the agents of your project that can be written to.',
  scope: 'mail:read',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    role: label.optional(),
    after: agentId.optional().describe('Go on behind this agent_id.'),
    limit: z.int().min(1).max(200).optional(),
  }),
  result: z.object({ agents: z.array(mailAgent), has_more: z.boolean() }),
});
