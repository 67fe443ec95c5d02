import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TestHub } from './test-hub.ts';

const megabyte = 1024 * 1024;
const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const threadsOf = (pid: number): number => readdirSync(`/proc/${pid}/task`).length;

/** Children that have ended and that nobody has taken note of. */
function zombiesOf(parent: number): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [state, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return state === 'Z' && Number(ppid) === parent;
    } catch {
      return false; // It has gone meanwhile.
    }
  }).length;
}

describe('terminals', () => {
  it('of twenty floods for a minute let others be typed into, read and searched, in bounded memory', async () => {
    await using hub = await TestHub.start();
    const floods = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        hub.client.call('pane:new', { argv: ['yes', `flood ${n}`], backend: 'pty' }),
      ),
    );
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'stty -echo; exec cat'],
      backend: 'pty',
    });
    const host = hub.hostPid();
    let since = 0;
    let rounds = 0;
    for (const until = performance.now() + 60_000; performance.now() < until; rounds++) {
      await hub.client.call('pane:write', { paneId: id, data: `round ${rounds}`, enter: true });
      const found = await hub.client.call('pane:wait', {
        paneId: id,
        text: `^round ${rounds}$`,
        since,
        timeoutMs: 60_000,
      });
      expect(found.reason).toBe('text');
      since = found.next;
      const flood = floods[rounds % floods.length]?.id ?? '';
      const [{ lines = [] }, { matches }, { lines: screen }] = await Promise.all([
        hub.client.call('pane:read', { paneId: flood, tail: 3 }),
        hub.client.call('pane:search', { paneId: flood, pattern: 'FLOOD \\d+', ignoreCase: true, limit: 1 }),
        hub.client.call('pane:screen', { paneId: flood }),
      ]);
      expect([lines.length, matches.length, screen.length]).toEqual([3, 1, 40]);
    }
    expect(rounds).toBeGreaterThan(0);
    expect(memoryOf(hub.discovery.pid) + memoryOf(host)).toBeLessThan(700 * megabyte);
    await hub.client.call('server:stop', { all: true });
    expect(await hub.ended()).toBe(0);
  });

  it('print 200 MB to a client that does not read, which stalls nobody and costs no memory', async () => {
    await using hub = await TestHub.start();
    const socket = new WebSocket('ws://poly/ws', {
      createConnection: () => connect(hub.socket),
      headers: { authorization: `Bearer ${hub.token}` },
    });
    await once(socket, 'open');
    const argv = ['sh', '-c', "read x; head -c 200000000 /dev/zero | tr '\\0' x"];
    const { id } = await hub.client.call('pane:new', { argv, backend: 'pty' });
    socket.send(JSON.stringify({ type: 'subscribe', sessionId: id, from: 0, binary: true }));
    await once(socket, 'message');
    socket.pause();
    const { pid } = hub.discovery;
    const host = hub.hostPid();
    const before = memoryOf(pid) + memoryOf(host);
    await hub.client.call('pane:write', { paneId: id, data: '', enter: true });
    const ended = await hub.client.call('pane:wait', { paneId: id, exit: true, timeoutMs: 600_000 });
    expect(ended).toMatchObject({ reason: 'exit', exitCode: 0 });
    expect(ended.next).toBeGreaterThan(200_000_000);
    expect(memoryOf(pid) + memoryOf(host) - before).toBeLessThan(100 * megabyte);
    socket.terminate();
  });

  it('opened and closed a thousand times leave no file, no thread and no dead child behind', async () => {
    await using hub = await TestHub.start();
    const one = async (): Promise<void> => {
      const { id } = await hub.client.call('pane:new', { argv: ['echo', 'hello'], backend: 'pty' });
      await hub.client.call('pane:wait', { paneId: id, exit: true, timeoutMs: 600_000 });
      await hub.client.call('pane:screen', { paneId: id });
      await hub.client.call('pane:close', { paneId: id });
    };
    for (let n = 0; n < 20; n++) await one();
    const { pid } = hub.discovery;
    const host = hub.hostPid();
    const count = (): readonly number[] => [filesOf(host), threadsOf(host), filesOf(pid), threadsOf(pid)];
    const before = count();
    for (let n = 0; n < 1000; n += 10) await Promise.all(Array.from({ length: 10 }, one));
    const after = count();
    for (const [index, number] of after.entries())
      expect(number).toBeLessThanOrEqual((before[index] ?? 0) + 12);
    expect(zombiesOf(host)).toBe(0);
    expect(await hub.client.call('pane:list', {})).toEqual([]);
  });
});
