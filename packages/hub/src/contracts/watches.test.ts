import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Watches } from './watches.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('a file whose look has failed is looked at again, although it has not changed since', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poly-watches-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'api.json');
  writeFileSync(path, '{}');
  let looks = 0;
  const { promise: second, resolve } = Promise.withResolvers<void>();
  const watches = new Watches(async () => {
    looks += 1;
    if (looks === 1) throw new Error('the disk is full');
    resolve();
  }, log);
  onTestFinished(() => watches.close());
  watches.add('api', path);
  await second;
  expect(looks).toBe(2);
});
