import { jsonSchemaOf } from '@polyphony/protocol';
import type * as z from 'zod';

type Schema = Readonly<Record<string, unknown>>;

/** The JSON Schema of what a tool takes, for the list that every client carries. */
export function schemaToList(schema: z.ZodType): Schema {
  return leanSchema(jsonSchemaOf(schema, 'input'));
}

/** Any value, in words that no client takes for a schema somebody forgot to write. */
const oneOfTypes = (types: readonly string[]): object => ({ anyOf: types.map((type) => ({ type })) });
const anyValue = oneOfTypes(['object', 'array', 'string', 'number', 'boolean', 'null']);
const saysNothing = (schema: object): boolean => Object.keys(schema).every((word) => word === 'description');

/** Without what goes without saying: that a whole number fits into a double, of which type a constant is, and that names are texts. */
export function leanSchema(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => {
      if (Math.abs(value) === Number.MAX_SAFE_INTEGER) return undefined;
      if (name === 'propertyNames' && JSON.stringify(value) === '{"type":"string"}') return undefined;
      if (name === 'additionalProperties' && typeof value === 'object' && saysNothing(value)) return true;
      if (name === 'properties') return sayAny(value);
      // Some clients read one type only.
      if (Array.isArray(value?.type)) return { ...value, type: undefined, ...oneOfTypes(value.type) };
      return value?.const === undefined ? value : { ...value, type: undefined };
    }),
  );
}

const sayAny = (properties: Readonly<Record<string, object>>): object =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      typeof schema === 'object' && saysNothing(schema) ? { ...anyValue, ...schema } : schema,
    ]),
  );
