import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { isOneLine, isStorable, mustBeOneLine, mustBeStorable } from './text.ts';

export const claimModes = ['exclusive', 'shared'] as const;
export type ClaimMode = (typeof claimModes)[number];

/** Files that somebody works on, for a time. */
export interface FileClaim {
  readonly claim_id: string;
  /** The folder that the patterns are written for. */
  readonly root: string;
  readonly paths: readonly string[];
  readonly mode: ClaimMode;
  readonly holder: string;
  readonly reason?: string | undefined;
  readonly claimed_at: string;
  readonly until: string;
  readonly mine: boolean;
}

/** Where the claim of somebody else meets one's own, or a file one wants to change. */
export interface ClaimOverlap {
  readonly claim_id: string;
  readonly holder: string;
  readonly mode: ClaimMode;
  /** The pattern of the other. */
  readonly pattern: string;
  /** What it meets. */
  readonly meets: string;
  readonly until: string;
  readonly reason?: string | undefined;
}

const claim = z.object({
  claim_id: z.string(),
  root: z.string(),
  paths: z.array(z.string()),
  mode: z.enum(claimModes),
  holder: z.string(),
  reason: z.string().optional(),
  claimed_at: z.string(),
  until: z.string(),
  mine: z.boolean(),
});

const overlaps: z.ZodType<readonly ClaimOverlap[]> = z.array(
  z.object({
    claim_id: z.string(),
    holder: z.string(),
    mode: z.enum(claimModes),
    pattern: z.string(),
    meets: z.string(),
    until: z.string(),
    reason: z.string().optional(),
  }),
);

const root = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^\//, 'must be an absolute path')
  .refine(isStorable, mustBeStorable)
  .optional();
const path = z.string().min(1).max(1024).refine(isStorable, mustBeStorable);

export interface FileClaimParams {
  readonly paths: readonly string[];
  readonly mode?: ClaimMode | undefined;
  readonly ttl_s?: number | undefined;
  readonly reason?: string | undefined;
  readonly root?: string | undefined;
}

export interface FileClaimResult extends FileClaim {
  /** What it meets of others: both sides are told, and the older claim goes before. */
  readonly conflicts: readonly ClaimOverlap[];
}

export const fileClaim: Action<FileClaimParams, FileClaimResult> = defineAction({
  name: 'file:claim',
  summary: 'Says that you work on files, for a time; answers who else does.',
  scope: 'file:write',
  effect: 'write',
  oneStep: true,
  params: z.strictObject({
    paths: z
      .array(path)
      .min(1)
      .max(50)
      .describe('Files, folders or globs (* ? [a-z] {a,b} **) below the root.'),
    mode: z.enum(claimModes).optional().describe('exclusive when left out.'),
    ttl_s: z.int().min(1).max(86_400).optional().describe('Seconds until it ends; 3600 when left out.'),
    reason: z
      .string()
      .max(200)
      .refine(isStorable, mustBeStorable)
      .refine(isOneLine, mustBeOneLine)
      .optional(),
    root: root.describe('Folder the paths are written for; the one you work in when left out.'),
  }),
  result: claim.extend({ conflicts: overlaps }),
});

export interface FileReleaseParams {
  readonly claim_id?: string | undefined;
  readonly all?: boolean | undefined;
}

export const fileRelease: Action<
  FileReleaseParams,
  { readonly ok: true; readonly released: readonly string[] }
> = defineAction({
  name: 'file:release',
  summary: 'Ends a claim on files that you hold, or all of them.',
  scope: 'file:write',
  effect: 'write',
  oneStep: true,
  params: z
    .strictObject({ claim_id: z.string().max(64).optional(), all: z.boolean().optional() })
    .refine(
      ({ claim_id, all }) => (claim_id !== undefined) !== (all === true),
      'name a claim_id, or say all',
    ),
  result: z.object({ ok: z.literal(true), released: z.array(z.string()) }),
});

export interface FileListParams {
  readonly root?: string | undefined;
}

export const fileList: Action<FileListParams, { readonly claims: readonly FileClaim[] }> = defineAction({
  name: 'file:list',
  summary: 'Lists claims on files, the oldest first.',
  scope: 'file:read',
  effect: 'read',
  params: z.strictObject({ root: root.describe('Only those that reach into this folder.') }),
  result: z.object({ claims: z.array(claim) }),
});

export interface FileCheckParams {
  readonly paths: readonly string[];
  readonly root?: string | undefined;
}

export interface FileCheckResult {
  /** Exclusive claims of others, older than your own, on files you want to change. */
  readonly blocked: readonly ClaimOverlap[];
}

export const fileCheck: Action<FileCheckParams, FileCheckResult> = defineAction({
  name: 'file:check',
  summary: 'Tells which of these files somebody else has claimed for himself.',
  scope: 'file:read',
  effect: 'read',
  params: z.strictObject({ paths: z.array(z.string().min(1).max(4096)).max(10_000), root }),
  result: z.object({ blocked: overlaps }),
});
