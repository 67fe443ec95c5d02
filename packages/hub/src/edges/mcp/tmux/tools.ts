import type { McpTool } from '../tool.ts';
import { changing } from './changing.ts';
import { ending } from './ending.ts';
import { looking } from './looking.ts';
import { relative } from './relative.ts';
import type { TmuxServers } from './servers.ts';
import { toolsOf } from './verb.ts';
import { waiting } from './waiting.ts';

/** The tools of the toolset `tmux`. */
export function tmuxTools(servers: TmuxServers): readonly McpTool[] {
  return toolsOf({ ...looking, ...relative, ...waiting, ...changing, ...ending }, servers);
}
