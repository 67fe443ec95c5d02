import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Inbox } from '../../src/agents/inbox.ts';
import type { Reading } from '../../src/agents/read-screen.ts';
import { trustOf } from '../../src/edges/cli/install/hook-trust.ts';
import { TestHub, until } from '../test-hub.ts';
import { type Agent, type AgentOptions, createAgent } from './agent.ts';
import { createAgentHome } from './agent-home.ts';
import { installAgent } from './installed-agents.ts';
import { type Answer, echo, type ModelServer, startModelServer, type Turn } from './model-server.ts';

const hooks = join(import.meta.dirname, '..', '..', 'hooks');
const command = 'touch made-by-tool';

function forEvents(events: readonly string[], hook: object): object {
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: 'command', ...hook }] }]]));
}

function addHooks(file: string, added: object): void {
  const settings = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...settings, hooks: added }));
}

interface Row {
  /** Gives it the context hook, in its own configuration. */
  readonly prepare: NonNullable<AgentOptions['prepare']>;
  readonly tool: Answer;
}

const agents: Readonly<Record<'claude' | 'codex' | 'gemini', Row>> = {
  claude: {
    prepare({ HOME = '' }) {
      const hook = { command: `${hooks}/context.sh claude`, timeout: 5 };
      const events = ['SessionStart', 'UserPromptSubmit', 'PostToolBatch'];
      addHooks(join(HOME, '.claude', 'settings.json'), forEvents(events, hook));
    },
    tool: { tool: 'Bash', input: { command, description: 'touch' } },
  },
  codex: {
    prepare({ HOME = '' }) {
      const file = join(HOME, '.codex', 'hooks.json');
      const hook = { command: `${hooks}/context.sh codex`, timeout: 5 };
      const events = ['SessionStart', 'UserPromptSubmit', 'PostToolUse'];
      addHooks(file, forEvents(events, hook));
      for (const event of events) {
        const [key, sum] = trustOf(file, event, 0, { hooks: [{ type: 'command', ...hook }] });
        const state = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${sum}"\n`;
        appendFileSync(join(HOME, '.codex', 'config.toml'), state);
      }
    },
    tool: { tool: 'exec_command', input: { cmd: command } },
  },
  gemini: {
    prepare({ HOME = '' }) {
      const hook = { command: `${hooks}/context.sh gemini`, timeout: 5000 };
      const events = ['SessionStart', 'BeforeAgent', 'AfterTool'];
      addHooks(join(HOME, '.gemini', 'settings.json'), forEvents(events, hook));
    },
    tool: { tool: 'run_shell_command', input: { command, description: 'touch' } },
  },
};

/** A message that would break whatever is not escaped. */
const words = (name: string): string => `${name}: "it's" here,\n\\n and\t\\u00e9 is é, 漢字 and \u{1f600}`;
const saw =
  (name: string) =>
  ({ body, tools }: Turn): boolean =>
    tools.length > 0 && JSON.stringify(body).includes(JSON.stringify(words(name)).slice(1, -1));
const isIdle = ({ status, composer }: Reading): boolean => status === 'idle' && composer?.draft === '';

/** The inbox of a pane, with messages whose name says what they hold. */
class NamedInbox {
  readonly #inbox: Inbox;

  constructor(home: string, pane: string) {
    this.#inbox = new Inbox(join(home, 'inbox'), pane);
  }

  get waiting(): readonly string[] {
    return this.#inbox.waiting;
  }

  put(name: string): void {
    this.#inbox.put(name, words(name));
  }

  async taken(name: string): Promise<void> {
    await until(() => this.#inbox.taken.includes(name));
    expect(this.waiting).toEqual([]);
  }
}

it.each(Object.keys(agents) as (keyof typeof agents)[])(
  'the model of a real %s sees with a prompt what waits in the inbox, and with a tool’s result what has come since',
  async (name) => {
    const { prepare, tool } = agents[name];
    const hub = await TestHub.start();
    let inbox: NamedInbox | undefined;
    const server = await startModelServer((turn) => {
      if (!turn.said.includes('run the tool')) return echo(turn);
      inbox?.put('while it works');
      return tool;
    });
    const agent = await createAgent(hub, name, { model: server.url, permissions: 'auto', prepare });
    try {
      inbox = new NamedInbox(hub.dir, agent.pane.id);
      await agent.until('it idle', isIdle);
      inbox.put('before');
      await agent.message('hello');
      expect((await server.asked(saw('before'))).said).toContain('hello');
      await inbox.taken('before');
      await agent.until(
        'the answer',
        (reading, screen) => isIdle(reading) && screen.includes('I heard: hello'),
      );
      await agent.message('run the tool');
      await server.asked(saw('while it works'));
      await inbox.taken('while it works');
    } finally {
      await hub[Symbol.asyncDispose]();
      await agent.remove();
      await server.close();
    }
  },
);

const waiting: Row['prepare'] = ({ HOME = '' }) => {
  const hook = { command: `${hooks}/wake.sh claude`, timeout: 90_000, asyncRewake: true };
  const events = ['SessionStart', 'UserPromptSubmit', 'Stop'];
  addHooks(join(HOME, '.claude', 'settings.json'), forEvents(events, hook));
};

it.each([
  ['context', agents.claude.prepare],
  ['wake', waiting],
])(
  'a real claude -p in the pane of another agent ends as ever, and takes nothing, with its %s hook',
  async (_, prepare) => {
    const server = await startModelServer();
    const { env, work, remove } = await createAgentHome('claude', server.url);
    try {
      prepare(env);
      const inbox = new NamedInbox(work, 'pane_1');
      inbox.put('for another');
      const program = await installAgent('claude');
      const ran = promisify(execFile)(program, ['-p', 'hello'], {
        ...{ cwd: work, env: { ...env, POLY_HOME: work, POLY_PANE: 'pane_1' } },
      });
      ran.child.stdin?.end();
      expect((await ran).stdout).toBe('I heard: hello\n');
      expect(server.turns.filter(saw('for another'))).toEqual([]);
      expect(inbox.waiting).toEqual(['for another']);
    } finally {
      await remove();
      await server.close();
    }
  },
);

it('a real codex exec that a codex runs as its tool leaves the message to the one that was written to', async () => {
  let inbox: NamedInbox | undefined;
  let run = '';
  const server = await startModelServer((turn) => {
    if (!turn.said.includes('run the tool')) return echo(turn);
    inbox?.put('for the outer');
    return { tool: 'exec_command', input: { cmd: run, yield_time_ms: 60_000 } };
  });
  const { env, work, remove } = await createAgentHome('codex', server.url);
  try {
    agents.codex.prepare(env);
    inbox = new NamedInbox(work, 'pane_1');
    const program = await installAgent('codex');
    const flags = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    run = `'${program}' ${flags.join(' ')} 'the inner' </dev/null`;
    const ran = promisify(execFile)(program, [...flags, 'run the tool'], {
      ...{ cwd: work, env: { ...env, POLY_HOME: work, POLY_PANE: 'pane_1' } },
    });
    ran.child.stdin?.end();
    await ran;
    const seen = server.turns.filter(saw('for the outer'));
    expect(server.turns.some(({ said }) => said.includes('the inner'))).toBe(true);
    expect(seen.map(({ body }) => JSON.stringify(body).includes('run the tool'))).toEqual([true]);
    await inbox.taken('for the outer');
  } finally {
    await remove();
    await server.close();
  }
});

describe('a real claude that waits for its inbox', () => {
  let hub: TestHub;
  let server: ModelServer;
  let agent: Agent;
  let inbox: NamedInbox;
  const made = (): boolean => existsSync(join(agent.work, 'made-by-tool'));

  beforeAll(async () => {
    server = await startModelServer((turn) =>
      turn.said.includes('run the tool') ? agents.claude.tool : echo(turn),
    );
    hub = await TestHub.start();
    agent = await createAgent(hub, 'claude', { model: server.url, permissions: 'ask', prepare: waiting });
    inbox = new NamedInbox(hub.dir, agent.pane.id);
    await agent.until('it idle', isIdle);
  });
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    await agent?.remove();
    await server?.close();
  });

  it.each(['first', 'second', 'third'])(
    'begins a turn with the %s message, with no key pressed',
    async (name) => {
      inbox.put(name);
      await server.asked(saw(name));
      await inbox.taken(name);
      await agent.until('it idle', isIdle);
    },
  );

  it('leaves alone what somebody has begun to write', async () => {
    const draft = 'my own words';
    const paneId = agent.pane.id;
    await hub.client.call('pane:write', { paneId, data: draft });
    await agent.until('the draft', ({ composer }) => composer?.draft === draft);
    inbox.put('beside a draft');
    await server.asked(saw('beside a draft'));
    await agent.until('the draft', ({ status, composer }) => status === 'idle' && composer?.draft === draft);
    await hub.client.call('pane:keys', { paneId, keys: Array.from(draft, () => 'BSpace') });
    await agent.until('it idle', isIdle);
  });

  it('leaves its question for a person to answer, and hears of the message afterwards', async () => {
    await agent.message('please run the tool');
    await agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
    // The sign before a tool that waits may blink.
    const shown = async () => (await agent.screen()).replaceAll('●', ' ');
    const before = await shown();
    inbox.put('beside a question');
    await inbox.taken('beside a question');
    // Time enough for an answer that nobody gave to show.
    await pause(2_000);
    expect(await shown()).toBe(before);
    expect(made()).toBe(false);
    expect(server.turns.filter(saw('beside a question'))).toEqual([]);
    // Claude Code 2.1.325 takes no answer right after it has asked.
    while (!made()) {
      await hub.client.call('pane:keys', { paneId: agent.pane.id, keys: ['Enter'] });
      await pause(500);
    }
    await server.asked(saw('beside a question'));
  });

  it('leaves nobody waiting when it ends', async () => {
    expect(agent.processes().join('\n')).toContain('wake.sh');
    await hub.client.call('pane:close', { paneId: agent.pane.id, cleanup: false });
    await until(() => agent.processes().length === 0);
  });
});
