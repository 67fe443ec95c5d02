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
  fileClaim,
  fileList,
  fileRelease,
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
  /** What the folder an agent works in is given as. */
  readonly folder?: 'project_dir' | 'root';
}

const offered: Readonly<Partial<Record<Toolset, readonly Use[]>>> = {
  tasks: [
    { action: taskAdd, folder: 'project_dir' },
    { action: taskClaim },
    { action: taskComplete },
    { action: taskList, folder: 'project_dir' },
    { action: taskRelease },
    { action: taskHeartbeat },
    { action: taskReassign },
    { action: taskDepend },
    { action: fileClaim, folder: 'root' },
    { action: fileRelease },
    { action: fileList, folder: 'root' },
  ],
  contracts: [
    { action: contractRegister, folder: 'project_dir' },
    { action: contractGet, folder: 'project_dir' },
    { action: contractDiff, folder: 'project_dir' },
    { action: contractSubscribe, folder: 'project_dir' },
    { action: contractPending },
    { action: contractAck, folder: 'project_dir' },
    { action: contractList, folder: 'project_dir' },
    { action: contractWatch, folder: 'project_dir' },
    { action: contractUnwatch, folder: 'project_dir' },
  ],
};

/** Tasks, claims on files, and contracts, under the names that xats gave them. */
export const mcpWorkTools: readonly McpTool[] = Object.entries(offered).flatMap(([toolset, uses]) =>
  uses.map(
    ({ action, folder }): McpTool => ({
      name: action.tool ?? action.name.replace(/[:-]/g, '_'),
      toolset: toolset as Toolset,
      description: action.summary,
      effect: action.effect,
      asAgent: true,
      get inputSchema() {
        return schemaWithout(schemaToList(action.params), ['project_dir']);
      },
      async run(given, { client, place }) {
        const here = folder && place.cwd !== undefined ? { [folder]: place.cwd } : {};
        const result = await client.call(action.name, { ...here, ...(given as Given) });
        return { text: plainJson(result), isWhole: true };
      },
    }),
  ),
);
