import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { ParamsOf } from '@polyphony/protocol';
import { describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

/** Keeps every core busy until disposed of. */
function load(): Disposable {
  const loops = Array.from({ length: 4 }, (): ChildProcess => spawn('sh', ['-c', 'while :; do :; done']));
  return {
    [Symbol.dispose]: () => {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}

const whole = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\r\n`).join('');

/** How many bytes of a pane's output are missing: of what is no longer kept the number alone is known. */
async function missing(hub: TestHub, paneId: string): Promise<number> {
  const chunks: Buffer[] = [];
  for (let since = 0; ; ) {
    const asked: ParamsOf<'pane:read'> = { paneId, since, limit: 100_000, view: 'raw' };
    const { data = '', next, more } = await hub.client.call('pane:read', asked);
    chunks.push(Buffer.from(data, 'base64'));
    since = next;
    if (more) continue;
    expect(whole.slice(0, next).endsWith(Buffer.concat(chunks).toString())).toBe(true);
    return whole.length - next;
  }
}

describe.each(['pty', 'tmux'] as const)('%s panes', (backend) => {
  it.each([
    ['on a quiet machine', false],
    ['on a busy machine', true],
  ])('lose no byte at the end of a program, %s', async (_, busy) => {
    await using hub = await TestHub.start();
    if (backend === 'tmux') await hub.client.call('session:start', {});
    using _load = busy ? load() : undefined;
    const short: number[] = [];
    for (let round = 0; round < 100; round++) {
      const { id } = await hub.client.call('pane:new', {
        argv: ['seq', '1', '100000'],
        backend,
        id: `run-${round}`,
      });
      await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
      const lost = await missing(hub, id);
      if (lost > 0) short.push(lost);
      await hub.client.call('pane:close', { paneId: id });
    }
    expect(short).toEqual([]);
  });
});

describe('a hub', () => {
  it('comes back from fifty kills with twenty panes', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const argv = ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 1; done'];
    const panes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        hub.client.call('pane:new', { argv, backend: n % 2 ? 'pty' : 'tmux' }),
      ),
    );
    for (let round = 0; round < 50; round++) {
      await hub.kill('SIGKILL');
      await hub.start();
      const listed = await hub.client.call('pane:list', {});
      expect(new Set(listed.map(({ id, status, pid }) => `${id} ${status} ${pid}`))).toEqual(
        new Set(panes.map(({ id, pid }) => `${id} running ${pid}`)),
      );
    }
    for (const { id } of panes) {
      const { lines = [] } = await hub.client.call('pane:read', { paneId: id });
      lines.forEach(({ n, text }) => void expect(text).toBe(`line ${n}`));
      expect(lines.length).toBeGreaterThan(5);
    }
  });

  it('is one, however many start at once', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGKILL');
    const children = Array.from({ length: 50 }, () => hub.spawn());
    await until(() => children.filter(({ exitCode }) => exitCode === 4).length === 49);
    expect(children.filter(({ exitCode }) => exitCode === null)).toHaveLength(1);
    await until(() =>
      hub.client.call('pane:list', {}).then(
        () => true,
        () => false,
      ),
    );
    await hub.client.call('server:stop', { all: true });
    await until(() => children.every(({ exitCode }) => exitCode !== null));
  });

  it.each([
    ['the same', () => '*'],
    ['each something else', (n: number) => `*,other-${n}`],
  ])('keeps within bounds with 200 readers that do not read %s', async (_, include) => {
    await using hub = await TestHub.start();
    await Promise.all(
      Array.from({ length: 200 }, async (__, n) => {
        const headers = { host: 'poly', authorization: `Bearer ${hub.token}` };
        const path = `/events?include=${include(n)}`;
        const sent = request({ socketPath: hub.socket, path, headers, agent: false });
        sent.end();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        response.on('error', () => undefined).pause();
      }),
    );
    const before = rss(hub.discovery.pid);
    let most = before;
    for (let n = 0; n < 400; n++) {
      await hub.client.emit('flood', { text: 'x'.repeat(50_000) });
      most = Math.max(most, rss(hub.discovery.pid));
    }
    expect(most - before).toBeLessThan(150);
    expect((await hub.client.call('server:status', {})).gauges.eventReaders).toBe(0);
  });

  it('carries 1,000 idle panes in 400 MB with its host', async () => {
    await using hub = await TestHub.start();
    for (let n = 0; n < 1000; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, () => hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' })),
      );
    }
    expect(await hub.client.call('pane:list', {})).toHaveLength(1000);
    const host = await until(() => hostOf(hub));
    expect(rss(hub.discovery.pid) + rss(host)).toBeLessThan(400);
    await hub.kill('SIGKILL');
    await hub.start();
    expect(
      (await hub.client.call('pane:list', {})).filter(({ status }) => status === 'running'),
    ).toHaveLength(1000);
  });
});

function rss(pid: number): number {
  const [, kilobytes] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

async function hostOf(hub: TestHub): Promise<number | undefined> {
  const found = spawn('pgrep', ['-f', '--', `--dir ${hub.dir}/host( |$)`]);
  let text = '';
  found.stdout.on('data', (chunk) => (text += chunk));
  await once(found, 'close');
  return Number(text.split('\n')[0]) || undefined;
}
