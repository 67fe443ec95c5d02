import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Backend } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/agents/compose.ts';
import type { Reading } from '../../src/agents/read-screen.ts';
import { TestHub } from '../test-hub.ts';
import { type Agent, createAgent } from './agent.ts';
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

const backends: readonly Backend[] = ['pty', 'tmux'];
const cases = (Object.keys(agents) as AgentName[]).flatMap((name) =>
  backends.map((backend) => ({ name, backend, ...agents[name] })),
);
const written = { state: 'written', door: 'terminal', reason: expect.any(String) };
const isIdle = ({ status, composer }: Reading): boolean => status === 'idle' && composer?.draft === '';

async function startHub(backend: Backend): Promise<TestHub> {
  const hub = await TestHub.start();
  if (backend === 'tmux') await hub.client.call('session:start', {});
  return hub;
}

describe.each(cases)('a real $name that asks, on $backend', ({ name, backend, modelName, shell }) => {
  let hub: TestHub;
  let server: ModelServer;
  let agent: Agent;
  const held = Promise.withResolvers<void>();

  beforeAll(async () => {
    server = await startModelServer((turn) => {
      if (turn.said.includes('run the tool')) return shell;
      if (turn.said.includes('take your time')) return { text: 'I am at it', until: held.promise };
      return echo(turn);
    });
    hub = await startHub(backend);
    agent = await createAgent(hub, name, {
      model: server.url,
      modelName,
      permissions: 'ask',
      prompt: 'first words',
    });
  });
  afterAll(async () => {
    held.resolve();
    await hub?.[Symbol.asyncDispose]();
    await agent?.remove();
    await server?.close();
  });

  /** How often the model was told exactly this by its user. */
  const told = (text: string): readonly Turn[] =>
    server.turns.filter(({ said, tools }) => tools.length > 0 && said.trim() === text);
  const answered = (text: string) =>
    agent.until('the answer', (reading, screen) => isIdle(reading) && screen.includes(`I heard: ${text}`));

  it('starts with the model and the prompt it was given, and is idle after its answer', async () => {
    const { pane } = agent;
    expect(pane).toMatchObject({ backend, agent: { vendor: name, status: 'starting' } });
    await hub.event('agent:created', ({ payload }) => payload.paneId === pane.id);
    const turn = await server.asked(({ said, tools }) => said.trim() === 'first words' && tools.length > 0);
    expect(turn.model).toContain(modelName.split('/').at(-1));
    await answered('first words');
    expect(told('first words')).toHaveLength(1);
  });

  it('gets a message once, answers, and is idle again', async () => {
    const text = 'Grüße, a second time: "it\'s" 100 % & more';
    expect(await agent.message(text)).toEqual(written);
    await answered(text);
    expect(told(text)).toHaveLength(1);
  });

  it.each([
    ['a shell command', '!touch made-by-shell'],
    ['a command of its own', '/help'],
    ['a file', '@secret.txt'],
    ['a mention', 'what is in @secret.txt'],
    ['a word that would end it', 'exit'],
    ['many lines', 'line one\n\n  line three\n!touch made-by-shell\n/clear\nthe end \\'],
    ['a page', Array.from({ length: 800 }, (_, n) => `word-${n}`).join(' ')],
  ])('takes %s for text', async (_, text) => {
    writeFileSync(join(agent.work, 'secret.txt'), 'only a mention would show this');
    expect(await agent.message(text)).toEqual(written);
    const exactly = compose(name, text).text.trim();
    const { body } = await server.asked(
      ({ said, tools }) => tools.length > 0 && said.trim() === exactly,
      20_000,
    );
    expect(JSON.stringify(body)).not.toContain('only a mention would show this');
    await agent.until('it idle', isIdle);
    expect(told(exactly)).toHaveLength(1);
    expect(existsSync(join(agent.work, 'made-by-shell'))).toBe(false);
  });

  it('takes a message while it runs, and gives it to the model once', async () => {
    expect(await agent.message('take your time')).toEqual(written);
    await agent.until('it running', ({ status }) => status === 'running');
    expect(await agent.message('one more thing')).toEqual(written);
    held.resolve();
    await answered('one more thing');
    expect(told('take your time')).toHaveLength(1);
    expect(told('one more thing')).toHaveLength(1);
  });

  it('leaves alone what somebody has begun to write', async () => {
    const draft = 'my own words';
    const paneId = agent.pane.id;
    const asked = server.turns.length;
    await hub.client.call('pane:write', { paneId, data: draft });
    await agent.until('the draft', ({ composer }) => composer?.draft === draft);
    expect(await agent.message('a message')).toEqual({
      state: 'failed',
      door: 'terminal',
      reason: 'somebody has begun to write there',
    });
    await agent.until('the draft', ({ composer }) => composer?.draft === draft);
    expect(server.turns.slice(asked).filter(({ tools }) => tools.length > 0)).toEqual([]);
    await hub.client.call('pane:keys', { paneId, keys: Array.from(draft, () => 'BSpace') });
    await agent.until('it idle', isIdle);
  });

  it('is told nothing at a permission prompt, which stays for a person to answer', async () => {
    const made = join(agent.work, 'made-by-tool');
    expect(await agent.message('please run the tool')).toEqual(written);
    await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
    // The sign before a tool that waits may blink.
    const shown = async () => (await agent.screen()).replaceAll('●', ' ');
    const before = await shown();
    expect(await agent.message('a message')).toEqual({
      state: 'failed',
      door: 'terminal',
      reason: expect.stringContaining('it waits for an answer (permission)'),
    });
    expect(await shown()).toBe(before);
    expect(existsSync(made)).toBe(false);
    // Claude Code 2.1.325 takes no answer right after it has asked.
    while (!existsSync(made)) {
      await hub.client.call('pane:keys', { paneId: agent.pane.id, keys: ['Enter'] });
      await pause(500);
    }
    await agent.until('it idle', isIdle);
  });

  it('is gone with all it started when its pane is closed', async () => {
    const paneId = agent.pane.id;
    expect(agent.processes()).not.toEqual([]);
    await hub.client.call('pane:close', { paneId, cleanup: false });
    expect(agent.processes()).toEqual([]);
    await hub.event('agent:state', ({ payload }) => payload.paneId === paneId && payload.status === 'gone');
    expect((await hub.client.call('pane:get-meta', { paneId })).meta).toMatchObject({
      'agent.runtime': name,
      'agent.status': 'gone',
    });
  });
});

it.each(cases)(
  'a real $name with permissions "auto", on $backend, takes a message from the start, and does not ask',
  async ({ name, backend, shell, sandboxed = shell }) => {
    const done = (turn: Turn): Answer =>
      turn.said.includes('run the tool') ? sandboxed : { text: 'done with it' };
    const server = await startModelServer(done);
    const hub = await startHub(backend);
    const agent = await createAgent(hub, name, { model: server.url, permissions: 'auto' });
    try {
      expect(await agent.message('run the tool')).toEqual(written);
      await agent.until(
        'the answer',
        (reading, screen) => isIdle(reading) && screen.includes('done with it'),
      );
      expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(true);
    } finally {
      await hub[Symbol.asyncDispose]();
      await agent.remove();
      await server.close();
    }
  },
);
