import { execFile, execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { Inbox } from '../../src/agents/inbox.ts';
import { rows } from '../capture-ground.ts';
import { TestHub, until } from '../test-hub.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { createAgentHome } from './agent-home.ts';
import { installAgent } from './installed-agents.ts';
import { type Answer, startModelServer, type Turn } from './model-server.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const plugin = join(root, 'packages', 'claude-code');
const poly = join(root, 'packages', 'hub', 'bin', 'poly');
const tool = 'mcp__plugin_polyphony_poly__pty_spawn';
const input = { command: 'cat', title: 'of the plugin' };
const words = 'a message: "it\'s" here\nand é';

let program: string;
beforeAll(async () => {
  program = await installAgent('claude');
  // The plugin finds poly where its user does.
  process.env.PATH = [join(root, 'packages', 'hub', 'bin'), process.env.PATH].join(delimiter);
});

/** How a user comes to have it. */
const ways: Readonly<Record<string, (hub: TestHub) => Pick<AgentOptions, 'args' | 'prepare'>>> = {
  '--plugin-dir': () => ({ args: ['--plugin-dir', plugin] }),
  '--plugin-dir beside poly hooks install': ({ dir }) => ({
    args: ['--plugin-dir', plugin],
    prepare: (env) => execFileSync(poly, ['hooks', 'install', 'claude'], { env: { ...env, POLY_HOME: dir } }),
  }),
  'a marketplace': () => ({
    prepare(env) {
      for (const args of [
        ['marketplace', 'add', root],
        ['install', 'polyphony@polyphony'],
      ])
        execFileSync(program, ['plugin', ...args], { env, cwd: env.HOME, stdio: 'pipe' });
    },
  }),
};

describe('the plugin for Claude Code', () => {
  it.each([
    ['plugin', plugin],
    ['marketplace', root],
  ])('passes the validation of a %s, with no warning', async (type, path) => {
    const { env, work, remove } = await createAgentHome('claude', 'http://127.0.0.1:9');
    try {
      const args = ['plugin', 'validate', '--strict', '--json', path];
      const { stdout } = await promisify(execFile)(program, args, { env, cwd: work });
      const manifest = { type, errors: [], warnings: [] };
      expect(JSON.parse(stdout)).toMatchObject({ success: true, manifest, contents: [] });
    } finally {
      await remove();
    }
  });

  it.each(Object.entries(ways))(
    'by %s, brings tools and the skill, captures each event once, and delivers',
    async (_, wayOf) => {
      const hub = await TestHub.start();
      const way = wayOf(hub);
      const server = await startModelServer(
        ({ said }: Turn): Answer =>
          said.includes('call the tool') ? { tool, input } : { text: 'done with it' },
      );
      const agent = await createAgent(hub, 'claude', {
        ...{ model: server.url, permissions: 'ask', ...way },
        args: [...(way.args ?? []), `--allowedTools=${tool}`],
      });
      const inbox = new Inbox(join(hub.dir, 'inbox'), agent.pane.id);
      const deliver = async (name: string): Promise<void> => {
        inbox.put(name, `${name}: ${words}`);
        const text = JSON.stringify(`${name}: ${words}`).slice(1, -1);
        await server.asked(({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes(text));
        await until(() => inbox.taken.includes(name));
      };
      try {
        // Claude Code 2.1.325 takes a prompt before its servers have answered.
        const offered = server.asked(({ tools }) => tools.includes(tool));
        for (let count = 1; !server.turns.some(({ tools }) => tools.includes(tool)); count++) {
          await agent.message(`hello ${count}`);
          await server.asked(({ said, tools }) => said.includes(`hello ${count}`) && tools.length > 0);
          await agent.until('it idle', ({ status }) => status === 'idle');
        }
        const asked = await offered;
        expect(JSON.stringify(asked.body)).toContain('polyphony:polyphony');
        await agent.message('call the tool');
        const made = await hub.event('action:success', ({ payload }) => {
          const { actionName, params } = payload as { actionName: string; params: { title?: string } };
          return actionName === 'pane:new' && params.title === input.title;
        });
        expect(made.pane).toBe(agent.pane.id);
        for (const kind of ['session_started', 'prompt', 'tool_ended', 'turn_ended'])
          await hub.event('agent:captured', ({ payload }) => {
            const told = payload as { kind: string; agent: string; paneId?: string };
            return told.kind === kind && told.agent === 'claude' && told.paneId === agent.pane.id;
          });
        await agent.until('it idle', ({ status }) => status === 'idle');
        await deliver('first');
        await agent.until('it idle', ({ status }) => status === 'idle');
        await deliver('second');
        await hub.kill('SIGTERM');
        const kept = rows(hub).map(({ normalised }) => JSON.parse(normalised) as Record<string, unknown>);
        const of = (event: string): readonly unknown[] => kept.filter((one) => one.event === event);
        expect(kept.filter(({ text }) => text === 'call the tool')).toHaveLength(1);
        for (const event of ['SessionStart', 'PreToolUse', 'PostToolUse']) expect(of(event)).toHaveLength(1);
      } finally {
        await hub[Symbol.asyncDispose]();
        await agent.remove();
        await server.close();
      }
    },
  );
});
