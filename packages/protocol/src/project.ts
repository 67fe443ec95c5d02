import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { label } from './mail-names.ts';

/** What a group of people and agents share, under the name it has now. */
export interface Project {
  /** What mail, tasks, contracts and sessions know it by: its first name, folded. It never changes. */
  readonly key: string;
  readonly name: string;
  /** Names it had before; each still leads to it. */
  readonly earlier_names: readonly string[];
  readonly tags: readonly string[];
  /** Sessions that are not archived. */
  readonly sessions: number;
  readonly last_activity_at?: string | undefined;
  readonly archived_at?: string | undefined;
  /** For how many days what happened in it is kept; for ever when left out. */
  readonly retention_days?: number | undefined;
  readonly created_by: string;
  readonly created_at: string;
}

export const projectName: z.ZodType<string> = label.describe('Name of the project, also one it had before.');

const project: z.ZodType<Project> = z.object({
  key: z.string(),
  name: z.string(),
  earlier_names: z.array(z.string()),
  tags: z.array(z.string()),
  sessions: z.int(),
  last_activity_at: z.string().optional(),
  archived_at: z.string().optional(),
  retention_days: z.int().optional(),
  created_by: z.string(),
  created_at: z.string(),
});

interface ProjectParams {
  readonly project: string;
}

export interface ProjectCreateParams {
  readonly name: string;
  readonly tags?: readonly string[] | undefined;
}

const tags = z.array(label).max(50);

export const projectCreate: Action<ProjectCreateParams, Project> = defineAction({
  name: 'project:create',
  summary: 'Makes a project; joining one that is not there makes it too.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ name: label, tags: tags.optional() }),
  result: project,
});

export interface ProjectListParams {
  readonly archived?: boolean | undefined;
  readonly tag?: string | undefined;
}

export const projectList: Action<ProjectListParams, { readonly projects: readonly Project[] }> = defineAction(
  {
    name: 'project:list',
    summary: 'Lists the projects, that with the newest activity first.',
    scope: 'floor:read',
    effect: 'read',
    params: z.strictObject({
      archived: z.boolean().optional().describe('Only those that are archived, or only those that are not.'),
      tag: label.optional().describe('Only those with this tag.'),
    }),
    result: z.object({ projects: z.array(project) }),
  },
);

export const projectShow: Action<ProjectParams, Project> = defineAction({
  name: 'project:show',
  summary: 'Shows a project.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({ project: projectName }),
  result: project,
});

export interface ProjectRenameParams extends ProjectParams {
  readonly name: string;
}

export const projectRename: Action<ProjectRenameParams, Project> = defineAction({
  name: 'project:rename',
  summary: 'Gives a project another name; those it had still lead to it.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ project: projectName, name: label }),
  result: project,
});

export interface ProjectTagParams extends ProjectParams {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

export const projectTag: Action<ProjectTagParams, Project> = defineAction({
  name: 'project:tag',
  summary: 'Puts tags on a project, or takes them away.',
  scope: 'floor:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({ project: projectName, add: tags.optional(), remove: tags.optional() }),
  result: project,
});

export interface ProjectArchiveParams extends ProjectParams {
  readonly undo?: boolean | undefined;
}

export const projectArchive: Action<ProjectArchiveParams, Project> = defineAction({
  name: 'project:archive',
  summary: 'Puts a project away: nobody can join it, and search leaves it out; all of it is kept.',
  scope: 'floor:admin',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    project: projectName,
    undo: z.boolean().optional().describe('Take it out again.'),
  }),
  result: project,
});

/** What was forgotten for good. */
export interface ProjectDeleted {
  readonly project: string;
  readonly sessions: number;
  readonly entries: number;
}

export const projectDelete: Action<ProjectParams, ProjectDeleted> = defineAction({
  name: 'project:delete',
  summary: 'Forgets all sessions of a project and what was captured for them; its names stay its own.',
  scope: 'floor:admin',
  effect: 'destructive',
  oneStep: true,
  onFullDisk: true,
  params: z.strictObject({ project: projectName }),
  result: z.object({ project: z.string(), sessions: z.int(), entries: z.int() }),
});

export interface ProjectRetentionParams extends ProjectParams {
  readonly days: number | null;
}

export const projectRetention: Action<ProjectRetentionParams, Project> = defineAction({
  name: 'project:retention',
  summary: 'Says for how many days what happens in a project is kept; null is for ever.',
  scope: 'floor:admin',
  effect: 'destructive',
  oneStep: true,
  params: z.strictObject({ project: projectName, days: z.int().min(1).max(36_500).nullable() }),
  result: project,
});

/** How much there is on the floor. */
export interface FloorOverview {
  readonly projects: number;
  readonly sessions: number;
  /** Sessions that an agent feeds now. */
  readonly live: number;
  readonly entries: number;
}

export const floorOverview: Action<Record<string, never>, FloorOverview> = defineAction({
  name: 'floor:overview',
  summary: 'Says how many projects, sessions and entries there are.',
  scope: 'floor:read',
  effect: 'read',
  params: nothing,
  result: z.object({ projects: z.int(), sessions: z.int(), live: z.int(), entries: z.int() }),
});
