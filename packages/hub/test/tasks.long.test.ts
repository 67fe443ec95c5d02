import { it } from 'vitest';
import { raceForTasks } from './tasks-race.ts';
import { TestHub } from './test-hub.ts';

it('eight clients that claim three hundred tasks while the hub is killed win each once', async () => {
  await using hub = await TestHub.start();
  await raceForTasks(hub, 300);
}, 300_000);
