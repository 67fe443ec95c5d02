import type { AgentPane, Delivery, PaneInfo } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { pairs, text } from '../flag.ts';
import { shown } from '../output.ts';
import { callOnPane } from '../panes.ts';

export const agentCommands: readonly Command[] = [
  command({
    name: 'agent create',
    summary: 'Starts a coding agent in a new pane, here in this folder.',
    args: ['[agent]'],
    rest: '<argv…>',
    flags: {
      model: text('haiku, sonnet or opus for claude; a model’s name for others.', { value: 'MODEL' }),
      permissions: text('Whether it asks before it acts; ask when left out.', {
        value: 'ask|auto',
        choices: ['ask', 'auto'],
      }),
      prompt: text('What it starts with.'),
      name: text('An id of your own for its pane.', { value: 'ID' }),
      cwd: text('Where it starts; here when left out.', { value: 'FOLDER' }),
      env: pairs('A variable for it.'),
      meta: pairs('A note to keep with the pane.'),
    },
    examples: [
      'poly agent create claude --model sonnet --prompt "Fix the failing test"',
      'poly agent create --name review -- codex --full-auto',
    ],
    async run({ flags: { name, cwd, ...more }, args, rest = [], hub, out, json }) {
      const { resolve } = await import('node:path');
      const made: AgentPane = await hub.call('agent:create', {
        argv: [...args, ...rest],
        ...(name !== undefined && { id: name }),
        cwd: resolve(cwd ?? '.'),
        ...(more as object),
      });
      if (json) return out.json(made);
      out.line(made.id);
    },
  }),
  command({
    name: 'agent list',
    summary: 'Lists the agents and what they are doing.',
    examples: ['poly agent list', 'poly agent list --json'],
    async run({ hub, out, json }) {
      const agents = (await hub.call('pane:list', {})).filter(isAgent);
      if (json) return out.json(agents);
      if (agents.length === 0) return out.note('No agents yet. Start one with: poly agent create claude');
      out.table(
        agents.map(({ id, meta, title }) => [
          out.paint('cyan', id),
          String(meta['agent.status'] ?? 'unknown'),
          String(meta['agent.runtime'] ?? ''),
          shown(title),
        ]),
      );
    },
  }),
  command({
    name: 'agent message',
    summary: 'Gives an agent a message, and says how far it got.',
    args: ['<pane>', '<text>'],
    completes: 'pane',
    examples: ['poly agent message review "Please look at the diff again"'],
    async run({ args: [paneId = '', message = ''], hub, out, json }) {
      const delivery = await callOnPane<Delivery>(hub, 'agent:message', { paneId, text: message } as {
        paneId: string;
      });
      if (json) out.json(delivery);
      else out.line([delivery.state, delivery.reason].filter(Boolean).join(': '));
      return delivery.state === 'failed' ? 1 : 0;
    },
  }),
];

function isAgent({ meta }: PaneInfo): boolean {
  return Object.keys(meta).some((key) => key.startsWith('agent.'));
}
