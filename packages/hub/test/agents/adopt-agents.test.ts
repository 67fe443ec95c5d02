import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAdoptParams, PaneScreen } from '@polyphony/protocol';
import { createEngine, type Engine } from '@polyphony/tmux';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch } from '../../src/agents/launch.ts';
import { screenCommands, screenOf } from '../../src/platform/tmux-terminal.ts';
import { TestHub } from '../test-hub.ts';
import { processesWith } from './agent.ts';
import { type AgentHome, createAgentHome } from './agent-home.ts';
import { type AgentName, installAgent } from './installed-agents.ts';
import { Sampler } from './sampler.ts';
import { ScriptedModel } from './scripted-model.ts';
import { type Walked, walkStates } from './state-walk.ts';
import { telling } from './telling.ts';

interface Case {
  readonly name: AgentName;
  readonly hooks: boolean;
  /** Who tells of it in the end, and whether its conversation is known by then. */
  readonly sources: readonly string[];
  readonly resume: boolean;
}

const cases: readonly Case[] = [
  { name: 'claude', hooks: true, sources: ['process', 'hooks', 'session file', 'screen'], resume: true },
  { name: 'claude', hooks: false, sources: ['process', 'session file', 'screen'], resume: true },
  { name: 'codex', hooks: true, sources: ['process', 'hooks', 'screen'], resume: true },
  { name: 'codex', hooks: false, sources: ['process', 'screen'], resume: true },
  { name: 'opencode', hooks: false, sources: ['process', 'screen'], resume: false },
  { name: 'gemini', hooks: true, sources: ['process', 'hooks', 'screen'], resume: true },
  { name: 'gemini', hooks: false, sources: ['process', 'screen'], resume: false },
];

describe.each(cases.map((one) => ({ ...one, told: one.hooks ? 'its hooks' : 'no hooks' })))(
  'a real $name with $told, started by hand in tmux and adopted',
  ({ name, hooks, sources, resume }) => {
    let hub: TestHub;
    let model: ScriptedModel;
    let home: AgentHome;
    let folder: string;
    let engine: Engine;
    let paneId = '';
    let sampler: Sampler;

    const socket = (): string => join(folder, 'by-hand');
    const tmux = (...args: readonly string[]): string =>
      execFileSync('tmux', ['-S', socket(), '-f', '/dev/null', ...args], {
        env: { ...home.env, POLY_HOME: hub.dir },
        encoding: 'utf8',
      }).trim();
    const screen = async (): Promise<PaneScreen> => {
      const replies = await engine.runChain(screenCommands('%0').map((argv) => ({ argv, effect: 'read' })));
      return screenOf(replies.map(({ stdout }) => stdout));
    };

    beforeAll(async () => {
      model = await ScriptedModel.start(name);
      home = await createAgentHome(name, model.server.url);
      const { HOME: _, PATH: __, ...keys } = home.env;
      // Keys are not taken over from one that is adopted: whoever takes it up again has them.
      hub = await TestHub.start({ env: keys });
      folder = mkdtempSync(join(tmpdir(), 'poly-by-hand-'));
      if (hooks) telling(name, () => hub)(home.env);
      // The flags by which it asks before it acts, as somebody would type them.
      const { argv, env } = launch({ argv: [await installAgent(name)] });
      const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
      tmux(...['new-session', '-d', '-x', '120', '-y', '40', '-c', home.work, ...variables, '--', ...argv]);
      engine = createEngine('imsg', { socketPath: socket() });
    });
    afterAll(async () => {
      await sampler?.stop();
      await engine?.close();
      try {
        tmux('kill-server');
      } catch {
        // It has ended with its last session.
      }
      await hub?.[Symbol.asyncDispose]();
      // Gemini 0.61.0 outlives its terminal.
      for (const line of processesWith(home.env.HOME ?? ''))
        process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await home?.remove();
      await model?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is found in its tmux, once, and takes its first words', async () => {
      const target: AgentAdoptParams = { targets: [`${socket()}:%0`], sockets: [socket()] };
      // A program may be there a moment before it is the one that was meant: env finds node, which reads its script.
      await expect
        .poll(() => hub.client.call('agent:adopt', target).catch(() => undefined), { timeout: 60_000 })
        .toMatchObject({ adopted: [{ vendor: name }] });
      const again = await hub.client.call('agent:adopt', target);
      paneId = again.already[0]?.id ?? '';
      expect(again).toMatchObject({ adopted: [], already: [{ vendor: name }] });
      sampler = new Sampler(hub, name, paneId, screen);
      expect(await sampler.becomes(['idle'])).toMatchObject({
        vendor: name,
        adopted: { cwd: home.work, tmux: { socket: socket(), pane: '%0' }, typing: true },
      });
    });

    walkStates(
      name,
      (): Walked => ({
        ...{ name, hub, model, paneId, sampler, work: home.work, told: hooks, screen },
        press: (...keys) => tmux('send-keys', '-t', '%0', ...keys),
        type: (text) => tmux('send-keys', '-t', '%0', '-l', '--', text),
        async end() {
          // A hub that was killed knows it again, and finds nobody new.
          await hub.kill('SIGKILL');
          await hub.start();
          const since = sampler.length;
          await expect.poll(() => sampler.length, { timeout: 30_000 }).toBeGreaterThan(since);
          await sampler.becomes(['idle', 'done']);
          // A moment later everybody who tells of it has told.
          await expect
            .poll(() => [...(sampler.last?.adopted?.sources ?? [])].sort(), { timeout: 30_000 })
            .toEqual([...sources].sort());
          expect(sampler.last?.adopted?.resume).toBe(resume);
          const target: AgentAdoptParams = { targets: [`${socket()}:%0`] };
          expect((await hub.client.call('agent:adopt', target)).adopted).toEqual([]);
          tmux('kill-session');
        },
      }),
    );
  },
);
