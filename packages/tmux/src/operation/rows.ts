import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import type { Outcome } from './outcome.ts';
import type { Reply } from './reply.ts';

/** How one column is read from tmux's text. */
export interface Column<T> {
  readonly format: string;
  readonly schema: z.ZodType<T>;
  readonly read: (text: string) => T;
}

export type Columns<R> = { readonly [K in keyof R]: Column<R[K]> };

export const textColumn = (format: string): Column<string> => ({
  format,
  schema: z.string(),
  read: (text) => text,
});
export const flagColumn = (format: string): Column<boolean> => ({
  format,
  schema: z.boolean(),
  read: (text) => text !== '' && text !== '0',
});
export const countColumn = (format: string): Column<number> => ({
  format,
  schema: z.int(),
  read: (text) => Number(text),
});
/** A number tmux leaves empty when there is none: the exit status of a living pane. */
export const optionalCountColumn = (format: string): Column<number | null> => ({
  format,
  schema: z.int().nullable(),
  read: (text) => (text === '' ? null : Number(text)),
});
export function idColumn<T extends string>(format: string, schema: z.ZodType<T>): Column<T> {
  return { format, schema, read: (text) => schema.parse(text) };
}

/**
 * Rows whose columns cannot shift: each field ends in a guard drawn for this call, so that a path or a title that holds
 * tabs, newlines or somebody else's separator stays one field.
 */
export function rows<R extends object>(name: string, columns: Columns<R>): Outcome<readonly R[]> {
  const entries = Object.entries(columns) as [string, Column<unknown>][];
  const row = z.strictObject(Object.fromEntries(entries.map(([key, column]) => [key, column.schema])));
  return Object.freeze({
    name,
    schema: z.array(row).readonly() as unknown as z.ZodType<readonly R[]>,
    guarded: true,
    ask: (guard: string) => ['-F', entries.map(([, column]) => `${column.format};${guard},`).join('')],
    read: (reply: Reply, { guard }: { readonly guard: string }) => {
      const fields = reply.stdout.split(`;${guard},`);
      const rest = fields.pop();
      if ((rest !== undefined && rest.trim() !== '') || fields.length % entries.length !== 0) {
        throw new TmuxError(
          'protocol',
          `${name}: ${fields.length} fields do not fill rows of ${entries.length}.`,
          { fields },
        );
      }
      const result: R[] = [];
      for (let at = 0; at < fields.length; at += entries.length) {
        // The newline that ended the row before stands in front of the first field.
        const texts = fields
          .slice(at, at + entries.length)
          .map((text, i) => (i === 0 && at > 0 ? text.replace(/^\n/, '') : text));
        result.push(
          Object.fromEntries(entries.map(([key, column], i) => [key, column.read(texts[i] ?? '')])) as R,
        );
      }
      return result;
    },
  });
}
