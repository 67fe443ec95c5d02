import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

describe.each(['pty', 'tmux'] as const)('a message to an agent that is still starting, on %s', (backend) => {
  let hub: TestHub;

  beforeAll(async () => {
    hub = await TestHub.start();
    if (backend === 'tmux') await hub.client.call('session:start', {});
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('lets others type meanwhile, and fails when the agent ends', async () => {
    const program = join(hub.home, 'claude');
    writeFileSync(program, '#!/bin/sh\necho started; read -r line; echo "got $line"');
    chmodSync(program, 0o700);
    const { id: paneId } = await hub.client.call('agent:create', { argv: [program] });
    await until(async () => (await hub.client.call('pane:screen', { paneId })).lines[0] === 'started');
    const delivery = hub.client.call('agent:message', { paneId, text: 'hello' });
    await hub.event('action:start', ({ payload }) => payload.actionName === 'agent:message');
    await hub.client.call('pane:write', { paneId, data: 'help', enter: true });
    expect(await hub.client.call('agent:list', {})).toMatchObject([{ id: paneId, vendor: 'claude' }]);
    expect(await delivery).toEqual({ state: 'failed', door: 'terminal', reason: 'it has ended' });
    await until(async () => (await hub.client.call('agent:list', {}))[0]?.status === 'gone');
    const { lines } = await hub.client.call('pane:read', { paneId });
    expect(lines?.map(({ text }) => text)).toEqual(['started', 'help', 'got help']);
  });

  it('is given up after the time that was given', async () => {
    const program = join(hub.home, 'codex');
    writeFileSync(program, '#!/bin/sh\nexec cat');
    chmodSync(program, 0o700);
    const { id: paneId } = await hub.client.call('agent:create', { argv: [program] });
    const timeoutMs = 4_000;
    const begun = performance.now();
    expect(await hub.client.call('agent:message', { paneId, text: 'hello', timeoutMs })).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('it shows no place for text'),
    });
    expect((performance.now() - begun) / timeoutMs).toBeLessThan(2);
    await hub.client.call('pane:close', { paneId });
  });

  it('says of a program that is no agent that it is none', async () => {
    const { id: paneId } = await hub.client.call('pane:new', { argv: ['cat'], backend });
    expect(await hub.client.call('agent:message', { paneId, text: 'hello' })).toEqual({
      state: 'written',
      door: 'terminal',
      reason: 'it runs cat, no agent that is known here: nobody can tell whether it was read',
    });
    await hub.client.call('pane:close', { paneId });
  });

  it('is the same agent when it is started anew, and asks for what it had to ask for', async () => {
    const program = join(hub.home, 'opencode');
    writeFileSync(program, '#!/bin/sh\necho "$OPENCODE_PERMISSION"; exec cat');
    chmodSync(program, 0o700);
    const env = { OPENCODE_PERMISSION: 'everything' };
    const { id: paneId } = await hub.client.call('agent:create', {
      argv: [program],
      env,
      permissions: 'ask',
    });
    const asks = () =>
      until(async () => (await hub.client.call('pane:screen', { paneId })).lines[0]?.includes('ask'));
    await asks();
    await hub.client.call('pane:close', { paneId, cleanup: false });
    const meta = async () => (await hub.client.call('pane:get-meta', { paneId })).meta['agent.status'];
    await until(async () => (await meta()) === 'gone');
    await hub.client.call('pane:restart', { paneId, env });
    await asks();
    await until(async () => (await meta()) === 'starting');
  });
});
