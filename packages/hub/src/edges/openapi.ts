import { errorKinds, jsonSchemaOf } from '@polyphony/protocol';
import type { Registered } from '../registry/registry.ts';
import type { RouteInfo } from './routes.ts';

/** OpenAPI 3.1 of every action and route. */
export function openApiDocument(
  actions: readonly Registered[],
  routes: readonly RouteInfo[],
  version: string,
): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path, summary, scope, keyed, query = {}, body, status = 200 } of routes) {
    if (path === '/action/:name') continue;
    const at = path.replace(/:(\w+)/g, '{$1}');
    const schema = { type: 'string' };
    const parameters = [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema })),
      ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema })),
      ...(keyed ? [key] : []),
    ];
    const content = body && { 'application/json': { schema: jsonSchemaOf(body, 'input') } };
    paths[at] = {
      ...paths[at],
      [method.toLowerCase()]: {
        summary,
        ...(scope === 'open' && { security: [] }),
        parameters,
        ...(content && { requestBody: { content } }),
        responses: { [status]: { description: 'Done.' }, default: failure },
      },
    };
  }
  for (const { action } of actions) {
    paths[`/action/${action.name}`] = {
      post: {
        operationId: action.name,
        summary: action.summary,
        description: `Scope ${action.scope}; effect ${action.effect}.`,
        ...(action.effect !== 'read' && { parameters: [key] }),
        requestBody: { content: { 'application/json': { schema: jsonSchemaOf(action.params, 'input') } } },
        responses: {
          200: {
            description: 'What the action answers.',
            content: { 'application/json': { schema: jsonSchemaOf(action.result, 'output') } },
          },
          default: failure,
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Polyphony', version },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      parameters: {
        IdempotencyKey: { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } },
      },
      responses: {
        Failure: { description: 'It failed.', content: { 'application/json': { schema: errorSchema } } },
      },
    },
  };
}

const key = { $ref: '#/components/parameters/IdempotencyKey' };

const failure = { $ref: '#/components/responses/Failure' };

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorKinds) },
        message: { type: 'string' },
        hint: { type: 'string' },
        details: {},
      },
    },
  },
};
