import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';

export interface ExtensionInfo {
  readonly name: string;
  readonly directory: string;
  readonly status: 'loaded' | 'broken';
  readonly version?: string | undefined;
  readonly actions: readonly string[];
  readonly error?: string | undefined;
}

const extensionInfo: z.ZodType<ExtensionInfo> = z.object({
  name: z.string(),
  directory: z.string(),
  status: z.enum(['loaded', 'broken']),
  version: z.string().optional(),
  actions: z.array(z.string()),
  error: z.string().optional(),
});

export const extensionsList: Action<Record<string, never>, readonly ExtensionInfo[]> = defineAction({
  name: 'extensions:list',
  summary: 'Lists the extensions and how loading them went.',
  scope: 'extensions:read',
  effect: 'read',
  params: nothing,
  result: z.array(extensionInfo),
});

export const extensionsInstall: Action<{ readonly from: string }, ExtensionInfo> = defineAction({
  name: 'extensions:install',
  summary:
    'Installs an extension from a git address or a folder, without running any script of it, and loads it.',
  scope: 'extensions:write',
  effect: 'destructive',
  params: z.strictObject({ from: z.string().min(1).describe('A git address, or the path of a folder.') }),
  result: extensionInfo,
});

export const extensionsRemove: Action<{ readonly name: string }, Record<string, never>> = defineAction({
  name: 'extensions:remove',
  summary: 'Unloads an extension and deletes its folder.',
  scope: 'extensions:write',
  effect: 'destructive',
  params: z.strictObject({ name: z.string().min(1) }),
  result: nothing,
});
