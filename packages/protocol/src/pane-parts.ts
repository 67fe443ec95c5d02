import * as z from 'zod';
import { paneId } from './id.ts';

export interface PaneParams {
  readonly paneId: string;
}

export const paneParams: z.ZodType<PaneParams> = z.strictObject({ paneId });

export const text: z.ZodString = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');
/** Of one column a terminal could not show a wide character. */
export const cols: z.ZodInt = z.int().min(2).max(1000).describe('Number of columns.');
export const rows: z.ZodInt = z.int().min(1).max(1000).describe('Number of rows.');

export const count: z.ZodInt = z.int().min(0);
