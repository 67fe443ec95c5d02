import type { Backend } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { TestHub } from '../test-hub.ts';
import { type Agent, createAgent } from './agent.ts';
import { createAgentHome } from './agent-home.ts';
import { CodexServer } from './codex-server.ts';
import type { AgentName } from './installed-agents.ts';
import { buildPlugin } from './opencode-server.ts';
import { Sampler } from './sampler.ts';
import { ScriptedModel } from './scripted-model.ts';
import { type Walked, walkStates } from './state-walk.ts';
import { telling } from './telling.ts';

interface Case {
  readonly name: AgentName;
  readonly backend: Backend;
  /** Who tells, beside its screen. */
  readonly by: 'its hooks' | 'its plugin' | 'its app-server' | 'its screen alone';
}

const cases: readonly Case[] = [
  { name: 'claude', backend: 'pty', by: 'its hooks' },
  { name: 'claude', backend: 'tmux', by: 'its hooks' },
  { name: 'codex', backend: 'pty', by: 'its hooks' },
  { name: 'codex', backend: 'tmux', by: 'its hooks' },
  { name: 'codex', backend: 'pty', by: 'its app-server' },
  { name: 'opencode', backend: 'pty', by: 'its plugin' },
  { name: 'opencode', backend: 'tmux', by: 'its screen alone' },
  { name: 'gemini', backend: 'pty', by: 'its hooks' },
  { name: 'gemini', backend: 'tmux', by: 'its hooks' },
];

describe.each(cases)('the state of a real $name on $backend, told by $by', ({ name, backend, by }) => {
  let hub: TestHub;
  let model: ScriptedModel;
  let agent: Agent;
  let sampler: Sampler;
  let server: CodexServer | undefined;

  const hooked = by === 'its hooks' || by === 'its plugin';
  const prepare = hooked ? telling(name, () => hub) : () => undefined;

  beforeAll(async () => {
    if (by === 'its plugin') buildPlugin();
    model = await ScriptedModel.start(name);
    const home = await createAgentHome(name, model.server.url);
    const { HOME: _, PATH: __, ...keys } = home.env;
    // Keys are not kept with a pane: the hub that takes an agent up again has them.
    hub = await TestHub.start({ env: keys });
    if (backend === 'tmux') await hub.client.call('session:start', {});
    if (by === 'its app-server') server = await CodexServer.start(home);
    agent = await createAgent(hub, name, {
      ...{ home, model: model.server.url, permissions: 'ask', prepare },
      ...(server && { args: ['--remote', server.url, '-C', home.work] }),
    });
    sampler = new Sampler(hub, name, agent.pane.id);
  });
  afterAll(async () => {
    await sampler?.stop();
    await hub?.[Symbol.asyncDispose]();
    await server?.close();
    await agent?.remove();
    await model?.close();
  });

  it('is idle when it takes its first words', async () => {
    await sampler.becomes(['idle']);
  });

  walkStates(name, (): Walked => {
    const paneId = agent.pane.id;
    return {
      ...{ name, hub, model, paneId, sampler, work: agent.work, told: by !== 'its screen alone' },
      ...(server && { asksFor: 'shell' }),
      screen: () => hub.client.call('pane:screen', { paneId }),
      press: (...keys) => hub.client.call('pane:keys', { paneId, keys: [...keys] }),
      type: (data) => hub.client.call('pane:write', { paneId, data }),
      end: () => hub.client.call('pane:close', { paneId, cleanup: false }),
    };
  });
});
