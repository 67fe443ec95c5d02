import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodies, register, type TestAgent } from './mail-ground.ts';
import { buildFaults, canPreload } from './store-faults.ts';
import { TestHub } from './test-hub.ts';

const writers = 16;
const each = 10;

describe.runIf(canPreload)('a message over a disk that is watched', () => {
  let library = '';
  let hub: TestHub;
  let faults = '';
  let reader: TestAgent;
  let sent = 0;
  beforeAll(async () => {
    library = buildFaults(mkdtempSync(join(tmpdir(), 'poly-faults-')));
    faults = join(dirname(library), 'faults');
    mkdirSync(faults);
    hub = await TestHub.start({ env: { LD_PRELOAD: library, POLY_FAULTS: faults } });
    reader = await register(hub, 'reader');
  });
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(dirname(library), { recursive: true });
  });

  const syncs = (): number => readFileSync(join(faults, 'trace'), 'utf8').split('\n').length - 1;
  const acknowledged: string[] = [];
  const send = async (): Promise<void> => {
    const body = `message ${++sent}`;
    const params = { to_agent_name: 'reader', to_project: 'demo', body, auto_poke: false };
    await hub.client.call('mail:send', params);
    acknowledged.push(body);
  };

  it('is acknowledged after a sync of its own', async () => {
    for (let n = 0; n < 20; n++) {
      const before = syncs();
      await send();
      expect(syncs()).toBeGreaterThan(before);
    }
  });

  it('shares its sync with others that come at once', async () => {
    const before = syncs();
    const one = async () => {
      for (let n = 0; n < each; n++) await send();
    };
    await Promise.all(Array.from({ length: writers }, one));
    const used = syncs() - before;
    expect(used).toBeGreaterThanOrEqual(each);
    expect(used).toBeLessThan(writers * each);
  });

  it('is not acknowledged when its sync fails, and is there once or not at all', async () => {
    writeFileSync(join(faults, 'eio'), '');
    await expect(send()).rejects.toThrow();
    // After that nobody knows what is on the disk: the hub ends, and the next one sees.
    expect(await hub.ended()).not.toBe(0);
    await hub.start();
    const found = bodies(await reader.read());
    expect(new Set(found).size).toBe(found.length);
    expect(acknowledged.filter((body) => !found.includes(body))).toEqual([]);
  });
});
