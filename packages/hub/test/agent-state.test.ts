import type { AgentInfo, AgentStatus } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeAgent } from './fake-agent.ts';
import { TestHub, until } from './test-hub.ts';

const infoOf = async (hub: TestHub, { paneId }: FakeAgent): Promise<AgentInfo> => {
  const info = (await hub.client.call('agent:list', {})).find(({ id }) => id === paneId);
  if (!info) throw new Error(`${paneId} is not listed`);
  return info;
};

const becomes = async (hub: TestHub, agent: FakeAgent, status: AgentStatus): Promise<AgentInfo> => {
  await until(async () => (await infoOf(hub, agent)).status === status);
  return infoOf(hub, agent);
};

/** What has been told of an agent so far, in order. */
async function told(hub: TestHub, { paneId }: FakeAgent, last: AgentStatus): Promise<readonly AgentStatus[]> {
  const found: AgentStatus[] = [];
  for await (const { payload } of hub.events('agent:state', { since: 0 })) {
    const state = payload as { readonly paneId: string; readonly status: AgentStatus };
    if (state.paneId !== paneId) continue;
    found.push(state.status);
    if (state.status === last) break;
  }
  return found;
}

const bash = { tool_name: 'Bash', tool_input: { command: 'rm -rf build' }, tool_use_id: 't1' };

describe.each(['pty', 'tmux'] as const)('the state of an agent on %s', (backend) => {
  let hub: TestHub;

  beforeAll(async () => {
    hub = await TestHub.start();
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('follows a turn by its hooks, and says that it is done until somebody has looked', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    expect(await infoOf(hub, agent)).toMatchObject({ status: 'starting' });
    await agent.show('idle-80x24');
    await becomes(hub, agent, 'idle');
    await agent.hook('UserPromptSubmit', { prompt: 'go' });
    expect(await becomes(hub, agent, 'running')).toMatchObject({
      authority: 'hooks',
      evidence: 'hook: UserPromptSubmit',
    });
    await agent.work('working-80x24');
    await agent.hook('Stop');
    await agent.show('finished-120x40');
    await becomes(hub, agent, 'done');
    await hub.client.call('agent:seen', { paneId: agent.paneId });
    await becomes(hub, agent, 'idle');
    await agent.end();
    expect(await told(hub, agent, 'gone')).toEqual(['idle', 'running', 'done', 'idle', 'gone']);
    const [pane] = (await hub.client.call('pane:list', {})).filter(({ id }) => id === agent.paneId);
    expect(pane?.meta).toMatchObject({ 'agent.status': 'gone', 'agent.sessionId': 's1' });
  });

  it('is not taken for an agent that runs as its tool, also after the hub was killed', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.hook('UserPromptSubmit', { prompt: 'go' });
    await becomes(hub, agent, 'running');
    for (const event of ['UserPromptSubmit', 'Stop', 'SessionEnd'])
      await agent.hookOfTool(event, { session_id: 'nested' });
    await agent.hook('PreToolUse', bash);
    const taken = ({ payload }: { payload: Record<string, unknown> }): boolean =>
      payload.paneId === agent.paneId && payload.event === 'PreToolUse';
    await hub.event('agent:captured', taken);
    const evidence = 'hook: PreToolUse of Bash';
    const session = async (): Promise<unknown> =>
      (await hub.client.call('pane:list', {})).find(({ id }) => id === agent.paneId)?.meta['agent.sessionId'];
    await until(async () => (await infoOf(hub, agent)).evidence === evidence);
    expect(await session()).toBe('s1');
    await agent.hookOfTool('Stop', { session_id: 'nested again' });
    await hub.event('agent:captured', ({ payload }) => payload.sessionId === 'nested again');
    await hub.kill('SIGKILL');
    await hub.start();
    await until(async () => (await infoOf(hub, agent)).evidence === evidence);
    expect([(await infoOf(hub, agent)).status, await session()]).toEqual(['running', 's1']);
    await agent.end();
  });

  it('is in the conversation it has begun last, though the end of the one before is told later', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    const { paneId } = agent;
    await agent.show('idle-80x24');
    for (const session_id of ['first', 'second']) {
      await agent.hook('UserPromptSubmit', { session_id, prompt: session_id });
      await until(async () => (await infoOf(hub, agent)).sessionId === session_id);
    }
    await agent.hook('Stop', { session_id: 'second' });
    await becomes(hub, agent, 'done');
    await agent.hook('SessionEnd', { session_id: 'first', reason: 'other' });
    for await (const { payload } of hub.events('agent:captured', { since: 0 }))
      if ((payload as { readonly event: string }).event === 'SessionEnd') break;
    expect(await infoOf(hub, agent)).toMatchObject({ status: 'done', sessionId: 'second' });
    const [pane] = (await hub.client.call('pane:list', {})).filter(({ id }) => id === paneId);
    expect(pane?.meta).toMatchObject({ 'agent.sessionId': 'second' });
    await agent.end();
  });

  it('is not idle while its screen works, whatever a hook says', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.hook('UserPromptSubmit');
    await agent.work('working-80x24');
    await becomes(hub, agent, 'running');
    // Two prompts were given; the first of them is answered. A hook ends the drawing, so it begins again.
    await agent.hook('Stop');
    await agent.work('working-80x24');
    await until(async () => {
      const { status, signals } = await hub.client.call('agent:explain', { paneId: agent.paneId });
      expect(status).toBe('running');
      return signals.some(({ authority, status: said }) => authority === 'hooks' && said === 'idle');
    });
    await agent.show('finished-120x40');
    await becomes(hub, agent, 'done');
    await agent.end();
    expect(await told(hub, agent, 'gone')).toEqual(['running', 'done', 'gone']);
  });

  it('sees by the screen what no hook tells: Esc, and a dialog', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.hook('UserPromptSubmit');
    await agent.work('working-80x24');
    await becomes(hub, agent, 'running');
    await agent.show('interrupted-80x24');
    expect(await becomes(hub, agent, 'done')).toMatchObject({ authority: 'screen' });
    await agent.show('onboard-A2-apikey-80x24');
    expect(await becomes(hub, agent, 'blocked')).toMatchObject({
      authority: 'screen',
      reason: { kind: 'setup' },
    });
    await agent.end();
    await becomes(hub, agent, 'gone');
  });

  it('calls no start a turn, and misses no turn after it', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    for (const [screen, status] of [
      ['idle-80x24', 'idle'],
      ['finished-120x40', 'done'],
    ] as const) {
      await agent.work('working-80x24');
      expect(await becomes(hub, agent, 'running')).toMatchObject({ authority: 'screen' });
      await agent.show(screen);
      await becomes(hub, agent, status);
    }
    await agent.end();
    expect(await told(hub, agent, 'gone')).toEqual(['running', 'idle', 'running', 'done', 'gone']);
  });

  it('is done after a turn before which its screen could not be read for a moment', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.show('idle-80x24');
    await becomes(hub, agent, 'idle');
    await agent.blank();
    await becomes(hub, agent, 'starting');
    await agent.work('working-80x24');
    await becomes(hub, agent, 'running');
    await agent.show('finished-120x40');
    await becomes(hub, agent, 'done');
    await agent.end();
  });

  it('is done after a turn that began while it was starting', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.work('working-80x24');
    expect(await becomes(hub, agent, 'running')).toMatchObject({ authority: 'screen' });
    await agent.hook('UserPromptSubmit', { prompt: 'go' });
    await until(async () => (await infoOf(hub, agent)).authority === 'hooks');
    await agent.work('working-80x24');
    await agent.hook('Stop');
    await agent.show('finished-120x40');
    await becomes(hub, agent, 'done');
    await agent.end();
    await becomes(hub, agent, 'gone');
  });

  it('says what it waits for, and that it goes on once it was answered', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.hook('PermissionRequest', bash);
    await agent.show('permission-bash-80x24');
    expect(await becomes(hub, agent, 'blocked')).toMatchObject({
      reason: { kind: 'permission', tool: 'Bash', input: '{"command":"rm -rf build"}' },
    });
    await agent.work('working-tool-80x24');
    expect(await becomes(hub, agent, 'running')).toMatchObject({ authority: 'screen' });
    const questions = [{ question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] }];
    await agent.hook('PreToolUse', { tool_name: 'AskUserQuestion', tool_input: { questions } });
    expect(await becomes(hub, agent, 'blocked')).toMatchObject({
      reason: { kind: 'question', text: 'Which colour?', options: ['Red', 'Blue'] },
    });
    await agent.end();
    await becomes(hub, agent, 'gone');
  });

  it('believes its session file where its hooks are silent', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.writeSession('waiting', 'permission prompt');
    await agent.show('exit-80x24');
    expect(await becomes(hub, agent, 'blocked')).toMatchObject({
      authority: 'session file',
      reason: { kind: 'permission' },
      evidence: 'session file: waiting, permission prompt',
    });
    await agent.writeSession('busy');
    await agent.show('exit-80x24');
    await becomes(hub, agent, 'running');
    await agent.end();
    await becomes(hub, agent, 'gone');
  });

  it('passes over a session file that is none', async () => {
    const agent = await FakeAgent.start(hub, { backend });
    await agent.makeSessionPipe();
    await agent.show('permission-bash-80x24');
    expect(await becomes(hub, agent, 'blocked')).toMatchObject({ authority: 'screen' });
    await agent.end();
    await becomes(hub, agent, 'gone');
  });
});

describe('the state of an agent', () => {
  it('is known again after the hub was killed, with what happened meanwhile', async () => {
    await using hub = await TestHub.start();
    const asks = await FakeAgent.start(hub);
    await asks.hook('PermissionRequest', bash);
    await becomes(hub, asks, 'blocked');
    await asks.show('permission-bash-80x24');
    const works = await FakeAgent.start(hub);
    await works.hook('UserPromptSubmit');
    await works.work('working-80x24');
    await becomes(hub, works, 'running');
    await works.hook('Stop');
    await hub.kill('SIGKILL');
    await hub.start();
    await until(async () => (await infoOf(hub, asks)).reason !== undefined);
    expect(await infoOf(hub, asks)).toMatchObject({
      status: 'blocked',
      reason: { kind: 'permission', tool: 'Bash' },
    });
    await works.show('finished-120x40');
    await becomes(hub, works, 'done');
    // What was told before is not told again.
    const all: string[] = [];
    for await (const { payload } of hub.events('agent:state', { since: 0 })) {
      const { paneId, status } = payload as { readonly paneId: string; readonly status: string };
      all.push(`${paneId === asks.paneId ? 'asks' : 'works'} ${status}`);
      if (status === 'done') break;
    }
    expect(all).toEqual(['asks blocked', 'works running', 'works done']);
  });

  it('is explained: who says what, how old that is, and why one of them is believed', async () => {
    await using hub = await TestHub.start();
    const agent = await FakeAgent.start(hub);
    await agent.hook('UserPromptSubmit');
    await agent.work('working-80x24');
    await until(async () => {
      const { signals } = await hub.client.call('agent:explain', { paneId: agent.paneId });
      return signals.length === 2 && signals.every(({ status }) => status === 'running');
    });
    const explained = await hub.client.call('agent:explain', { paneId: agent.paneId });
    expect(explained).toMatchObject({ status: 'running', rule: 'by its hooks, and by its screen too' });
    expect(explained.signals).toContainEqual({
      ...{ authority: 'hooks', status: 'running', evidence: 'hook: UserPromptSubmit' },
      ...{ ageMs: expect.any(Number), decides: true },
    });
    expect(explained.signals).toContainEqual(
      expect.objectContaining({ authority: 'screen', decides: false }),
    );
    expect(explained.gaps).toContainEqual(expect.stringContaining('Esc'));
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    await expect(hub.client.call('agent:explain', { paneId: id })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: `${id} is no agent that is known here.`,
    });
  });

  it.each(['pty', 'tmux'] as const)(
    'is taken up again where it ended, on %s, also with its tmux server',
    async (backend) => {
      await using hub = await TestHub.start();
      const agent = await FakeAgent.start(hub, { backend });
      const { paneId } = agent;
      await expect(hub.client.call('agent:resume', { paneId })).rejects.toMatchObject({
        code: 'conflict',
        message: `${paneId} still runs: there is nothing to take up again.`,
      });
      await agent.hook('SessionStart', { source: 'startup' });
      const meta = async () => (await hub.client.call('pane:get-meta', { paneId })).meta;
      await until(async () => (await meta())['agent.sessionId'] === 's1');
      if (backend === 'tmux') await hub.client.call('session:stop', {});
      else await agent.end();
      await becomes(hub, agent, 'gone');
      expect(await hub.client.call('agent:resume', { paneId })).toMatchObject({ id: paneId, backend });
      const pane = (await hub.client.call('pane:list', {})).find(({ id }) => id === paneId);
      expect(pane).toMatchObject({ status: 'running' });
      expect(pane?.argv.slice(-2)).toEqual(['--resume', 's1']);
      await agent.show('idle-80x24');
      await becomes(hub, agent, 'idle');
      // It still knows where it keeps its conversations.
      await agent.writeSession('waiting', 'permission prompt');
      await agent.show('exit-80x24');
      expect(await becomes(hub, agent, 'blocked')).toMatchObject({ authority: 'session file' });
    },
  );

  it('is not taken up again where nobody knows the conversation', async () => {
    await using hub = await TestHub.start();
    const agent = await FakeAgent.start(hub);
    await agent.end();
    await becomes(hub, agent, 'gone');
    await expect(hub.client.call('agent:resume', { paneId: agent.paneId })).rejects.toMatchObject({
      code: 'unavailable',
      message: `nobody knows which conversation ${agent.paneId} was in.`,
    });
  });
});
