import { expect, test } from 'vitest';
import { killWriters } from './store-crash.ts';
import { newGround } from './store-ground.ts';

test('killed 20 times amid 16 writers, it loses nothing acknowledged and gives no seq twice', async () => {
  await using ground = newGround();
  expect((await killWriters(ground, 20)).acknowledged).toBeGreaterThan(20);
}, 120_000);
