import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

/** Lets a running process have only so many files open. */
const limit = (pid: number, files: number): void => {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
};

describe('a hub', () => {
  it('says how much it and its host use of what they are given', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
    const { gauges } = await hub.client.call('server:status', {});
    expect(gauges).toMatchObject({ ptys: 1, zombies: 0 });
    for (const name of ['openFiles', 'openFilesLimit', 'hostOpenFiles', 'hostOpenFilesLimit'])
      expect(gauges[name]).toBeGreaterThan(10);
    expect(gauges.loopBusyPercent).toBeLessThanOrEqual(100);
  });

  it.each(['hub', 'host'] as const)(
    'starts no more panes before its %s has no files left, and goes on with those there are',
    async (which) => {
      await using hub = await TestHub.start();
      const { id } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
      const pid = which === 'hub' ? hub.discovery.pid : hub.hostPid();
      const { gauges } = await hub.client.call('server:status', {});
      const open = gauges[which === 'hub' ? 'openFiles' : 'hostOpenFiles'] ?? 0;
      const most = Math.floor(open / 0.85);
      limit(pid, most);
      await expect(hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          new RegExp(`^the ${which}.* has \\d+ of ${most} files open, and starts no more\\.$`),
        ),
      });
      await hub.client.call('pane:write', { paneId: id, data: 'here', enter: true });
      await until(async () => (await hub.client.call('pane:read', { paneId: id })).lines?.length);
      limit(pid, 1_000);
      await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
    },
  );
});
