import { expect, it } from 'vitest';
import { killInStorm } from './mail-storm.ts';
import { TestHub } from './test-hub.ts';

it('a hub that is killed forty times while sixteen write has lost no message it promised', async () => {
  await using hub = await TestHub.start();
  const { acknowledged } = await killInStorm(hub, 40);
  expect(acknowledged).toBeGreaterThan(1000);
}, 600_000);
