import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rotateBackups } from '../src/store/backup.ts';
import { event } from './store.contract.ts';
import { newGround } from './store-ground.ts';

test('a big record opens in under a second after a kill; its damage is found meanwhile and healed by the next start', async () => {
  await using ground = newGround();
  const store = await ground.open();
  const page = Array.from({ length: 1000 }, () => event('e', 'x'.repeat(1000)));
  for (let i = 0; i < 500; i++) await store.commit({ events: page });
  const { file: backup } = await rotateBackups(store, { file: ground.file, keep: 1 });
  await store.close();
  const middle = Math.floor(statSync(ground.file).size / 8192) * 4096;
  const fd = openSync(ground.file, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, middle);
  closeSync(fd);
  writeFileSync(`${ground.file}-wal`, 'left by a kill');

  const since = performance.now();
  const again = await ground.open();
  expect(performance.now() - since).toBeLessThan(1000);
  expect(again.opened).toEqual({ state: 'opened', clean: false, checked: false });
  await new Promise((resolve) => again.onBroken(resolve));
  await again.close();
  const healed = await ground.open();
  expect(healed.opened).toMatchObject({ state: 'restored', restoredFrom: backup });
  expect(await healed.bounds()).toMatchObject({ first: 1 });
});
