import { PolyError } from '@polyphony/protocol';
import { choiceOf } from '../../mcp/choose-tools.ts';
import { safeties } from '../../mcp/tool.ts';
import { type Command, command } from '../command.ts';
import { choice, text, toggle } from '../flag.ts';
import { scopes } from '../install/scopes.ts';
import { queryOf } from '../mcp/tool-choice.ts';

const toolChoice = {
  toolsets: text('Which tools, with commas between; panes,mail when left out.', { value: 'A,B' }),
  safety: choice('How much they may do; mutating when left out.', safeties),
  operations: toggle('Also one tool for each operation of tmux: op_kill_pane, op_split_window …'),
  'socket-path': text('The socket of the tmux server that the tools of tmux act on.', {
    value: 'PATH',
    short: 'S',
  }),
  'socket-name': text('The same by name, as tmux takes it.', { value: 'NAME', short: 'L' }),
  'no-caller-socket': toggle('Not on the tmux server the agent itself runs in, but on the hub’s.'),
  channel: toggle('Also tell Claude Code of new mail on its channel, where it was started to listen there.'),
};

const where = {
  scope: choice('Your own files, or those of the folder you are in; user when left out.', scopes),
  config: text('This file, whatever reads it.', { value: 'FILE' }),
  name: text('What the entry is called; poly when left out.', { value: 'NAME' }),
};

const carefully = {
  'dry-run': toggle('Write nothing; show what would be changed, as a diff.'),
  force: toggle('Also where the entry of that name is not as poly writes it.'),
};

/** Many agents give their servers only some variables; without this one it would be the user who asks. */
function noProof(pane: string): PolyError {
  return new PolyError(
    'unauthenticated',
    `this runs in the pane ${pane}, and POLY_TOKEN, which proves it, is missing: it would act with all of your rights.`,
    {
      hint: 'Have POLY_TOKEN and POLY_SOCKET passed on to it, as the entries of poly mcp install do; outside of panes unset POLY_PANE.',
    },
  );
}

export const mcpCommands: readonly Command[] = [
  command({
    name: 'mcp',
    summary: 'Speaks MCP on standard input and output: what a coding agent is configured to start.',
    flags: toolChoice,
    examples: ['poly mcp', 'poly mcp --toolsets panes,actions --safety readonly', 'poly mcp --toolsets tmux'],
    async run({ flags, env, ...call }) {
      const query = queryOf(flags);
      choiceOf(query);
      if (env.POLY_PANE && !env.POLY_TOKEN) throw noProof(env.POLY_PANE);
      const { statusOf, startHub } = await import('../start-hub.ts');
      const start = async (): Promise<void> => {
        if (!(await statusOf(env))) await startHub({ ...call, env, flags: {} });
      };
      await start();
      const { McpBridge } = await import('../mcp/bridge.ts');
      await new McpBridge(env, `/mcp?${query}`, start).run();
    },
  }),
  command({
    name: 'mcp install',
    summary: 'Tells coding agents to start poly mcp: those named, or all that are found here.',
    args: ['[client…]'],
    completes: 'client',
    flags: { ...where, ...toolChoice, ...carefully },
    examples: [
      'poly mcp install --dry-run',
      'poly mcp install claude codex',
      'poly mcp install cursor --scope project',
      'poly mcp install --config ~/.config/other-agent/mcp.json --safety readonly',
    ],
    run: async (call) => (await import('../install/install.ts')).install(call),
  }),
  command({
    name: 'mcp uninstall',
    summary: 'Takes what mcp install has written back out of the files of coding agents, and nothing else.',
    args: ['[client…]'],
    completes: 'client',
    flags: { ...where, ...carefully },
    examples: ['poly mcp uninstall', 'poly mcp uninstall codex --dry-run'],
    run: async (call) => (await import('../install/install.ts')).uninstall(call),
  }),
  command({
    name: 'mcp status',
    summary: 'Shows which coding agents start poly mcp, and from which file.',
    args: ['[client…]'],
    completes: 'client',
    flags: where,
    examples: ['poly mcp status', 'poly mcp status --scope project --json'],
    run: async (call) => (await import('../install/install.ts')).status(call),
  }),
];
