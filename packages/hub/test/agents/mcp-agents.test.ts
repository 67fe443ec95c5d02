import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestHub } from '../test-hub.ts';
import { createAgent } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { type Answer, startModelServer, type Turn } from './model-server.ts';

const poly = join(import.meta.dirname, '..', '..', 'bin', 'poly');
const input = { command: 'cat', title: 'of the agent' };

/** What each calls a tool of the server `poly`. */
const calls: Readonly<Record<AgentName, Answer>> = {
  claude: { tool: 'mcp__poly__pty_spawn', input },
  codex: { tool: 'pty_spawn', namespace: 'mcp__poly', input },
  opencode: { tool: 'poly_pty_spawn', input },
  gemini: { tool: 'mcp_poly_pty_spawn', input },
};

it.each(Object.keys(calls) as AgentName[])(
  'a real %s, told by poly mcp install, calls a tool over stdio and is known as the pane it runs in',
  async (name) => {
    const hub = await TestHub.start();
    const answer = ({ said }: Turn): Answer =>
      said.includes('call the tool') ? calls[name] : { text: 'done with it' };
    const server = await startModelServer(answer);
    const agent = await createAgent(hub, name, {
      model: server.url,
      // In the auto mode of Claude Code 2.1.325 its own servers say what a tool of MCP may do.
      permissions: name === 'claude' ? 'ask' : 'auto',
      prepare(env) {
        execFileSync(poly, ['mcp', 'install', name], { env: { ...env } });
        const settings = join(env.HOME ?? '', '.claude');
        mkdirSync(settings, { recursive: true });
        const permissions = { allow: ['mcp__poly__pty_spawn'] };
        writeFileSync(join(settings, 'settings.json'), JSON.stringify({ permissions }));
      },
    });
    try {
      await agent.message('call the tool');
      await agent.until('the answer', (_, screen) => screen.includes('done with it'));
      const made = await hub.event('action:success', ({ payload }) => {
        const { actionName, params } = payload as { actionName: string; params: { title?: string } };
        return actionName === 'pane:new' && params.title === input.title;
      });
      expect(made.pane).toBe(agent.pane.id);
      const agents = await hub.client.call('agent:list', {});
      expect(agents).toMatchObject([{ id: agent.pane.id, vendor: name }]);
      const told = await server.asked(({ body }) => /pty_spawned/.test(JSON.stringify(body)));
      expect(told.tools.length).toBeGreaterThan(0);
    } finally {
      await hub[Symbol.asyncDispose]();
      await agent.remove();
      await server.close();
    }
  },
);
