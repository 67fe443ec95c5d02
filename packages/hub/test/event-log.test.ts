import { expect, it } from 'vitest';
import { createEventLog } from '../src/events/event-log.ts';
import { systemClock } from '../src/platform/clock.ts';
import { newGround } from './store-ground.ts';

const from = { participant: 'user:test' } as const;

it('reads nothing that it has not told, so that a replay and what follows it never overlap', async () => {
  await using ground = newGround();
  const log = await createEventLog({ store: await ground.open(), clock: systemClock });
  // It sees the same file and never hears of the commit: what a log is between a commit and its message.
  const late = await createEventLog({ store: await ground.open(), clock: systemClock });
  await log.append([{ event: 'committed', payload: {}, from }]);
  expect([(await log.read(0, 10)).map(({ event }) => event), await log.bounds()]).toEqual([
    ['committed'],
    { first: 1, last: 1 },
  ]);
  expect([await late.read(0, 10), (await late.bounds()).last]).toEqual([[], 0]);
});
