import * as z from 'zod';

// What many tools take. The words are few: every client carries all of them.
export const target: z.ZodString = z.string().describe('%1, @1, $1 or session:window.pane');
export const words: z.ZodString = z.string();
export const maybe: z.ZodOptional<z.ZodString> = z.string().optional();
export const yes: z.ZodOptional<z.ZodBoolean> = z.boolean().optional();
export const count: z.ZodOptional<z.ZodInt> = z.int().min(1).optional();
export const place: z.ZodOptional<z.ZodInt> = z.int().min(0).optional();
export const folder: z.ZodOptional<z.ZodString> = z.string().describe('An absolute path').optional();
export const firstLine: z.ZodOptional<z.ZodUnion<readonly [z.ZodInt, z.ZodLiteral<'-'>]>> = z
  .union([z.int(), z.literal('-')])
  .describe('0 is the top of the screen, -1 above, "-" the oldest')
  .optional();
export const pattern: z.ZodString = z.string().min(1).max(1000).describe('A regular expression');
export const ignoreCase: z.ZodDefault<z.ZodBoolean> = z.boolean().default(true);
