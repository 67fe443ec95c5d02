import type { McpTool } from '../tool.ts';
import { changing } from './changing.ts';
import { ending } from './ending.ts';
import { looking } from './looking.ts';
import { operationTools } from './operations.ts';
import { plans } from './plans.ts';
import { relative } from './relative.ts';
import type { TmuxServers } from './servers.ts';
import { toolsOf } from './verb.ts';
import { waiting } from './waiting.ts';
import { workspaces } from './workspaces.ts';

export { getPrompt, listPrompts } from './prompts.ts';
export { TmuxResources } from './resources.ts';

/** The tools of the toolsets `tmux` and `plans`. */
export function tmuxTools(servers: TmuxServers): readonly McpTool[] {
  return [
    ...toolsOf({ ...looking, ...relative, ...waiting, ...changing, ...ending }, servers),
    ...toolsOf({ ...plans, ...workspaces }, servers, 'plans'),
  ];
}

/** A tool for each operation. */
export async function toolsOfOperations(servers: TmuxServers): Promise<readonly McpTool[]> {
  return operationTools(await import('@polyphony/tmux'), servers);
}
