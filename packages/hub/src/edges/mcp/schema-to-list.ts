import { jsonSchemaOf } from '@polyphony/protocol';
import type * as z from 'zod';

type Schema = Readonly<Record<string, unknown>>;

/** The JSON Schema of what a tool takes, for the list that every client carries. */
export function schemaToList(schema: z.ZodType): Schema {
  return leanSchema(jsonSchemaOf(schema, 'input'));
}

/** Without what goes without saying: that a whole number fits into a double, of which type a constant is, and that names are texts. */
export function leanSchema(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => {
      if (Math.abs(value) === Number.MAX_SAFE_INTEGER) return undefined;
      if (name === 'propertyNames' && JSON.stringify(value) === '{"type":"string"}') return undefined;
      return value?.const === undefined ? value : { ...value, type: undefined };
    }),
  );
}
