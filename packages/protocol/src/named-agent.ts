import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { isIcon } from './icon.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { agentName, displayName, label, visibleText } from './mail-names.ts';
import { isStorable, mustBeStorable } from './text.ts';
import { type TimelineKind, timelineKinds, watchableKinds } from './timeline-kind.ts';

/** Who runs the program of a named agent: somebody else, who registers with its name, or the hub in a pane. */
export const agentHostings = ['self', 'hub'] as const;
export type AgentHosting = (typeof agentHostings)[number];

/**
 * How it stands with a named agent in a project. `away`: nobody is there under its name; `here`: somebody is. Of those
 * that the hub runs also `starting`, `running`, and `waiting` to be started again.
 */
export const memberStates = ['away', 'here', 'starting', 'running', 'waiting'] as const;
export type MemberState = (typeof memberStates)[number];

/** What an agent hears of the sessions of its projects: entries of these kinds, and where words are said only those with one of them. */
export interface AgentWatch {
  readonly kinds: readonly TimelineKind[];
  readonly words?: readonly string[] | undefined;
}

/** A named agent in one project: it has one session there. */
export interface AgentMember {
  readonly project: string;
  readonly project_key: string;
  readonly session_id: string;
  readonly session: string;
  /** By a tag of the project, by somebody's word, or because it has registered there. */
  readonly how: 'tag' | 'invited' | 'registered';
  readonly state: MemberState;
  /** Why it is in that state, where that is to be told. */
  readonly reason?: string | undefined;
  readonly pane?: string | undefined;
  /** How often it was started again in a row. */
  readonly restarts?: number | undefined;
  /** When it is started again. */
  readonly next_at?: string | undefined;
  /** It has used up its budget, and is heard again then. */
  readonly throttled_until?: string | undefined;
  readonly since: string;
}

/** An agent that the user has given a name: who it is in every project. */
export interface NamedAgent {
  readonly name: string;
  readonly participant: string;
  readonly display_name: string;
  /** As people see it: of a sub-agent the name of the one above it. */
  readonly shown_as: string;
  readonly icon?: string | undefined;
  readonly description?: string | undefined;
  readonly skills: readonly string[];
  /** Projects with one of these tags have it as a member. */
  readonly tags: readonly string[];
  readonly hosting: AgentHosting;
  /** Whose sub-agent it is: `dean` of `dean.sql`. */
  readonly parent?: string | undefined;
  readonly subagents: readonly string[];
  /** So many messages a minute in each project. */
  readonly budget: number;
  /** In one project it knows nothing of the others. */
  readonly isolated: boolean;
  /** It takes the seat of its own session where that is open. */
  readonly drives: boolean;
  readonly watch?: AgentWatch | undefined;
  readonly members: readonly AgentMember[];
  readonly created_by: string;
  readonly created_at: string;
  /** What the hub runs, where, and the variables it is given secrets in: for the user alone. */
  readonly command?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
}

const most = { skills: 20, tags: 20, words: 20, argv: 64 };
const text = (longest: number): z.ZodType<string> =>
  z.string().min(1).max(longest).refine(isStorable, mustBeStorable);

const watch: z.ZodType<AgentWatch> = z.strictObject({
  kinds: z
    .array(z.enum(watchableKinds as [TimelineKind, ...TimelineKind[]]))
    .min(1)
    .max(watchableKinds.length),
  words: z.array(visibleText(64)).max(most.words).optional().describe('Only entries with one of these.'),
});

const parts = {
  display_name: displayName,
  icon: z.string().refine(isIcon, 'must be one emoji, or one or two letters or digits'),
  description: visibleText(500),
  skills: z.array(visibleText(64)).max(most.skills),
  tags: z.array(label).max(most.tags).describe('Projects with one of these tags have it as a member.'),
  hosting: z.enum(agentHostings).describe('self: who has its name runs it; hub: the hub runs its command.'),
  command: z.array(text(4096)).min(1).max(most.argv).describe('What the hub runs, and its arguments.'),
  cwd: text(4096)
    .refine((path) => path.startsWith('/'), 'must be an absolute path')
    .describe('Where the hub runs it; your home when left out.'),
  budget: z.int().min(1).max(600).describe('So many messages a minute in each project; 60 when left out.'),
  isolated: z.boolean().describe('In one project it knows nothing of the others.'),
  drives: z.boolean().describe('It takes the seat of its own session where that is open.'),
  watch: watch.describe('What it hears of the sessions of its projects.'),
};

export interface AgentParts {
  readonly display_name?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly hosting?: AgentHosting | undefined;
  readonly budget?: number | undefined;
  readonly isolated?: boolean | undefined;
  readonly drives?: boolean | undefined;
}

export interface AgentAddParams extends AgentParts {
  readonly name: string;
  readonly icon?: string | undefined;
  readonly description?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly watch?: AgentWatch | undefined;
}

const member: z.ZodType<AgentMember> = z.object({
  project: z.string(),
  project_key: z.string(),
  session_id: z.string(),
  session: z.string(),
  how: z.enum(['tag', 'invited', 'registered']),
  state: z.enum(memberStates),
  reason: z.string().optional(),
  pane: z.string().optional(),
  restarts: z.int().optional(),
  next_at: z.string().optional(),
  throttled_until: z.string().optional(),
  since: z.string(),
});

const namedAgent: z.ZodType<NamedAgent> = z.object({
  name: z.string(),
  participant: z.string(),
  display_name: z.string(),
  shown_as: z.string(),
  icon: z.string().optional(),
  description: z.string().optional(),
  skills: z.array(z.string()),
  tags: z.array(z.string()),
  hosting: z.enum(agentHostings),
  parent: z.string().optional(),
  subagents: z.array(z.string()),
  budget: z.int(),
  isolated: z.boolean(),
  drives: z.boolean(),
  watch: z
    .object({ kinds: z.array(z.enum(timelineKinds)), words: z.array(z.string()).optional() })
    .optional(),
  members: z.array(member),
  created_by: z.string(),
  created_at: z.string(),
  command: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  secrets: z.array(z.string()).optional(),
});

const name = agentName.describe('Behind agent:; dean.sql is a sub-agent of dean.');
const write = { scope: 'floor:admin', effect: 'write', oneStep: true } as const;
const optional = {
  display_name: parts.display_name.optional(),
  skills: parts.skills.optional(),
  tags: parts.tags.optional(),
  hosting: parts.hosting.optional(),
  budget: parts.budget.optional(),
  isolated: parts.isolated.optional(),
  drives: parts.drives.optional(),
};

export const floorAgentAdd: Action<AgentAddParams, NamedAgent> = defineAction({
  name: 'floor:agent-add',
  summary: 'Gives an agent a name that is its own in every project.',
  ...write,
  params: z.strictObject({
    name,
    ...optional,
    icon: parts.icon.optional(),
    description: parts.description.optional(),
    command: parts.command.optional(),
    cwd: parts.cwd.optional(),
    watch: parts.watch.optional(),
  }),
  result: namedAgent,
});

export interface AgentEditParams extends AgentParts {
  readonly name: string;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly command?: readonly string[] | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly watch?: AgentWatch | null | undefined;
}

export const floorAgentEdit: Action<AgentEditParams, NamedAgent> = defineAction({
  name: 'floor:agent-edit',
  summary: 'Changes what is known of a named agent; what is left out stays, and null takes it away.',
  ...write,
  params: z.strictObject({
    name,
    ...optional,
    icon: parts.icon.nullable().optional(),
    description: parts.description.nullable().optional(),
    command: parts.command.nullable().optional(),
    cwd: parts.cwd.nullable().optional(),
    watch: parts.watch.nullable().optional(),
  }),
  result: namedAgent,
});

export interface AgentRemoved {
  readonly participant: string;
}

export const floorAgentRemove: Action<{ readonly name: string }, AgentRemoved> = defineAction({
  name: 'floor:agent-remove',
  summary:
    'Takes the name of an agent back with its secrets, and ends what the hub runs of it; what it said stays.',
  scope: 'floor:admin',
  effect: 'destructive',
  oneStep: true,
  onFullDisk: true,
  params: z.strictObject({ name }),
  result: z.object({ participant: z.string() }),
});

export interface AgentsParams extends ProjectChoice {
  readonly skill?: string | undefined;
}

export const floorAgents: Action<AgentsParams, { readonly agents: readonly NamedAgent[] }> = defineAction({
  name: 'floor:agents',
  tool: 'floor_agents',
  summary: 'Lists the named agents, of a project or of all: what each is good at and where it is.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    skill: visibleText(64).optional().describe('Only those with a skill that has these letters.'),
  }),
  result: z.object({ agents: z.array(namedAgent) }),
});

export const floorAgent: Action<{ readonly name: string }, NamedAgent> = defineAction({
  name: 'floor:agent',
  summary: 'Shows a named agent.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({ name }),
  result: namedAgent,
});

export interface AgentPlaceParams extends ProjectChoice {
  readonly name: string;
}

const place = z.strictObject({ name, ...projectChoice });

export const floorAgentInvite: Action<AgentPlaceParams, NamedAgent> = defineAction({
  name: 'floor:agent-invite',
  summary: 'Makes a named agent a member of a project, with a session of its own there.',
  ...write,
  params: place,
  result: namedAgent,
});

export const floorAgentDismiss: Action<AgentPlaceParams, NamedAgent> = defineAction({
  name: 'floor:agent-dismiss',
  summary: 'Takes a named agent out of a project, and ends what the hub runs of it there; its session stays.',
  ...write,
  params: place,
  result: namedAgent,
});

export interface AgentSecretParams {
  readonly name: string;
  readonly variable: string;
  readonly value: string | null;
}

export const floorAgentSecret: Action<AgentSecretParams, { readonly secrets: readonly string[] }> =
  defineAction({
    name: 'floor:agent-secret',
    summary:
      'Keeps a secret, encrypted, that only the program the hub runs of a named agent is given, as a variable; null deletes it.',
    ...write,
    secrets: ['value'],
    params: z.strictObject({
      name,
      variable: z
        .string()
        .regex(
          /^(?!POLY_)[A-Za-z_][A-Za-z0-9_]{0,127}$/,
          'must be the name of a variable: letters, digits and "_", not POLY_…',
        ),
      value: z
        .string()
        .min(8, 'must have at least 8 characters: what is shorter cannot be kept out of what is shown')
        .max(32_768)
        .refine(isStorable, mustBeStorable)
        .refine(
          (value) => !/^(?:[\s[\]{}:,".+-]|true|false|null|\d|e)+$/i.test(value),
          'must have letters in it: numbers are told from others by nothing',
        )
        .nullable(),
    }),
    result: z.object({ secrets: z.array(z.string()) }),
  });
