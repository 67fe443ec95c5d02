import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFaults, canPreload } from './store-faults.ts';
import { TestHub, until } from './test-hub.ts';

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
