import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/agents/compose.ts';
import { type Agent, startAgent } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { type Answer, echo, type ModelServer, startModelServer, type Turn } from './model-server.ts';

const command = 'touch made-by-tool';

interface Row {
  readonly modelName: string;
  /** A tool's call that needs a person's word. */
  readonly shell: Answer;
  /** One that needs none where nobody is asked; the same unless said otherwise. */
  readonly sandboxed?: Answer;
}

const agents: Readonly<Record<AgentName, Row>> = {
  claude: { modelName: 'haiku', shell: { tool: 'Bash', input: { command, description: 'touch' } } },
  codex: {
    modelName: 'stub-model-2',
    shell: {
      tool: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'a test' },
    },
    sandboxed: { tool: 'exec_command', input: { cmd: command } },
  },
  opencode: { modelName: 'stub/stub-2', shell: { tool: 'bash', input: { command, description: 'touch' } } },
  gemini: {
    modelName: 'gemini-2.5-flash',
    shell: { tool: 'run_shell_command', input: { command, description: 'touch' } },
  },
};

const isIdle = ({ status }: { readonly status: string }) => status === 'idle';

for (const [name, { modelName, shell, sandboxed = shell }] of Object.entries(agents) as [
  AgentName,
  (typeof agents)[AgentName],
][]) {
  describe(`a real ${name} that asks`, () => {
    let server: ModelServer;
    let agent: Agent;
    const held = Promise.withResolvers<void>();

    beforeAll(async () => {
      server = await startModelServer((turn) => {
        if (turn.said.includes('run the tool')) return shell;
        if (turn.said.includes('take your time')) return { text: 'I am at it', until: held.promise };
        return echo(turn);
      });
      agent = await startAgent(name, { model: server.url, modelName, prompt: 'first words' });
    });
    afterAll(async () => {
      held.resolve();
      await agent?.close();
      await server?.close();
    });

    it('starts with the model and the prompt it was given, and is idle after its answer', async () => {
      const turn = await server.asked(({ said, tools }) => said === 'first words' && tools.length > 0);
      expect(turn.model).toContain(modelName.split('/').at(-1));
      await agent.until(
        'it idle',
        (reading) => isIdle(reading) && agent.screen().includes('I heard: first words'),
      );
      expect(agent.read().composer).toEqual({ draft: '' });
    });

    it('gets a message as it was meant, runs, and is idle again', async () => {
      const text = '!touch made-by-shell; take your time\n/help @made.txt and then \\';
      await agent.send(text);
      const seen = ({ said, tools }: Turn) => tools.length > 0 && said.includes('take your time');
      expect((await server.asked(seen, 20_000)).said.trim()).toBe(compose(name, text).text.trim());
      await agent.until('it running', ({ status }) => status === 'running');
      expect(agent.screen()).toContain('take your time');
      held.resolve();
      await agent.until('it idle', isIdle);
      expect(existsSync(join(agent.work, 'made-by-shell'))).toBe(false);
      expect(server.turns.filter(seen)).toHaveLength(1);
    });

    it('is blocked at a permission prompt, and nothing is typed into it', async () => {
      await agent.send('please run the tool');
      const reading = await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
      expect(reading.status).toBe('blocked');
      expect(reading.composer).toBeUndefined();
      const before = agent.screen();
      await expect(agent.send('a message')).rejects.toThrow('the agent is blocked');
      expect(agent.screen()).toBe(before);
      expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(false);
    });
  });

  it(`a real ${name} with permissions "auto" takes a message as soon as it is idle, and does not ask`, async () => {
    const done = (turn: Turn): Answer =>
      turn.said.includes('run the tool') ? sandboxed : { text: 'done with it' };
    const server = await startModelServer(done);
    const agent = await startAgent(name, { model: server.url, permissions: 'auto' });
    try {
      await agent.until('it idle', isIdle);
      await agent.send('run the tool');
      await agent.until(
        'the answer',
        (reading) => isIdle(reading) && agent.screen().includes('done with it'),
      );
      expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(true);
    } finally {
      await agent.close();
      await server.close();
    }
  });
}
