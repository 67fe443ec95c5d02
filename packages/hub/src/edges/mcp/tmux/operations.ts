import { PolyError } from '@polyphony/protocol';
import type * as Tmux from '@polyphony/tmux';
import type { CatalogEntry } from '@polyphony/tmux';
import { leanSchema } from '../schema-to-list.ts';
import type { McpTool, ToolAnswer, ToolContext } from '../tool.ts';
import { sparedEngine } from './guarded-engine.ts';
import { leastEffectOf, reachOf } from './operation-effect.ts';
import { operationOf, targetsOf } from './plan-steps.ts';
import type { TmuxServers } from './servers.ts';
import { requireSafety, withUse } from './verb.ts';

/** Every operation of the library as a tool of its own: `op_kill_pane`. */
export function operationTools(tmux: typeof Tmux, servers: TmuxServers): readonly McpTool[] {
  return tmux.operations.catalog().map((entry) => {
    const { kind, summary } = entry;
    const effect = leastEffectOf(entry);
    const name = `op_${kind}`;
    return {
      ...{ name, toolset: 'operations', description: summary, effect, needsUser: true },
      // Formats run programs, and messages are shown to people.
      ...(effect === 'read' &&
        entry.params.some(({ name: param }) => mayRaise.has(param)) && { raises: true }),
      inputSchema: schemaOf(tmux, entry),
      // What is made has few ids; what is read may be long, and its text is shortened.
      ...(entry.creates && { outputSchema: madeSchema(entry) }),
      async run(args: unknown, context: ToolContext) {
        if (typeof args !== 'object' || args === null)
          throw new PolyError('invalid_arguments', `${name}: give an object of its parameters.`);
        return withUse(servers, context, async (use) => {
          const operation = operationOf(tmux, { kind, params: args });
          const reach = reachOf(operation);
          requireSafety(name, reach, context);
          if (reach.effect !== 'read') use.audit(name);
          const engine = sparedEngine(use, name, 'thrown');
          const result = await tmux.execute(engine, operation, { signal: context.signal });
          return answerOf(kind, result.unwrap());
        });
      },
    };
  });
}

const mayRaise: ReadonlySet<string> = new Set(['filter', 'message', 'client']);

/** Its parameters; a place is one text, as in every other tool. */
export function schemaOf(
  tmux: typeof Tmux,
  { kind, paramsSchema, params }: CatalogEntry,
  forms = '%1, @1, $1 or session:window.pane',
): McpTool['inputSchema'] {
  const { $schema: _, properties = {}, ...schema } = paramsSchema as Record<string, unknown>;
  const places = targetsOf(tmux.operations.get(kind).spec);
  const shown = Object.entries(properties as object).map(([name, one]) => {
    const { doc = '' } = params.find((param) => param.name === name) ?? {};
    return [name, places.has(name) ? { type: 'string', description: `${doc}: ${forms}` } : one];
  });
  return leanSchema({ ...schema, properties: Object.fromEntries(shown) });
}

/** What an operation answers that makes something. */
function madeSchema(entry: CatalogEntry): McpTool['inputSchema'] {
  return { type: 'object', properties: { value: valueSchemaOf(entry) }, required: ['value'] };
}

/** What an operation answers. */
export function valueSchemaOf({ resultSchema }: CatalogEntry): McpTool['inputSchema'] {
  const { $schema: _, ...value } = resultSchema as Record<string, unknown>;
  return leanSchema(value);
}

function answerOf(kind: string, value: unknown): ToolAnswer {
  const text = JSON.stringify(value);
  return { text: text === '{}' ? 'Done.' : text, structured: { kind, value } };
}
