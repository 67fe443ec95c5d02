import { expect, it } from 'vitest';
import { killInStorm } from './mail-storm.ts';
import { TestHub } from './test-hub.ts';

it('a hub that is killed while sixteen write has lost no message it promised, and keeps none twice', async () => {
  await using hub = await TestHub.start();
  const { acknowledged } = await killInStorm(hub, 3);
  expect(acknowledged).toBeGreaterThan(100);
}, 120_000);
