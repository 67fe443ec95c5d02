import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MailDelivery, MailSendResult } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reading } from '../../src/agents/read-screen.ts';
import { register, type TestAgent } from '../mail-ground.ts';
import { TestHub, until } from '../test-hub.ts';
import { type Agent, createAgent } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { type Answer, type ModelServer, startModelServer } from './model-server.ts';
import { buildPlugin } from './opencode-server.ts';
import { telling } from './telling.ts';

const command = 'touch made-by-tool';
const input = { command, description: 'touch' };

interface Row {
  readonly tool: Answer;
  /** By which doors it is reached while it rests, works, asks, was interrupted, has a draft, and after a failed turn. */
  readonly doors: Readonly<Record<'idle' | 'busy' | 'asking' | 'interrupted' | 'draft' | 'failed', RegExp>>;
}

const rows: Readonly<Record<AgentName, Row>> = {
  claude: {
    tool: { tool: 'Bash', input },
    doors: {
      idle: /wake hook/,
      busy: /wake hook|hook context/,
      asking: /wake hook/,
      interrupted: /wake hook/,
      draft: /wake hook/,
      failed: /wake hook/,
    },
  },
  codex: {
    tool: {
      tool: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'a test' },
    },
    doors: {
      idle: /codex queue/,
      busy: /codex queue/,
      asking: /codex queue/,
      interrupted: /keyboard/,
      draft: /codex queue/,
      failed: /codex queue/,
    },
  },
  opencode: {
    tool: { tool: 'bash', input },
    doors: {
      idle: /wake hook/,
      busy: /wake hook/,
      asking: /wake hook/,
      interrupted: /wake hook/,
      draft: /wake hook/,
      failed: /wake hook/,
    },
  },
  gemini: {
    tool: { tool: 'run_shell_command', input },
    doors: {
      idle: /keyboard/,
      busy: /keyboard|hook context/,
      asking: /keyboard|hook context/,
      interrupted: /keyboard/,
      draft: /keyboard/,
      failed: /keyboard/,
    },
  },
};

const isIdle = ({ status, composer }: Reading): boolean => status !== 'running' && composer?.draft === '';

describe.each(Object.keys(rows) as AgentName[])('mail to a real %s', (name) => {
  const { tool, doors } = rows[name];
  let hub: TestHub;
  let server: ModelServer;
  let agent: Agent;
  let bob: TestAgent;
  let held = Promise.withResolvers<void>();

  beforeAll(async () => {
    if (name === 'opencode') buildPlugin();
    server = await startModelServer(({ said }) => {
      if (said.includes('run the tool')) return tool;
      if (said.includes('take your time')) return { text: 'I am at it', until: held.promise };
      if (said.includes('fail now')) return { status: 400, message: 'refused by the test' };
      return { text: 'Very well.' };
    });
    hub = await TestHub.start();
    agent = await createAgent(hub, name, {
      ...{ model: server.url, permissions: 'ask' },
      prepare: telling(name, () => hub),
    });
    bob = await register(hub, 'bob');
    const self = hub.as(tokenOf(agent.pane.pid));
    await self.call('mail:register', { name: 'alice', project: 'demo' });
    await agent.until('it idle', isIdle);
    await agent.message('hello');
    await server.asked(({ said }) => said.includes('hello'));
    await agent.until('it idle', isIdle);
  });
  afterAll(async () => {
    held.resolve();
    await hub?.[Symbol.asyncDispose]();
    await agent?.remove();
    await server?.close();
  });

  const send = (): Promise<MailSendResult> =>
    bob.call('mail:send', { to_agent_name: 'alice', body: 'the secret body' });
  const status = async ({ message_id }: MailSendResult): Promise<MailDelivery> => {
    const [found] = (await bob.call('mail:status', { message_id })).statuses;
    if (!found) throw new Error('it has no recipient');
    return found;
  };
  const reaches = (sent: MailSendResult, fits: (delivery: MailDelivery) => boolean): Promise<MailDelivery> =>
    until(async () => {
      const found = await status(sent);
      return fits(found) && found;
    });
  const press = (...keys: readonly string[]) =>
    hub.client.call('pane:keys', { paneId: agent.pane.id, keys: [...keys] });

  /** How often a model was told of it, in all that one conversation holds. */
  const told = ({ event_id }: MailSendResult): number => {
    const mark = `[mail ${event_id}]`;
    return Math.max(0, ...server.turns.map(({ body }) => JSON.stringify(body).split(mark).length - 1));
  };
  /** It is seen by one turn, and its state says so, by a door it should have come through. */
  async function isSeenOnce(sent: MailSendResult, door: RegExp): Promise<void> {
    const seen = await reaches(sent, ({ state }) => state === 'seen');
    expect(seen.door).toMatch(door);
    await server.asked(
      ({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes(`[mail ${sent.event_id}]`),
    );
    await agent.until('it idle', isIdle);
    expect(told(sent)).toBe(1);
    expect(JSON.stringify(server.turns)).not.toContain('the secret body');
  }

  it('is seen once by one that rests', async () => {
    await isSeenOnce(await send(), doors.idle);
  });

  it('is seen once by one that works', async () => {
    held = Promise.withResolvers();
    await agent.message('take your time');
    await agent.until('it at work', ({ status: now }) => now === 'running');
    const sent = await send();
    await reaches(sent, ({ state, reason }) => state !== 'queued' || reason !== undefined);
    held.resolve();
    await isSeenOnce(sent, doors.busy);
  });

  it('answers no question, and is seen once after it', async () => {
    await agent.message('please run the tool');
    await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
    const sent = await send();
    await reaches(sent, ({ state, reason }) => state !== 'queued' || reason !== undefined);
    // Time enough for an answer that nobody gave to show.
    await pause(2_000);
    expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(false);
    await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
    expect(told(sent)).toBe(0);
    // Claude Code 2.1.325 takes no answer right after it has asked.
    while (!existsSync(join(agent.work, 'made-by-tool'))) {
      await press('Enter');
      await pause(500);
    }
    await isSeenOnce(sent, doors.asking);
  });

  it('is seen once after somebody has interrupted it', async () => {
    held = Promise.withResolvers();
    await agent.message('take your time once more');
    // Interrupted before its model has said a word, Codex 0.166.0 puts the prompt back into its composer.
    const hasBegun = (screen: string): boolean => name !== 'codex' || /once more.*I am at it/s.test(screen);
    await agent.until('it at work', ({ status: now }, screen) => now === 'running' && hasBegun(screen));
    // By its screen: one Esc too many opens a list of what Claude Code 2.1.325 could go back to.
    while ((await agent.until('anything', () => true)).status === 'running') {
      await press('Escape');
      await pause(700);
    }
    held.resolve();
    await isSeenOnce(await send(), doors.interrupted);
  });

  it('leaves a draft as it is, and is seen once, or says that somebody writes', async () => {
    const draft = 'my own words';
    await hub.client.call('pane:write', { paneId: agent.pane.id, data: draft });
    await agent.until('the draft', ({ composer }) => composer?.draft === draft);
    const sent = await send();
    const first = await reaches(sent, ({ state, reason }) => state === 'seen' || /draft/.test(reason ?? ''));
    await agent.until(
      'the draft',
      ({ status: now, composer }) => now !== 'running' && composer?.draft === draft,
    );
    await press(...Array.from(draft, () => 'BSpace'));
    await agent.until('it idle', isIdle);
    // One that is reached by its keyboard alone is tried when it rests again.
    if (first.state !== 'seen') {
      await agent.message('go on');
      await agent.until('it idle', isIdle);
    }
    await isSeenOnce(sent, doors.draft);
  });

  it('is seen once after its model has failed', async () => {
    await agent.message('fail now');
    await server.asked(({ said }) => said.includes('fail now'));
    const sent = await send();
    await isSeenOnce(sent, doors.failed);
  });
});

const tokenOf = (pid: number): string =>
  /(?:^|\0)POLY_TOKEN=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
