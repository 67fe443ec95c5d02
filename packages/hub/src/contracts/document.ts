import { type ContractFormat, PolyError } from '@polyphony/protocol';
import { saysNothing, schemaProblems } from './check-schema.ts';
import { below, depthOf, isObject, type Json, type JsonObject, listOf, objectOf } from './json.ts';
import { methods } from './openapi-methods.ts';

/** A contract that has been read: a schema, or an OpenAPI document, and nothing else. */
export interface ContractDocument {
  readonly format: ContractFormat;
  readonly value: JsonObject;
}

/** What became of reading one: a contract, or why there is none. */
export type DocumentRead = { readonly document: ContractDocument } | { readonly problem: string };

/** So large and deep a contract may be. */
export const mostBytes: number = 1024 * 1024;
const mostDeep = 128;

/** Reads a value as a contract, or refuses it in words that say where it is none. */
export function readDocument(value: unknown, wanted?: ContractFormat): ContractDocument {
  const problems = problemsOf(value, wanted);
  const format = wanted ?? formatOf(value);
  if (problems.length === 0) return { format, value: value as JsonObject };
  const named = format === 'openapi' ? 'OpenAPI document' : 'JSON Schema';
  throw new PolyError('invalid_arguments', `that is no ${named}: ${problems.join('; ')}.`, {
    hint: 'A contract is a JSON Schema (format jsonschema) or an OpenAPI 3 document (format openapi).',
    details: { reason: 'invalid_format', problems },
  });
}

const formatOf = (value: unknown): ContractFormat =>
  isObject(value) && Object.hasOwn(value, 'openapi') ? 'openapi' : 'jsonschema';

function problemsOf(value: unknown, wanted: ContractFormat | undefined): readonly string[] {
  if (!isObject(value)) return ['it must be an object'];
  if (depthOf(value, mostDeep) >= mostDeep) return [`it is more than ${mostDeep} levels deep`];
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > mostBytes) return [`it has ${bytes} bytes, and at most ${mostBytes} are taken`];
  if ((wanted ?? formatOf(value)) === 'openapi') return openApiProblems(value);
  if (Object.hasOwn(value, 'swagger')) return ['it is Swagger 2, and OpenAPI 3 is needed'];
  return saysNothing(value) ? ['it has no keyword of JSON Schema'] : schemaProblems(value);
}

function openApiProblems(value: JsonObject): readonly string[] {
  if (typeof value.openapi !== 'string' || !/^3\.\d+(\.\d+)?/.test(value.openapi))
    return [`openapi must be 3.x, not ${JSON.stringify(value.openapi ?? null)}`];
  const parts = ['paths', 'components', 'webhooks'].filter((name) => Object.hasOwn(value, name));
  if (parts.length === 0) return ['it has neither paths nor components'];
  const wrong = parts.filter((name) => !isObject(value[name]));
  if (wrong.length > 0) return wrong.map((name) => `/${name} must be an object`);
  const problems: string[] = [];
  const schema = (given: Json | undefined, at: string): void => {
    if (given !== undefined && problems.length < 10) problems.push(...schemaProblems(given, at));
  };
  const contents = (holder: Json | undefined, at: string): void => {
    const { content, schema: own } = objectOf(holder);
    schema(own, below(at, 'schema'));
    for (const [type, media] of Object.entries(objectOf(content)))
      schema(objectOf(media).schema, below(at, 'content', type, 'schema'));
  };
  for (const [name, given] of Object.entries(objectOf(objectOf(value.components).schemas)))
    schema(given, below('/components/schemas', name));
  for (const kind of ['parameters', 'requestBodies', 'responses', 'headers'])
    for (const [name, given] of Object.entries(objectOf(objectOf(value.components)[kind])))
      contents(given, below('/components', kind, name));
  for (const [path, item] of Object.entries(objectOf(value.paths))) {
    const at = below('/paths', path);
    if (!isObject(item)) problems.push(`${at} must be an object`);
    for (const [i, one] of listOf(objectOf(item).parameters).entries())
      contents(one, below(at, 'parameters', i));
    for (const method of methods) {
      const operation = objectOf(objectOf(item)[method]);
      const here = below(at, method);
      for (const [i, one] of listOf(operation.parameters).entries())
        contents(one, below(here, 'parameters', i));
      contents(operation.requestBody, below(here, 'requestBody'));
      for (const [status, one] of Object.entries(objectOf(operation.responses)))
        contents(one, below(here, 'responses', status));
    }
  }
  return problems.slice(0, 10);
}
