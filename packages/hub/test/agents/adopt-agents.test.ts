import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentAdoptParams, AgentInfo, AgentStatus, PaneScreen } from '@polyphony/protocol';
import { createEngine, type Engine } from '@polyphony/tmux';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch } from '../../src/agents/launch.ts';
import { screenCommands, screenOf } from '../../src/platform/tmux-terminal.ts';
import { TestHub } from '../test-hub.ts';
import { rules } from './agent.ts';
import { type AgentHome, createAgentHome } from './agent-home.ts';
import { type AgentName, installAgent } from './installed-agents.ts';
import { type Answer, echo, type ModelServer, startModelServer } from './model-server.ts';
import { Sampler } from './sampler.ts';

const poly = join(import.meta.dirname, '..', '..', 'bin', 'poly');
const command = 'sleep 1; touch made-by-tool';

interface Row {
  readonly shell: Answer;
  readonly interrupt: readonly string[];
  /** Whether `poly hooks install` knows it. */
  readonly hooks: readonly boolean[];
  /** Who tells of it before a hook does. */
  readonly sources: readonly string[];
}

const rows: Readonly<Record<AgentName, Row>> = {
  claude: {
    shell: { tool: 'Bash', input: { command, description: 'touch' } },
    ...{ interrupt: ['Escape'], hooks: [true, false], sources: ['process', 'session file', 'screen'] },
  },
  codex: {
    shell: {
      tool: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'a test' },
    },
    ...{ interrupt: ['Escape'], hooks: [true, false], sources: ['process', 'screen'] },
  },
  opencode: {
    shell: { tool: 'bash', input: { command, description: 'touch' } },
    ...{ interrupt: ['Escape', 'Escape'], hooks: [false], sources: ['process', 'screen'] },
  },
  gemini: {
    shell: { tool: 'run_shell_command', input: { command, description: 'touch' } },
    ...{ interrupt: ['Escape'], hooks: [true, false], sources: ['process', 'screen'] },
  },
};

const cases = (Object.keys(rows) as AgentName[]).flatMap((name) =>
  rows[name].hooks.map((hooks) => ({ name, ...rows[name], hooks, told: hooks ? 'its hooks' : 'no hooks' })),
);

describe.each(cases)(
  'a real $name with $told, started by hand in tmux and adopted',
  ({ name, shell, interrupt, hooks, sources }) => {
    let hub: TestHub;
    let server: ModelServer;
    let home: AgentHome;
    let folder: string;
    let engine: Engine;
    let paneId = '';
    let sampler: Sampler;
    let held = Promise.withResolvers<void>();

    const tmux = (...args: readonly string[]): string =>
      execFileSync('tmux', ['-S', join(folder, 'by-hand'), '-f', '/dev/null', ...args], {
        env: { ...home.env, POLY_HOME: hub.dir },
        encoding: 'utf8',
      }).trim();
    const screen = async (): Promise<PaneScreen> => {
      const replies = await engine.runChain(screenCommands('%0').map((argv) => ({ argv, effect: 'read' })));
      return screenOf(replies.map(({ stdout }) => stdout));
    };
    const becomes = (...expected: readonly AgentStatus[]): Promise<AgentInfo> => sampler.becomes(expected);
    const press = (...keys: readonly string[]): unknown => tmux('send-keys', '-t', '%0', ...keys);
    const message = (text: string): Promise<unknown> => hub.client.call('agent:message', { paneId, text });
    /** It does nothing, and somebody has seen that. */
    const rests = () =>
      expect
        .poll(
          async () => {
            await look();
            return sampler.last?.status;
          },
          { timeout: 60_000 },
        )
        .toBe('idle');
    const look = (): Promise<unknown> => hub.client.call('agent:seen', { paneId });

    beforeAll(async () => {
      const ran = new Set<string>();
      server = await startModelServer((turn) => {
        // Once for each prompt: what comes back with the result may hold the same words.
        if (turn.said.includes('run the tool') && !ran.has(turn.said.trim())) {
          ran.add(turn.said.trim());
          return shell;
        }
        if (turn.said.includes('take your time')) return { text: 'I am at it', until: held.promise };
        return echo(turn);
      });
      hub = await TestHub.start();
      folder = mkdtempSync(join(tmpdir(), 'poly-by-hand-'));
      home = await createAgentHome(name, server.url);
      if (hooks) execFileSync(poly, ['hooks', 'install', name], { env: { ...home.env, POLY_HOME: hub.dir } });
      // The flags by which it asks before it acts, as somebody would type them.
      const { argv, env } = launch({ argv: [await installAgent(name)] });
      const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
      tmux(...['new-session', '-d', '-x', '120', '-y', '40', '-c', home.work, ...variables, '--', ...argv]);
      engine = createEngine('imsg', { socketPath: join(folder, 'by-hand') });
    });
    afterAll(async () => {
      held.resolve();
      await sampler?.stop();
      await engine?.close();
      try {
        tmux('kill-server');
      } catch {
        // It has ended with its last session.
      }
      await hub?.[Symbol.asyncDispose]();
      await home?.remove();
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is found in its tmux, once, and takes its first words', async () => {
      const socket = join(folder, 'by-hand');
      const target: AgentAdoptParams = { targets: [`${socket}:%0`], sockets: [socket] };
      // A program may be there a moment before it is the one that was meant: env finds node, which reads its script.
      await expect
        .poll(() => hub.client.call('agent:adopt', target).catch(() => undefined), { timeout: 60_000 })
        .toMatchObject({ adopted: [{ vendor: name }] });
      const again = await hub.client.call('agent:adopt', target);
      paneId = again.already[0]?.id ?? '';
      expect(again).toMatchObject({ adopted: [], already: [{ vendor: name }] });
      sampler = new Sampler(hub, name, paneId, screen);
      expect(await becomes('idle')).toMatchObject({
        vendor: name,
        adopted: { cwd: home.work, tmux: { socket, pane: '%0' }, typing: true },
      });
    });

    it('works until its answer has ended, and is done until somebody looks', async () => {
      await message('take your time');
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

    it('waits for a permission, and rests when it is refused', async () => {
      await message('run the tool');
      await becomes('blocked');
      await expect
        .poll(() => sampler.last?.reason, { timeout: 30_000 })
        .toMatchObject({ kind: 'permission' });
      const since = sampler.length;
      await pause(2_000);
      expect(sampler.statuses(since)).toEqual(['blocked']);
      const { rule, signals } = await hub.client.call('agent:explain', { paneId });
      expect(rule).not.toBe('');
      expect(signals.filter(({ decides }) => decides)).toHaveLength(1);
      press('Escape');
      await becomes('idle', 'done');
      expect(existsSync(join(home.work, 'made-by-tool'))).toBe(false);
      await look();
    });

    it('works while the tool runs that was permitted', async () => {
      await message('run the tool again');
      await becomes('blocked');
      // Codex 0.166.0 shows its question only when nobody has typed for a moment.
      await expect
        .poll(async () => rules.readScreen(name, await screen()).blockedOn, { timeout: 60_000 })
        .toBe('permission');
      await becomes('blocked');
      const since = sampler.length;
      // Claude Code 2.1.325 takes no answer right after it has asked.
      while (sampler.last?.status === 'blocked') {
        press('Enter');
        await pause(500);
      }
      await becomes('done');
      expect(existsSync(join(home.work, 'made-by-tool'))).toBe(true);
      expect(sampler.statuses(since)).toEqual(['blocked', 'running', 'done']);
      await look();
    });

    it('rests when it is interrupted', async () => {
      held = Promise.withResolvers();
      await message('take your time again');
      await becomes('running');
      await pause(1_000);
      while (sampler.last?.status === 'running') {
        for (const key of interrupt) {
          press(key);
          await pause(300);
        }
        await pause(1_000);
      }
      await becomes('idle', 'done');
      held.resolve();
      await look();
    });

    it('is known again by a hub that was killed', async () => {
      await rests();
      await hub.kill('SIGKILL');
      await hub.start();
      const since = sampler.length;
      await expect.poll(() => sampler.length, { timeout: 30_000 }).toBeGreaterThan(since);
      await rests();
      expect((await hub.client.call('agent:adopt', { targets: [`${folder}/by-hand:%0`] })).adopted).toEqual(
        [],
      );
    });

    it('is gone when it has ended, and was never taken for idle while it worked', async () => {
      await rests();
      const { adopted } = await becomes('idle');
      const known = hooks ? [...sources, 'hooks'] : sources;
      expect([...(adopted?.sources ?? [])].sort()).toEqual([...known].sort());
      // By its hooks or its session file; Codex may not have opened the file that tells when it was adopted.
      if (hooks || name === 'claude') expect(adopted?.resume).toBe(true);
      tmux('kill-session');
      await expect
        .poll(async () => (await hub.client.call('agent:list', {})).find(({ id }) => id === paneId)?.status, {
          timeout: 30_000,
        })
        .toBe('gone');
      await sampler.stop();
      console.log(`${name}, adopted, ${hooks ? 'with' : 'without'} hooks: ${sampler.summary}`);
      expect(sampler.falseRests).toEqual([]);
      expect(sampler.missedBlocks).toEqual([]);
    });
  },
);
