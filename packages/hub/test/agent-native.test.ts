import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentInfo, AgentStatus } from '@polyphony/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeCodexServer } from './fake-codex-server.ts';
import { TestHub, until } from './test-hub.ts';

const asking = 'item/commandExecution/requestApproval';

describe('a Codex that is attached to an app-server', () => {
  let hub: TestHub;
  let server: FakeCodexServer;
  let cwd: string;
  let paneId: string;
  beforeEach(async () => {
    hub = await TestHub.start();
    server = await FakeCodexServer.start();
    cwd = join(hub.home, 'work');
    mkdirSync(cwd);
    writeFileSync(join(hub.home, 'codex'), '#!/bin/sh\necho here\ncat; :\n');
    chmodSync(join(hub.home, 'codex'), 0o700);
    paneId = await start();
    await until(() => server.methods.includes('thread/loaded/list'));
  });
  afterEach(async () => {
    await hub[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const start = async (folder = cwd, ...more: readonly string[]): Promise<string> => {
    const argv = [join(hub.home, 'codex'), '--remote', server.url, ...more];
    const { id } = await hub.client.call('agent:create', { argv, cwd: folder });
    // Which Codex works where is seen by its process.
    await hub.client.call('pane:wait', { paneId: id, text: 'here', since: 0, timeoutMs: 30_000 });
    return id;
  };
  const info = async (id = paneId): Promise<AgentInfo> => {
    const found = (await hub.client.call('agent:list', {})).find((agent) => agent.id === id);
    if (!found) throw new Error(`${id} is not listed`);
    return found;
  };
  const becomes = async (status: AgentStatus): Promise<AgentInfo> => {
    await until(async () => (await info()).status === status);
    return info();
  };
  const thread = (id: string, more: object = {}) => ({
    id,
    cwd,
    createdAt: Math.ceil(Date.now() / 1000),
    ...more,
  });
  const changes = (threadId: string, ...activeFlags: readonly string[]): void =>
    server.tell('thread/status/changed', { threadId, status: { type: 'active', activeFlags } });
  const rests = (threadId: string): void =>
    server.tell('thread/status/changed', { threadId, status: { type: 'idle' } });

  it('is what that says: at work, waiting and for what, at rest, and in which conversation', async () => {
    server.begin(thread('t1'));
    expect(await becomes('idle')).toMatchObject({ authority: 'protocol' });
    await until(async () => (await info()).sessionId === 't1');
    changes('t1');
    expect(await becomes('running')).toMatchObject({ authority: 'protocol', evidence: 'app-server: active' });
    changes('t1', 'waitingOnApproval');
    expect(await becomes('blocked')).toMatchObject({ reason: { kind: 'permission' } });
    await until(() => server.methods.includes('thread/resume'));
    server.tell(asking, { threadId: 't1', command: 'rm -rf build', reason: 'to begin anew' }, 7);
    await until(async () => (await info()).reason?.input !== undefined);
    expect((await info()).reason).toEqual({
      ...{ kind: 'permission', tool: 'shell', input: 'rm -rf build', text: 'to begin anew' },
    });
    changes('t1');
    await becomes('running');
    rests('t1');
    await becomes('done');
  });

  it('is told by nothing that is not its own: titles, subagents, other folders, what was there before', async () => {
    server.begin(thread('t1'));
    await becomes('idle');
    server.begin(thread('t9', { ephemeral: true, status: { type: 'active', activeFlags: [] } }));
    server.begin(thread('t8', { parentThreadId: 't1', status: { type: 'active', activeFlags: [] } }));
    server.begin(thread('t7', { cwd: '/', status: { type: 'active', activeFlags: [] } }));
    server.begin(thread('t6', { createdAt: 1, status: { type: 'active', activeFlags: [] } }));
    changes('t1', 'waitingOnUserInput');
    expect(await becomes('blocked')).toMatchObject({ reason: { kind: 'question' } });
    // One that it begins anew is its own from then on.
    server.begin(thread('t2'));
    await becomes('idle');
    await until(async () => (await info()).sessionId === 't2');
  });

  it('is not guessed where two of them share a folder', async () => {
    const second = await start();
    await until(() => server.methods.filter((method) => method === 'thread/loaded/list').length === 2);
    server.begin(thread('t1', { status: { type: 'active', activeFlags: [] } }));
    server.begin(thread('t2'));
    await hub.client.call('agent:explain', { paneId: second });
    for (const id of [paneId, second]) expect(await info(id)).toMatchObject({ status: 'starting' });
  });

  it('is known by the folder that it was told to work in', async () => {
    const far = join(hub.home, 'far');
    mkdirSync(far);
    const id = await start(hub.home, '-C', 'far');
    await until(() => server.methods.filter((method) => method === 'thread/loaded/list').length === 2);
    server.begin(thread('t1', { cwd: far, status: { type: 'active', activeFlags: [] } }));
    await until(async () => (await info(id)).status === 'running');
    expect(await info()).toMatchObject({ status: 'starting' });
    // Another one there makes it a guess.
    await start(far);
    server.begin(thread('t2', { cwd: far }));
    await until(async () => (await info(id)).authority === 'process');
  });

  it('is no longer what that said when it has gone, and is heard again when it is back', async () => {
    server.begin(thread('t1', { status: { type: 'active', activeFlags: [] } }));
    await becomes('running');
    server.hangUp();
    await until(async () =>
      (await hub.client.call('agent:explain', { paneId })).signals.every(
        ({ authority }) => authority !== 'protocol',
      ),
    );
    await becomes('starting');
    await becomes('running');
  });
});
