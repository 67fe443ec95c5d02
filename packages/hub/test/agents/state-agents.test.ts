import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentInfo, AgentStatus, Backend } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub } from '../test-hub.ts';
import { type Agent, createAgent } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { type Answer, echo, type ModelServer, startModelServer } from './model-server.ts';
import { Sampler } from './sampler.ts';

const poly = join(import.meta.dirname, '..', '..', 'bin', 'poly');
const command = 'sleep 1; touch made-by-tool';

interface Row {
  readonly shell: Answer;
  /** What its permission prompt is about, where a hook tells it. */
  readonly reason: object;
  readonly interrupt: readonly string[];
  /** What a refused request of its model leaves; OpenCode shows it and rests. */
  readonly failed: AgentStatus;
  /** Whether `poly hooks install` knows it. */
  readonly hooks: boolean;
}

const rows: Readonly<Record<AgentName, Row>> = {
  claude: {
    shell: { tool: 'Bash', input: { command, description: 'touch' } },
    reason: { kind: 'permission', tool: 'Bash', input: expect.stringContaining(command) },
    ...{ interrupt: ['Escape'], failed: 'error', hooks: true },
  },
  codex: {
    shell: {
      tool: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'a test' },
    },
    reason: { kind: 'permission', tool: 'Bash', input: expect.stringContaining(command) },
    ...{ interrupt: ['Escape'], failed: 'error', hooks: true },
  },
  opencode: {
    shell: { tool: 'bash', input: { command, description: 'touch' } },
    reason: { kind: 'permission' },
    ...{ interrupt: ['Escape', 'Escape'], failed: 'done', hooks: false },
  },
  gemini: {
    shell: { tool: 'run_shell_command', input: { command, description: 'touch' } },
    reason: { kind: 'permission' },
    ...{ interrupt: ['Escape'], failed: 'error', hooks: true },
  },
};

const backends: readonly Backend[] = ['pty', 'tmux'];
const cases = (Object.keys(rows) as AgentName[]).flatMap((name) =>
  backends.map((backend) => ({ name, backend, ...rows[name] })),
);

describe.each(cases)(
  'the state of a real $name on $backend',
  ({ name, backend, shell, reason, interrupt, failed, hooks }) => {
    let hub: TestHub;
    let server: ModelServer;
    let agent: Agent;
    let sampler: Sampler;
    let held = Promise.withResolvers<void>();

    beforeAll(async () => {
      const ran = new Set<string>();
      server = await startModelServer((turn) => {
        // Once for each prompt: what comes back with the result may hold the same words.
        if (turn.said.includes('run the tool') && !ran.has(turn.said.trim())) {
          ran.add(turn.said.trim());
          return shell;
        }
        if (turn.said.includes('take your time')) return { text: 'I am at it', until: held.promise };
        if (turn.said.includes('fail now')) return { status: 400, message: 'refused by the test' };
        return echo(turn);
      });
      hub = await TestHub.start();
      if (backend === 'tmux') await hub.client.call('session:start', {});
      agent = await createAgent(hub, name, {
        ...{ model: server.url, permissions: 'ask' },
        prepare: (env) => {
          if (hooks) execFileSync(poly, ['hooks', 'install', name], { env: { ...env, POLY_HOME: hub.dir } });
        },
      });
      sampler = new Sampler(hub, name, agent.pane.id);
    });
    afterAll(async () => {
      held.resolve();
      await sampler?.stop();
      await hub?.[Symbol.asyncDispose]();
      await agent?.remove();
      await server?.close();
    });

    const becomes = (...expected: readonly AgentStatus[]): Promise<AgentInfo> => sampler.becomes(expected);
    const press = (...keys: readonly string[]) =>
      hub.client.call('pane:keys', { paneId: agent.pane.id, keys: [...keys] });
    const look = () => hub.client.call('agent:seen', { paneId: agent.pane.id });

    it('is idle when it takes its first words', async () => {
      await becomes('idle');
    });

    it('works until its answer has ended, and is done until somebody looks', async () => {
      await agent.message('take your time');
      await becomes('running');
      const since = sampler.length;
      await pause(3_000);
      expect(sampler.statuses(since)).toEqual(['running']);
      held.resolve();
      await becomes('done');
      expect(sampler.statuses(since)).toEqual(['running', 'done']);
      await look();
      await becomes('idle');
    });

    it('waits for a permission, says for which, and rests when it is refused', async () => {
      await agent.message('run the tool');
      await becomes('blocked');
      await expect.poll(() => sampler.last?.reason, { timeout: 30_000 }).toMatchObject(reason);
      const since = sampler.length;
      await pause(2_000);
      expect(sampler.statuses(since)).toEqual(['blocked']);
      await press('Escape');
      await becomes('idle', 'done');
      expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(false);
      await look();
    });

    it('works while the tool runs that was permitted', async () => {
      await agent.message('run the tool again');
      await becomes('blocked');
      // Codex 0.166.0 shows its question only when nobody has typed for a moment.
      await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
      await pause(500); // Nobody has read it sooner.
      await becomes('blocked');
      const since = sampler.length;
      // Claude Code 2.1.325 takes no answer right after it has asked.
      while (sampler.last?.status === 'blocked') {
        await press('Enter');
        await pause(500);
      }
      await becomes('done');
      expect(existsSync(join(agent.work, 'made-by-tool'))).toBe(true);
      expect(sampler.statuses(since)).toEqual(['blocked', 'running', 'done']);
      await look();
    });

    it('rests when it is interrupted, which few hooks tell', async () => {
      held = Promise.withResolvers();
      await agent.message('take your time again');
      await becomes('running');
      await pause(1_000);
      while (sampler.last?.status === 'running') {
        for (const key of interrupt) {
          await press(key);
          await pause(300);
        }
        await pause(1_000);
      }
      await becomes('idle', 'done');
      held.resolve();
      await look();
    });

    it('says that a turn has failed', async () => {
      await agent.message('fail now');
      await becomes(failed);
    });

    it('is gone when its program has ended, and was never taken for idle while it worked', async () => {
      await hub.client.call('pane:close', { paneId: agent.pane.id, cleanup: false });
      await becomes('gone');
      await sampler.stop();
      console.log(`${name} on ${backend}: ${sampler.summary}`);
      expect(sampler.falseRests).toEqual([]);
      expect(sampler.missedBlocks).toEqual([]);
    });
  },
);
