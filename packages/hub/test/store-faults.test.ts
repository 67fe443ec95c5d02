import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { restoreBackup } from '../src/store/backup.ts';
import { event } from './store.contract.ts';
import { buildFaults, canPreload } from './store-faults.ts';
import { newGround } from './store-ground.ts';

const scenario = fileURLToPath(new URL('./store-scenario.ts', import.meta.url));
describe.runIf(canPreload)('over a disk that is watched and made to fail', () => {
  let library = '';
  beforeAll(() => {
    library = buildFaults(mkdtempSync(join(tmpdir(), 'poly-faults-')));
  });
  afterAll(() => rmSync(dirname(library), { recursive: true }));

  async function run(
    name: string,
  ): Promise<{ said: unknown; trace: readonly string[]; ground: typeof ground }> {
    const ground = newGround();
    const faults = join(ground.directory, 'faults');
    mkdirSync(faults);
    const env = { ...process.env, LD_PRELOAD: library, POLY_FAULTS: faults };
    const args = [scenario, name, ground.file, faults];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    const traced = readFileSync(join(faults, 'trace'), 'utf8');
    const trace = traced.slice(traced.indexOf('start'), traced.indexOf('end')).trim().split('\n');
    return { said: JSON.parse(stdout), trace, ground };
  }

  test('each acknowledgement comes after a sync of its own', async () => {
    const { said, trace, ground } = await run('sequential');
    await using _ = ground;
    expect(said).toBe(200);
    const unsynced = trace.filter((step, i) => step === 'ack' && trace[i - 1] !== 'sync');
    expect(unsynced).toEqual([]);
    expect(trace.filter((step) => step === 'sync').length).toBeGreaterThanOrEqual(200);
  });

  test('without FULL the trace shows acknowledgements that nothing backs', async () => {
    const { trace, ground } = await run('careless');
    await using _ = ground;
    expect(trace.filter((step) => step === 'ack')).toHaveLength(200);
    expect(trace.filter((step) => step === 'sync').length).toBeLessThan(20);
  });

  test('a full disk fails batches with "full", lets reads go on, and is over when there is space', async () => {
    const { said, ground } = await run('full');
    await using _ = ground;
    expect(said).toEqual({
      during: ['full'],
      reserve: 'full',
      readable: ['before'],
      full: true,
      after: [
        [1, 'before'],
        [2, 'after'],
      ],
    });
  });

  test('after a failed sync nothing is promised any more', async () => {
    const { said, ground } = await run('unsynced');
    await using _ = ground;
    expect(said).toEqual({ before: 'ok', during: ['broken'], after: 'broken', readable: 'ok', broken: 1 });
    await using store = await ground.open();
    expect((await store.events({ after: 0, limit: 1 }))[0]).toMatchObject({ seq: 1, name: 'before' });
  });
});

const small = mkdtempSync(join(tmpdir(), 'poly-small-'));
const mounted =
  process.platform === 'linux' &&
  spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64m', 'poly-test', small], { stdio: 'ignore' })
    .status === 0;
afterAll(() => {
  if (mounted) spawnSync('/bin/umount', ['-l', small]);
  rmSync(small, { recursive: true });
});

// Only root may mount, as in CI; elsewhere the full disk above, made by a library, stands for it.
describe.runIf(mounted)('on a small disk', () => {
  const ballast = join(small, 'ballast');
  afterEach(() => rmSync(ballast, { force: true }));
  function fill(): void {
    for (let size = 1024 * 1024; size >= 4096; size /= 4) {
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' });
      } catch {
        // Smaller pieces fill the rest.
      }
    }
  }

  test('a full disk refuses writes but not reads, shutdown and retention, which makes room again', async () => {
    await using ground = newGround(join(small, 'poly'));
    const now = { time: 1000 };
    const store = await ground.open({ clock: { now: () => now.time } });
    const page = Array.from({ length: 500 }, () => event('old', 'x'.repeat(1000)));
    for (let i = 0; i < 40; i++) await store.commit({ events: page });
    fill();
    const write = (useReserve: boolean) =>
      store.commit({ events: [event('e', 'x'.repeat(20_000))], useReserve });
    const refused: unknown[] = [];
    while (refused.length === 0) await write(false).catch((error) => refused.push(error));
    expect(refused[0]).toMatchObject({ code: 'full' });
    expect(await store.events({ after: 19_999, limit: 1 })).toHaveLength(1);
    expect(store.gauges().full).toBe(true);

    // What the reserve leaves free is not for everybody.
    await write(true);
    await expect(write(false)).rejects.toMatchObject({ code: 'full' });
    await write(true);

    now.time = 5000;
    const { dbBytes } = store.gauges();
    expect(await store.trim({ olderThan: 1000, keepAtLeast: 10 })).toBeGreaterThan(19_000);
    expect(store.gauges().dbBytes).toBeLessThan(dbBytes / 2);
    await expect.poll(() => write(false).then(() => 'written', String), { timeout: 5000 }).toBe('written');
    expect(store.gauges().full).toBe(false);
  });

  test('a full disk while it is opened or backed up is told as "full" and harms nothing', async () => {
    await using ground = newGround(join(small, 'poly'));
    const store = await ground.open();
    await store.commit({ events: Array.from({ length: 200 }, () => event('e', 'x'.repeat(10_000))) });
    const copy = join(small, 'poly', 'copy');
    await store.backup(copy);
    fill();
    await expect(store.backup(`${copy}-2`)).rejects.toMatchObject({ code: 'full' });
    await store.close();
    expect(() => restoreBackup({ from: copy, to: ground.file })).toThrow(
      expect.objectContaining({ code: 'full' }),
    );
    const again = await ground.open();
    expect(await again.bounds()).toEqual({ first: 1, last: 200 });
    const db = new Database(ground.file, { readonly: true });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
    rmSync(ballast);
    await again.commit({ events: [event('e')] });
  });
});
