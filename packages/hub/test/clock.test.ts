import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

const dayMs = 86_400_000;

describe('a clock that is set', () => {
  let hub: TestHub;
  /** Sets the clock of the hub so much ahead of ours, and waits until it goes by that. */
  const setAhead = async (ms: number): Promise<void> => {
    writeFileSync(join(hub.home, 'ahead'), String(ms));
    await until(async () => {
      const { seq } = await hub.client.emit('clock-was-set', {});
      for await (const { at } of hub.events('clock-was-set', { since: seq - 1 }))
        return Math.abs(at - Date.now() - ms) < dayMs / 4;
      return false;
    });
  };
  beforeAll(async () => {
    hub = await TestHub.start();
    const clock = join(hub.home, 'clock.cjs');
    writeFileSync(
      clock,
      `const { readFileSync } = require('node:fs');
       const now = Date.now;
       let ahead = 0;
       setInterval(() => { try { ahead = Number(readFileSync(${JSON.stringify(join(hub.home, 'ahead'))})); } catch {} }, 10).unref();
       Date.now = () => now() + ahead;`,
    );
    await hub.kill('SIGTERM');
    hub.env.NODE_OPTIONS = `--require ${clock}`;
    await hub.start();
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it.each([
    ['forward', dayMs],
    ['back', -dayMs],
  ])('%s by a day ends no wait and no question before its time', async (_, ms) => {
    await setAhead(0);
    const asker = hub.as(await hub.paneToken(`asker${ms}`));
    const { id: paneId } = await hub.client.call('pane:new', { argv: ['cat'] });
    await hub.client.call('pane:write', { paneId, data: 'begun', enter: true });
    await hub.client.call('pane:wait', { paneId, text: 'begun', since: 0 });
    const text = hub.client.call('pane:wait', { paneId, text: 'later', timeoutMs: 600_000 });
    const silence = hub.client.call('pane:wait', { paneId, idleMs: 300_000, since: 0, timeoutMs: 600_000 });
    const asked = asker.call('pane:write', { paneId, data: 'allowed', enter: true });
    const { id } = await until(async () => (await hub.client.call('approval:list', {})).approvals[0]);
    await setAhead(ms);
    expect((await hub.client.call('approval:list', {})).approvals).toMatchObject([{ id }]);
    await hub.client.call('approval:resolve', { id, decision: 'allow' });
    await expect(asked).resolves.toEqual({ bytes: 8 });
    await hub.client.call('pane:write', { paneId, data: 'later', enter: true });
    expect(await text).toMatchObject({ reason: 'text', match: { text: 'later' } });
    await hub.client.call('pane:close', { paneId, cleanup: false });
    expect(await silence).toMatchObject({ reason: 'exit' });
  });
});
