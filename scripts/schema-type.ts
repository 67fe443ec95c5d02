// Writes JSON Schema as the TypeScript type a person would write.
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** What only the schema says about itself, and not about the value. */
const remarks: ReadonlySet<string> = new Set(['$schema', 'description', 'readOnly']);

/** Turns schemas into types, using the given names for the schemas they stand for. */
export function typeWriter(named: Readonly<Record<string, object>>): (schema: Schema) => string {
  const names = new Map(Object.entries(named).map(([name, schema]) => [identity(schema), name]));
  const write = (schema: Schema): string => names.get(identity(schema)) ?? spell(schema, write);
  return write;
}

function identity(schema: object): string {
  return JSON.stringify(schema, (key, value: unknown) => (remarks.has(key) ? undefined : value));
}

function spell(schema: Schema, write: (schema: Schema) => string): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(write))].join(' | ');
  if (schema.allOf && !schema.type) return [...new Set(schema.allOf.map(write))].join(' & ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.type === 'array') return `${bracketed(write(schema.items ?? {}))}[]`;
  if (schema.type === 'object') return spellObject(schema, write);
  const types = schema.type === undefined ? ['unknown'] : [schema.type].flat();
  return types.map((type) => (type === 'integer' ? 'number' : type)).join(' | ');
}

function spellObject(schema: Schema, write: (schema: Schema) => string): string {
  const { properties, additionalProperties, propertyNames } = schema;
  if (!properties && typeof additionalProperties === 'object') {
    return `Record<${propertyNames ? write(propertyNames) : 'string'}, ${write(additionalProperties)}>`;
  }
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => `${name}${schema.required?.includes(name) ? '' : '?'}: ${write(field)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

/** A value as TypeScript writes it. */
export function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(
    ([key, inner]) => `${/^\w+$/.test(key) ? key : literal(key)}: ${literal(inner)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function bracketed(type: string): string {
  const whole = /^[\w']+$/.test(type) || /^\{[^{}]*\}$/.test(type);
  return whole ? type : `(${type})`;
}
