import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { paneId } from './id.ts';
import { type PaneParams, paneParams } from './pane-parts.ts';

export type MetaValue = string | number | boolean | null;
/** What somebody noted about a pane. */
export type Meta = Readonly<Record<string, MetaValue>>;

const metaValue: z.ZodType<MetaValue> = z.union([z.string().max(8192), z.number(), z.boolean(), z.null()]);
const metaKey = z
  .string()
  .min(1)
  .max(128)
  .refine((key) => key !== '__proto__', 'cannot be a key');
export const meta: z.ZodType<Meta> = z
  .record(metaKey, metaValue)
  .refine((notes) => Object.keys(notes).length <= 100, 'must be at most 100 notes');

export interface PaneMeta {
  readonly id: string;
  readonly meta: Meta;
}

export const paneGetMeta: Action<PaneParams, PaneMeta> = defineAction({
  name: 'pane:get-meta',
  summary: 'Answers the notes kept with a pane.',
  scope: 'pane:read',
  effect: 'read',
  onPane: true,
  params: paneParams,
  result: z.object({ id: paneId, meta }),
});

export interface PaneMetaChange extends PaneMeta {
  readonly previousMeta: Meta;
  /** Whether anything is different from before. */
  readonly changed: boolean;
}

const metaChange: z.ZodType<PaneMetaChange> = z.object({
  id: paneId,
  previousMeta: meta,
  meta,
  changed: z.boolean(),
});

export interface PaneSetMetaParams extends PaneParams {
  readonly key: string;
  readonly value: MetaValue;
}

export const paneSetMeta: Action<PaneSetMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:set-meta',
  summary: 'Sets one note of a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, key: metaKey, value: metaValue }),
  result: metaChange,
});

export interface PaneDeleteMetaParams extends PaneParams {
  readonly keys: readonly string[];
}

export const paneDeleteMeta: Action<PaneDeleteMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:delete-meta',
  summary: 'Removes notes of a pane.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, keys: z.array(metaKey).min(1) }),
  result: metaChange,
});

export interface PaneUpdateMetaParams extends PaneParams {
  readonly set?: Meta | undefined;
  readonly deleteKeys?: readonly string[] | undefined;
}

export const paneUpdateMeta: Action<PaneUpdateMetaParams, PaneMetaChange> = defineAction({
  name: 'pane:update-meta',
  summary: 'Sets and removes notes of a pane in one step.',
  scope: 'pane:write',
  effect: 'write',
  onPane: true,
  params: z.strictObject({ paneId, set: meta.optional(), deleteKeys: z.array(metaKey).optional() }),
  result: metaChange,
});
