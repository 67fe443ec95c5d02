import { request } from 'node:http';
import type { PaneWaitParams } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

describe.each(['pty', 'tmux'] as const)('waiting for a %s pane', (backend) => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await TestHub.start();
    if (backend === 'tmux') await hub.client.call('session:start', {});
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const open = async (script: string): Promise<string> =>
    (await hub.client.call('pane:new', { argv: ['sh', '-c', script], backend })).id;
  const wait = (paneId: string, what: Omit<PaneWaitParams, 'paneId'>) =>
    hub.client.call('pane:wait', { paneId, timeoutMs: 60_000, ...what });
  const type = (paneId: string, data: string) => hub.client.call('pane:write', { paneId, data, enter: true });
  const shows = (paneId: string, text: string) => wait(paneId, { text, since: 0 });

  it('ends with the pane, however that ended and whatever was waited for', async () => {
    const paneId = await open('read x; exit 7');
    const waits = [
      wait(paneId, { exit: true }),
      wait(paneId, { text: 'never' }),
      wait(paneId, { idleMs: 50_000 }),
    ];
    await type(paneId, '');
    for (const result of await Promise.all(waits))
      expect(result).toMatchObject({ reason: 'exit', exitCode: 7, exitSignal: null });
    expect(await wait(paneId, { exit: true })).toMatchObject({ reason: 'exit', exitCode: 7 });
    const killed = await open('kill -KILL $$');
    expect(await wait(killed, { exit: true })).toMatchObject({
      reason: 'exit',
      exitCode: null,
      exitSignal: 'SIGKILL',
    });
  });

  it('finds text that comes, and not what came before', async () => {
    const paneId = await open('stty -echo; echo ready; while read x; do echo "done: $x"; done');
    const { next } = await shows(paneId, '^ready$');
    const waiting = wait(paneId, { text: 'done: (one|two)$' });
    await type(paneId, 'zero');
    await type(paneId, 'two');
    const found = await waiting;
    expect(found).toMatchObject({ reason: 'text', match: { n: 3, text: 'done: two' } });
    expect(await wait(paneId, { text: 'done', since: next })).toMatchObject({
      match: { text: 'done: zero' },
    });
    const later = wait(paneId, { text: 'done', since: found.next });
    await type(paneId, 'three');
    expect(await later).toMatchObject({ match: { text: 'done: three' } });
    await hub.client.call('pane:close', { paneId });
  });

  it('finds text in a line that has no end yet', async () => {
    const paneId = await open('printf "Password: "; cat');
    expect(await wait(paneId, { text: 'Password: $', since: 0 })).toMatchObject({
      reason: 'text',
      match: { n: 1 },
    });
    await hub.client.call('pane:close', { paneId });
  });

  it('calls a pane silent only after it has said something', async () => {
    const paneId = await open('stty -echo; read x; echo "$x"; cat');
    const { next } = await hub.client.call('pane:read', { paneId, tail: 0 });
    expect(await wait(paneId, { idleMs: 50, since: next, timeoutMs: 300 })).toMatchObject({
      reason: 'timeout',
    });
    const waiting = wait(paneId, { idleMs: 50, since: next });
    await type(paneId, 'hello');
    expect(await waiting).toMatchObject({ reason: 'idle' });
    expect(await wait(paneId, { idleMs: 50 })).toMatchObject({ reason: 'idle' });
    await hub.client.call('pane:close', { paneId });
  });

  it('goes on when the host is lost meanwhile', async () => {
    const paneId = await open('stty -echo; echo ready; while read x; do echo "got $x"; done');
    const { next } = await shows(paneId, 'ready');
    const waiting = wait(paneId, backend === 'pty' ? { exit: true } : { text: 'got it', since: next });
    const host = hub.hostPid();
    process.kill(host, 'SIGKILL');
    if (backend === 'pty') {
      expect(await waiting).toMatchObject({ reason: 'exit', exitCode: null, exitSignal: null });
      return;
    }
    await until(async () => (await hub.client.call('pane:list', {})).find(({ id }) => id === paneId)?.lines);
    await type(paneId, 'it');
    expect(await waiting).toMatchObject({ reason: 'text', match: { text: 'got it' } });
    await hub.client.call('pane:close', { paneId });
  });
});

describe('a wait', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await TestHub.start();
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('is given up when whoever waits goes away, and disturbs nobody in a flood', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['yes'] });
    const body = JSON.stringify({ paneId: id, text: 'never', timeoutMs: 600_000 });
    const headers = {
      host: 'poly',
      authorization: `Bearer ${hub.token}`,
      'content-type': 'application/json',
    };
    const asked = Array.from({ length: 5 }, () =>
      request({ socketPath: hub.socket, method: 'POST', path: '/action/pane:wait', headers })
        .on('error', () => undefined)
        .end(body),
    );
    const { id: other } = await hub.client.call('pane:new', { argv: ['sh', '-c', 'read x; echo "$x"; cat'] });
    await hub.client.call('pane:write', { paneId: other, data: 'hello', enter: true });
    expect(await hub.client.call('pane:wait', { paneId: other, text: '^hello$', since: 0 })).toMatchObject({
      reason: 'text',
    });
    for (const one of asked) one.destroy();
    await hub.client.call('pane:close', { paneId: id });
  });

  it('says what is wrong with it', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    const refused = async (params: object): Promise<unknown> =>
      hub.client.call('pane:wait', { paneId: id, ...params }).then(
        () => 'done',
        ({ code }: { readonly code: string }) => code,
      );
    expect(await refused({})).toBe('invalid_arguments');
    expect(await refused({ text: '(' })).toBe('invalid_arguments');
    expect(await refused({ text: '' })).toBe('invalid_arguments');
    expect(await refused({ idleMs: 0 })).toBe('invalid_arguments');
    expect(await refused({ exit: true, timeoutMs: -1 })).toBe('invalid_arguments');
    expect(await refused({ paneId: 'none', exit: true })).toBe('not_found');
  });

  it('finds what is there also when many searches stand before it', async () => {
    const script =
      'printf "%s" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!; echo; echo here; cat';
    const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', script] });
    await hub.client.call('pane:wait', { paneId: id, text: '^here', since: 0 });
    const storm = Array.from({ length: 120 }, () =>
      hub.client.call('pane:search', { paneId: id, pattern: '^(a+)+$' }).catch(() => undefined),
    );
    expect(
      await hub.client.call('pane:wait', { paneId: id, text: '^here', since: 0, timeoutMs: 60_000 }),
    ).toMatchObject({ reason: 'text', match: { n: 2 } });
    await Promise.all(storm);
  }, 90_000);

  it('for a catastrophic pattern ends, and nothing else waits for it', async () => {
    const script = 'printf "%s" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!; cat';
    const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', script] });
    const waiting = hub.client.call('pane:wait', { paneId: id, text: '^(a+)+$', since: 0, timeoutMs: 3_000 });
    await hub.client.call('pane:write', { paneId: id, data: 'x', enter: true });
    expect(await hub.client.call('pane:wait', { paneId: id, text: '!x', since: 0 })).toMatchObject({
      reason: 'text',
    });
    await expect(waiting.then(({ reason }) => reason)).resolves.toBe('timeout');
  });
});
