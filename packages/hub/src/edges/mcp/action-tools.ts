import type { Registered } from '../../registry/registry.ts';
import { schemaToList } from './schema-to-list.ts';
import type { McpTool } from './tool.ts';

/** Every action as a tool of the same name, an extension's too: `pane:set-meta` is `pane_set_meta`. */
export function actionTools(registered: readonly Registered[]): readonly McpTool[] {
  return registered.map(({ action }) => ({
    name: action.name.replace(/[:-]/g, '_'),
    toolset: 'actions',
    description: action.summary,
    effect: action.effect,
    // Only a list of tools shows it, and it takes longer to make than most calls.
    get inputSchema() {
      return schemaToList(action.params);
    },
    async run(args, { client }) {
      const result = await client.call(action.name, args);
      const structured = Array.isArray(result) ? { items: result } : (result as Record<string, unknown>);
      return { text: JSON.stringify(result, null, 1), structured };
    },
  }));
}
