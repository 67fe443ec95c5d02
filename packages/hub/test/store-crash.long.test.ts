import { expect, test } from 'vitest';
import { killWriters } from './store-crash.ts';
import { newGround } from './store-ground.ts';

test('killed 300 times amid 16 writers, it loses nothing acknowledged and gives no seq twice', async () => {
  for (let life = 0; life < 10; life++) {
    await using ground = newGround();
    expect((await killWriters(ground, 30)).acknowledged).toBeGreaterThan(30);
  }
});
