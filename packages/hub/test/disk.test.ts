import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTimeOf } from '../src/host/process-table.ts';
import { buildFaults, canPreload } from './store-faults.ts';
import { TestHub, until } from './test-hub.ts';

const alive = (pid: number): boolean => startTimeOf(pid) !== null;

describe.runIf(canPreload)('a disk', () => {
  let faults: string;
  let env: Record<string, string>;

  beforeAll(() => {
    faults = mkdtempSync(join(tmpdir(), 'poly-disk-'));
    env = { LD_PRELOAD: buildFaults(faults), POLY_FAULTS: faults };
  });
  afterAll(() => rmSync(faults, { recursive: true, force: true }));

  it('that is full refuses what would change something, lets read, and is used again when there is space', async () => {
    await using hub = await TestHub.start({ env });
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    const { seq } = await hub.client.emit('before', {});
    writeFileSync(join(faults, 'full'), '');
    await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
    const refused = await hub.send({
      method: 'POST',
      path: '/action/pane:new',
      body: '{"argv":["cat"]}',
      headers: { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' },
    });
    expect(refused.status).toBe(507);
    expect((await hub.client.call('pane:list', {})).map((pane) => pane.id)).toEqual([id]);
    rmSync(join(faults, 'full'));
    const { seq: after } = await until(() => hub.client.emit('after', {}).catch(() => undefined));
    expect(after).toBeGreaterThan(seq);
    for await (const event of hub.events('before,lost,after', { since: 0 })) {
      expect(event.event).not.toBe('lost');
      if (event.seq === after) break;
    }
  });

  it('that is full lets panes be ended, and the hub with them, and that be told', async () => {
    await using hub = await TestHub.start({ env });
    const open = (id: string) => hub.client.call('pane:new', { id, argv: ['cat'], backend: 'pty' });
    for (const id of ['gone', 'ended', 'left']) await open(id);
    writeFileSync(join(faults, 'tight'), '');
    try {
      await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
      await hub.client.call('pane:close', { paneId: 'gone' });
      await hub.client.call('pane:close', { paneId: 'ended', cleanup: false });
      const listed = await hub.client.call('pane:list', {});
      expect(listed.map(({ id, status }) => [id, status])).toEqual([
        ['ended', 'exited'],
        ['left', 'running'],
      ]);
      await hub.event('pane:removed', ({ payload }) => payload.paneId === 'gone');
      // What is not about an end is refused all the same.
      await expect(open('more')).rejects.toMatchObject({ code: 'storage_full' });
      await hub.client.call('server:stop', { all: true });
      expect(await hub.ended()).toBe(0);
    } finally {
      rmSync(join(faults, 'tight'));
    }
    await hub.start();
    expect(await hub.client.call('pane:list', {})).toEqual([]);
  });

  it('that is full to the last byte lets no tmux pane be ended unseen, and tells once of each end', async () => {
    await using hub = await TestHub.start({ env });
    await hub.client.call('session:start', {});
    const open = (id: string, ...argv: string[]) =>
      hub.client.call('pane:new', { id, argv, backend: 'tmux' });
    await open('kept', 'cat');
    const { pid } = await open('ends', 'cat');
    const told = async (): Promise<string[]> => {
      const { seq } = await until(() => hub.client.emit('looked', {}).catch(() => undefined));
      const ids: string[] = [];
      for await (const event of hub.events('pane:exited,pane:removed,looked', { since: 0 })) {
        if (event.seq === seq) return ids;
        if (event.event !== 'looked')
          ids.push(`${event.event} ${(event.payload as { paneId: string }).paneId}`);
      }
      return ids;
    };
    const running = async () =>
      (await hub.client.call('pane:list', {})).map(({ id, status }) => `${id} ${status}`);
    writeFileSync(join(faults, 'full'), '');
    try {
      await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
      for (const [path, body] of [
        ['pane:close', '{"paneId":"kept"}'],
        ['pane:close', '{"paneId":"kept","cleanup":false}'],
        ['session:stop', '{}'],
      ]) {
        const refused = await hub.send({
          method: 'POST',
          path: `/action/${path}`,
          body: body ?? '',
          headers: { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' },
        });
        expect([path, refused.status]).toEqual([path, 507]);
      }
      expect(await running()).toEqual(['kept running', 'ends running']);
      expect(await hub.client.call('session:status', {})).toMatchObject({ running: true });
      const typed = hub.client.call('pane:write', { paneId: 'kept', data: 'lost', enter: true });
      await expect(typed).rejects.toMatchObject({ code: 'storage_full' });
      // What ends by itself is told when there is space again.
      process.kill(pid ?? 0, 'SIGKILL');
      await until(() => !alive(pid ?? 0));
    } finally {
      rmSync(join(faults, 'full'));
    }
    await hub.event('pane:exited', ({ payload }) => payload.paneId === 'ends');
    const write = { paneId: 'kept', data: 'alive', enter: true };
    await until(() => hub.client.call('pane:write', write).catch(() => undefined));
    await until(async () => {
      const { lines = [] } = await hub.client.call('pane:read', { paneId: 'kept' });
      expect(lines.map(({ text }) => text)).not.toContain('lost');
      return lines.some(({ text }) => text === 'alive');
    });
    await hub.client.call('pane:close', { paneId: 'kept' });
    expect(await told()).toEqual(['pane:exited ends', 'pane:exited kept', 'pane:removed kept']);
    expect(await running()).toEqual(['ends exited']);
    expect(
      (await hub.event('pane:exited', ({ payload }) => payload.paneId === 'ends')).payload,
    ).toMatchObject({
      exitCode: null,
      exitSignal: 'SIGKILL',
    });
  });

  it('that is full when tmux ends has that told when there is space again, once', async () => {
    await using hub = await TestHub.start({ env });
    await hub.client.call('session:start', {});
    await hub.client.call('pane:new', { id: 'lost', argv: ['cat'], backend: 'tmux' });
    writeFileSync(join(faults, 'full'), '');
    try {
      await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
      execFileSync('tmux', ['-L', hub.env.POLY_TMUX_SOCKET ?? '', 'kill-server']);
      // The hub has seen it, and could write nothing down.
      await until(() => readFileSync(join(hub.dir, 'logs', 'hub.log'), 'utf8').includes('the disk is full'));
    } finally {
      rmSync(join(faults, 'full'));
    }
    await hub.event('session:stopped');
    await hub.event('pane:exited');
    await until(() => hub.client.call('session:start', {}).catch(() => undefined));
    const { seq } = await until(() => hub.client.emit('looked', {}).catch(() => undefined));
    const told: string[] = [];
    for await (const { seq: at, event } of hub.events('session:*,pane:exited,looked', { since: 0 })) {
      if (at === seq) break;
      told.push(event);
    }
    expect(told.sort()).toEqual(['pane:exited', 'session:started', 'session:started', 'session:stopped']);
  });

  it('that is full but for the reserve lets tmux panes be ended and forgotten, and their session', async () => {
    await using hub = await TestHub.start({ env });
    await hub.client.call('session:start', {});
    for (const id of ['gone', 'ended', 'stopped'])
      await hub.client.call('pane:new', { id, argv: ['cat'], backend: 'tmux' });
    writeFileSync(join(faults, 'tight'), '');
    try {
      await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
      await hub.client.call('pane:close', { paneId: 'gone' });
      await hub.client.call('pane:close', { paneId: 'ended', cleanup: false });
      await hub.client.call('session:stop', {});
      const listed = await hub.client.call('pane:list', {});
      expect(listed.map(({ id, status }) => [id, status])).toEqual([
        ['ended', 'exited'],
        ['stopped', 'exited'],
      ]);
      await hub.event('pane:removed', ({ payload }) => payload.paneId === 'gone');
      for (const id of ['gone', 'ended', 'stopped'])
        await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
    } finally {
      rmSync(join(faults, 'tight'));
    }
    await hub.event('session:stopped');
    expect(await hub.client.call('session:status', {})).toMatchObject({ running: false });
    const start = () => hub.client.call('session:start', {}).catch(() => undefined);
    expect(await until(start)).toMatchObject({ running: true });
  });

  it('that is full but for the reserve lets a hub start again that was killed, and lets it be read', async () => {
    await using hub = await TestHub.start({ env });
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    await hub.kill('SIGKILL');
    writeFileSync(join(faults, 'tight'), '');
    try {
      await hub.start();
      expect((await hub.client.call('pane:list', {})).map((pane) => pane.id)).toEqual([id]);
      await expect(hub.client.emit('lost', {})).rejects.toMatchObject({ code: 'storage_full' });
    } finally {
      rmSync(join(faults, 'tight'));
    }
    await until(() => hub.client.emit('after', {}).catch(() => undefined));
  });

  it('that fails ends the hub with an error, and keeps what was acknowledged', async () => {
    await using hub = await TestHub.start({ env });
    const { seq } = await hub.client.emit('kept', {});
    writeFileSync(join(faults, 'eio'), '');
    await expect(hub.client.emit('lost', {})).rejects.toThrow();
    expect(await hub.ended()).not.toBe(0);
    await hub.start();
    expect((await hub.event('kept')).seq).toBe(seq);
  });
});
