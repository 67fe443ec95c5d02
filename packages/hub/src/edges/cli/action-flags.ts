import { PolyError } from '@polyphony/protocol';
import type { Schema } from './action-info.ts';
import { type Flag, type Flags, toBoolean, toChoice, toNumber, toRecord } from './flag.ts';

type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'record' | 'other';

/** The flags of an action: one for each of its parameters, typed by its schema. */
export function flagsOf({ properties = {}, required = [] }: Schema): Flags {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, flagOf(schema, required.includes(name))]),
  );
}

function flagOf(schema: Schema, required: boolean): Flag {
  const kind = kindOf(schema);
  const choices = choicesOf(schema);
  const value = choices ? choices.join('|') : placeholders[kind];
  return {
    help: schema.description ?? '',
    ...(value !== undefined && { value }),
    ...(choices && { choices }),
    ...((kind === 'array' || kind === 'record') && { repeated: true }),
    ...(required && { required }),
    read: (words, name) => read[kind](words, name, schema),
  };
}

const placeholders: Readonly<Record<Kind, string | undefined>> = {
  string: 'TEXT',
  integer: 'N',
  number: 'NUMBER',
  boolean: undefined,
  array: 'ITEM',
  record: 'K=V',
  other: 'JSON',
};

const read: Readonly<Record<Kind, (words: readonly string[], name: string, schema: Schema) => unknown>> = {
  string: ([word = ''], name, schema) => {
    const choices = choicesOf(schema);
    return choices ? toChoice(word, name, choices) : word;
  },
  integer: ([word = ''], name) => toNumber(word, name, true),
  number: ([word = ''], name) => toNumber(word, name, false),
  boolean: ([word = 'true'], name) => toBoolean(word, name),
  array: (words, name, { items = {} }) => words.map((word) => read[kindOf(items)]([word], name, items)),
  record: (words, name, { additionalProperties }) => {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return Object.fromEntries(
      Object.entries(toRecord(words, name)).map(([key, word]) => [
        key,
        read[kindOf(values)]([word], name, values),
      ]),
    );
  },
  other: (_, name) => {
    throw new PolyError('invalid_arguments', `--${name} cannot be said in a flag.`, {
      hint: `Give all parameters as JSON: --body '{"${name}": …}'`,
    });
  },
};

/** Whatever may be a string is one: nobody has to guess whether `7` is a number there. */
function kindOf(schema: Schema): Kind {
  const types = typesOf(schema);
  if (types.length === 0 || types.includes('string')) return 'string';
  const [type] = types.filter((name) => name !== 'null');
  if (type !== 'object') return isKind(type) ? type : 'other';
  const open = schema.properties === undefined && schema.additionalProperties !== false;
  return open ? 'record' : 'other';
}

function isKind(type: string | undefined): type is 'integer' | 'number' | 'boolean' | 'array' {
  return type === 'integer' || type === 'number' || type === 'boolean' || type === 'array';
}

function typesOf(schema: Schema): readonly string[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const types = alternatives.map(typesOf);
    return types.some((some) => some.length === 0) ? [] : types.flat();
  }
  if (schema.type !== undefined) return [schema.type].flat();
  return [...(schema.enum ?? []), ...('const' in schema ? [schema.const] : [])].map((value) => typeof value);
}

function choicesOf({ enum: values, items }: Schema): readonly string[] | undefined {
  const choices = values ?? items?.enum;
  return choices?.every((value) => typeof value === 'string') ? (choices as readonly string[]) : undefined;
}
