import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Inbox } from '../../src/agents/inbox.ts';
import { TestHub } from '../test-hub.ts';
import { createAgent } from './agent.ts';
import { type Answer, startModelServer, type Turn } from './model-server.ts';
import { telling } from './telling.ts';

const input = { command: 'echo captured', description: 'echo' };

/** How the model has each run a command, and what its hooks call a prompt, a tool and the end of a turn. */
const calls = {
  claude: { answer: { tool: 'Bash', input }, events: ['UserPromptSubmit', 'PreToolUse', 'Stop'] },
  codex: {
    answer: { tool: 'exec_command', input: { cmd: input.command } },
    events: ['UserPromptSubmit', 'PreToolUse', 'Stop'],
  },
  gemini: {
    answer: { tool: 'run_shell_command', input },
    events: ['BeforeAgent', 'BeforeTool', 'AfterAgent'],
  },
} as const;

it.each(Object.keys(calls) as (keyof typeof calls)[])(
  'a real %s with the hooks of poly hooks install has its prompt and its tool captured, and hears what lies in its inbox',
  async (name) => {
    const hub = await TestHub.start();
    const { answer, events } = calls[name];
    const server = await startModelServer(
      ({ said }: Turn): Answer => (said.includes('run the command') ? answer : { text: 'done with it' }),
    );
    const agent = await createAgent(hub, name, {
      ...{ model: server.url, permissions: 'auto' },
      prepare: telling(name, () => hub),
    });
    try {
      await agent.message('run the command');
      const captured = (kind: string) =>
        hub.event('agent:captured', ({ payload }) => (payload as { kind: string }).kind === kind);
      for (const [index, kind] of ['prompt', 'tool_started', 'turn_ended'].entries())
        expect((await captured(kind)).payload).toMatchObject({
          ...{ agent: name, event: events[index], paneId: agent.pane.id },
        });
      await agent.until('it idle', ({ status }) => status === 'idle');
      new Inbox(join(hub.dir, 'inbox'), agent.pane.id).put('1', 'from the inbox');
      // Claude Code alone is woken.
      if (name !== 'claude') await agent.message('hello again');
      await server.asked(
        ({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes('from the inbox'),
      );
    } finally {
      await hub[Symbol.asyncDispose]();
      await agent.remove();
      await server.close();
    }
  },
);
