import {
  type Action,
  contractAck,
  contractDiff,
  contractGet,
  contractList,
  contractPending,
  contractRegister,
  contractSubscribe,
  contractUnwatch,
  contractWatch,
  taskAdd,
  taskClaim,
  taskComplete,
  taskDepend,
  taskHeartbeat,
  taskList,
  taskReassign,
  taskRelease,
} from '@polyphony/protocol';
import { plainJson, schemaWithout } from './mail-tools.ts';
import { schemaToList } from './schema-to-list.ts';
import type { McpTool, Toolset } from './tool.ts';

type Given = Readonly<Record<string, unknown>>;

interface Use {
  readonly action: Action;
  /** Whether the folder an agent works in says which project is meant. */
  readonly inFolder?: boolean;
}

const offered: Readonly<Partial<Record<Toolset, readonly Use[]>>> = {
  tasks: [
    { action: taskAdd, inFolder: true },
    { action: taskClaim },
    { action: taskComplete },
    { action: taskList, inFolder: true },
    { action: taskRelease },
    { action: taskHeartbeat },
    { action: taskReassign },
    { action: taskDepend },
  ],
  contracts: [
    { action: contractRegister, inFolder: true },
    { action: contractGet, inFolder: true },
    { action: contractDiff, inFolder: true },
    { action: contractSubscribe, inFolder: true },
    { action: contractPending },
    { action: contractAck, inFolder: true },
    { action: contractList, inFolder: true },
    { action: contractWatch, inFolder: true },
    { action: contractUnwatch, inFolder: true },
  ],
};

/** Tasks and contracts, under the names that xats gave them. */
export const mcpWorkTools: readonly McpTool[] = Object.entries(offered).flatMap(([toolset, uses]) =>
  uses.map(
    ({ action, inFolder }): McpTool => ({
      name: action.tool ?? action.name.replace(/[:-]/g, '_'),
      toolset: toolset as Toolset,
      description: action.summary,
      effect: action.effect,
      get inputSchema() {
        return schemaWithout(schemaToList(action.params), ['project_dir']);
      },
      async run(given, { client, place }) {
        const folder = inFolder && place.cwd !== undefined ? { project_dir: place.cwd } : {};
        const result = await client.call(action.name, { ...folder, ...(given as Given) });
        return { text: plainJson(result), isWhole: true };
      },
    }),
  ),
);
