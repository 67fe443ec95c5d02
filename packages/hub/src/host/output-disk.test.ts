import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ByteRing } from './byte-ring.ts';
import { KeptOutput } from './kept-output.ts';
import { OutputDisk } from './output-disk.ts';

const segmentBytes = 10_000;
const kilobyte = Buffer.from(`${'x'.repeat(999)}\n`);

describe('a disk full of output', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'poly-disk-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function diskOf(most: number): OutputDisk {
    const disk = new OutputDisk(dir, { segmentBytes });
    disk.most = most;
    return disk;
  }

  async function print(disk: OutputDisk, id: string, kilobytes: number, family?: string) {
    const files = disk.filesOf(id, family);
    const output = new KeptOutput(new ByteRing(), files);
    output.keep(1_000_000);
    for (let i = 0; i < kilobytes; i++) output.append(kilobyte);
    await files.flush();
    return files;
  }

  test('takes from the family that has most, its oldest first, and leaves the others whole', async () => {
    const disk = diskOf(200_000);
    const quiet = await print(disk, 'quiet', 40);
    const loud = [];
    for (let i = 0; i < 8; i++) loud.push(await print(disk, `loud-${i}`, 60, 'loud'));
    expect(quiet.bytes).toBe(40_000);
    expect(loud.map(({ bytes }) => bytes)).toEqual([0, 0, 0, 0, 0, 40_000, 60_000, 60_000]);
    expect(disk.state.bytes).toBe(200_000);
  });

  test('is shared equally by families that all want more', async () => {
    const disk = diskOf(200_000);
    const one = await print(disk, 'one', 150);
    const another = await print(disk, 'another', 150);
    expect([one.bytes, another.bytes]).toEqual([100_000, 100_000]);
  });

  test('knows the families of a host before it', async () => {
    const before = diskOf(200_000);
    const quiet = await print(before, 'quiet', 60);
    for (const id of ['loud-1', 'loud-2', 'loud-3']) await print(before, id, 40, 'loud');
    expect(quiet.bytes).toBe(60_000);
    const disk = diskOf(200_000);
    const found = disk.find();
    await print(disk, 'loud-4', 60, 'loud');
    const bytes = (...ids: readonly string[]) =>
      ids.reduce((sum, id) => sum + (found.get(id)?.bytes ?? 0), 0);
    expect(bytes('quiet')).toBe(60_000);
    expect(bytes('loud-1', 'loud-2', 'loud-3')).toBe(80_000);
  });
});
