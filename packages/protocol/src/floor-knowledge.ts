import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { isStorable, mustBeStorable, utf8Length } from './text.ts';

/** What may be kept of knowledge, and read of it at once, in bytes. */
export const knowledgeLimits = {
  fileBytes: 262_144,
  readBytes: 65_536,
  files: 1000,
  allBytes: 67_108_864,
} as const;

/** A file of knowledge: for everybody, or for one project. */
export interface KnowledgeFile {
  readonly path: string;
  readonly project?: string | undefined;
  readonly bytes: number;
  readonly changed_at: string;
}

const segment = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._-]{0,79}$/u;

/** Names below the folder, at most four deep: none begins with a dot, and none leads out of it. */
export const knowledgePath: z.ZodType<string> = z
  .string()
  .refine((path) => {
    const names = path.split('/');
    return (
      utf8Length(path) <= 240 &&
      names.length <= 4 &&
      names.every((name) => segment.test(name) && !/[. ]$/.test(name))
    );
  }, 'must be 1-4 names joined by "/", each of letters, digits, " ", ".", "_" or "-", beginning with a letter or digit')
  .describe('For example sql/style.md.');

const file: z.ZodType<KnowledgeFile> = z.object({
  path: z.string(),
  project: z.string().optional(),
  bytes: z.int(),
  changed_at: z.string(),
});

export const floorKnowledge: Action<ProjectChoice, { readonly files: readonly KnowledgeFile[] }> =
  defineAction({
    name: 'floor:knowledge',
    tool: 'floor_knowledge',
    summary: 'Lists the files that your user keeps for agents to know: for everybody, and of a project.',
    scope: 'floor:read',
    effect: 'read',
    params: z.strictObject(projectChoice),
    result: z.object({ files: z.array(file) }),
  });

export interface KnowledgePathParams extends ProjectChoice {
  readonly path: string;
}

export interface KnowledgeReadParams extends KnowledgePathParams {
  readonly shared?: boolean | undefined;
  readonly from?: number | undefined;
  readonly max_bytes?: number | undefined;
}

export interface KnowledgeText extends KnowledgeFile {
  readonly text: string;
  readonly from: number;
  /** Where the next piece begins; left out at the end. */
  readonly next?: number | undefined;
}

const shared = z
  .boolean()
  .optional()
  .describe('true: the one for everybody, also where the project has one of that name.');

export const floorKnowledgeRead: Action<KnowledgeReadParams, KnowledgeText> = defineAction({
  name: 'floor:knowledge-read',
  tool: 'floor_knowledge_read',
  summary: 'Reads a file of knowledge: that of the project, else that for everybody.',
  scope: 'floor:read',
  effect: 'read',
  params: z.strictObject({
    path: knowledgePath,
    ...projectChoice,
    shared,
    from: z.int().min(0).optional().describe('The next of the piece before.'),
    max_bytes: z.int().min(1).max(knowledgeLimits.readBytes).optional().describe('16384 when left out.'),
  }),
  result: z.object({
    path: z.string(),
    project: z.string().optional(),
    bytes: z.int(),
    changed_at: z.string(),
    text: z.string(),
    from: z.int(),
    next: z.int().optional(),
  }),
});

export interface KnowledgeWriteParams extends KnowledgePathParams {
  readonly text: string;
}

export const floorKnowledgeWrite: Action<KnowledgeWriteParams, KnowledgeFile> = defineAction({
  name: 'floor:knowledge-write',
  summary: 'Keeps a file for agents to know: for everybody, or with a project for that one alone.',
  scope: 'floor:admin',
  effect: 'write',
  secrets: ['text'],
  params: z.strictObject({
    path: knowledgePath,
    ...projectChoice,
    text: z
      .string()
      .refine(isStorable, mustBeStorable)
      .refine(
        (text) => utf8Length(text) <= knowledgeLimits.fileBytes,
        `must be at most ${knowledgeLimits.fileBytes} bytes`,
      ),
  }),
  result: file,
});

export const floorKnowledgeRemove: Action<KnowledgePathParams, KnowledgeFile> = defineAction({
  name: 'floor:knowledge-remove',
  summary: 'Deletes a file of knowledge: with a project that of the project, else that for everybody.',
  scope: 'floor:admin',
  effect: 'destructive',
  onFullDisk: true,
  params: z.strictObject({ path: knowledgePath, ...projectChoice }),
  result: file,
});
