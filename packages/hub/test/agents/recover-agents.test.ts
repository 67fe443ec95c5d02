import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { damage, recover } from '../recover-ground.ts';
import { TestHub, until } from '../test-hub.ts';
import { wholeTimeline } from '../timeline-ground.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { createAgentHome } from './agent-home.ts';
import { type Answer, startModelServer, type Turn } from './model-server.ts';
import { buildPlugin, pluginUrl } from './opencode-server.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const poly = join(root, 'packages', 'hub', 'bin', 'poly');
const input = { command: 'echo captured', description: 'echo' };

interface Case {
  readonly answer: Answer;
  /** What the timeline tells of a turn, as far as its hooks tell it. */
  readonly kinds: readonly ('prompt' | 'tool' | 'answer')[];
  readonly env?: Readonly<Record<string, string>>;
}

beforeAll(buildPlugin);

/** How the model has each run a command. */
const cases: Readonly<Record<'claude' | 'codex' | 'gemini' | 'opencode', Case>> = {
  claude: { answer: { tool: 'Bash', input }, kinds: ['prompt', 'tool', 'answer'] },
  codex: {
    answer: { tool: 'exec_command', input: { cmd: input.command } },
    kinds: ['prompt', 'tool', 'answer'],
  },
  gemini: { answer: { tool: 'run_shell_command', input }, kinds: ['prompt', 'tool', 'answer'] },
  opencode: {
    ...{ answer: { tool: 'bash', input }, kinds: ['prompt', 'tool'] },
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ plugin: [pluginUrl] }) },
  },
};

it.each(Object.keys(cases) as (keyof typeof cases)[])(
  'what a real %s has kept is what its hooks told; and it is all back when the record has lost it',
  async (name) => {
    const hub = await TestHub.start();
    const { answer, kinds, env = {} } = cases[name];
    const server = await startModelServer(
      ({ said }: Turn): Answer => (said.includes('run the command') ? answer : { text: 'done with it' }),
    );
    const install: AgentOptions['prepare'] = (home) => {
      if (name !== 'opencode')
        execFileSync(poly, ['hooks', 'install', name], { env: { ...home, POLY_HOME: hub.dir } });
    };
    const made = await createAgentHome(name, server.url);
    const home = { ...made, env: { ...made.env, ...env } };
    const agent = await createAgent(hub, name, {
      ...{ model: server.url, permissions: 'auto', prepare: install, home },
    });
    try {
      const pane = agent.pane.id;
      const { session } = await hub.client.call('floor:join', { project: 'real', pane });
      const id = session.session_id;
      const story = async () =>
        (await wholeTimeline(hub, id, { kinds })).map(({ kind, sender, text, result }) => ({
          // Gemini tells an answer with the white space around it.
          ...{ kind, sender, text: text.trim(), result: result?.text },
        }));
      await agent.message('run the command');
      const last = name === 'opencode' ? 'tool_ended' : 'turn_ended';
      await hub.event('agent:captured', ({ payload }) => (payload as { kind: string }).kind === last);
      await agent.until('it idle', ({ status }) => status === 'idle');
      const told = await until(async () => {
        const found = await story();
        return found.length === kinds.length ? found : undefined;
      });
      // What is younger than this is left to its hook.
      const { at = '' } = (await wholeTimeline(hub, id)).at(-1) ?? {};
      await until(() => Date.now() - Date.parse(at) > 11_000);
      const healthy = await recover(hub, { session: id });
      expect(healthy).toMatchObject({ restored: 0, sessions: [] });
      damage(hub.dir, 'DELETE FROM timeline WHERE session = ? AND capture IS NOT NULL', id);
      damage(hub.dir, 'DELETE FROM captures');
      const back = await recover(hub, { session: id });
      expect(back.sessions[0]?.transcripts[0]).toMatchObject({ vendor: name, missing: back.restored });
      expect(await story()).toEqual(told);
      expect(await recover(hub, { session: id })).toMatchObject({ restored: 0, sessions: [] });
    } finally {
      await hub[Symbol.asyncDispose]();
      await agent.remove();
      await server.close();
    }
  },
);
