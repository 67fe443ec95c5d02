import { choiceOf } from '../../mcp/choose-tools.ts';
import { safeties } from '../../mcp/tool.ts';
import { type Command, command } from '../command.ts';
import { choice, text } from '../flag.ts';

export const mcpCommands: readonly Command[] = [
  command({
    name: 'mcp',
    summary: 'Speaks MCP on standard input and output: what a coding agent is configured to start.',
    flags: {
      toolsets: text('Which tools, with commas between; panes,mail when left out.', { value: 'A,B' }),
      safety: choice('How much they may do; mutating when left out.', safeties),
    },
    examples: ['poly mcp', 'poly mcp --toolsets panes,actions --safety readonly'],
    async run({ flags: { toolsets, safety }, env, ...call }) {
      const query = new URLSearchParams({ ...(toolsets && { toolsets }), ...(safety && { safety }) });
      choiceOf(query);
      const { statusOf, startHub } = await import('../start-hub.ts');
      const start = async (): Promise<void> => {
        if (!(await statusOf(env))) await startHub({ ...call, env, flags: {} });
      };
      await start();
      const { McpBridge } = await import('../mcp/bridge.ts');
      await new McpBridge(env, `/mcp?${query}`, start).run();
    },
  }),
];
