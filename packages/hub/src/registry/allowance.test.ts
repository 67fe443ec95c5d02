import { participantOf } from '@polyphony/protocol';
import { expect, it } from 'vitest';
import { Allowance } from './allowance.ts';
import { type Caller, paneScopes } from './caller.ts';

it('is refilled in the course of an hour, and says how long that takes', () => {
  let now = 0;
  const allowance = new Allowance({ now: () => 0, monotonic: () => now });
  const caller: Caller = {
    participant: participantOf('agent', 'a'),
    scopes: paneScopes,
    pane: 'a',
    family: 'f',
  };
  const megabyte = 'x'.repeat(1024 * 1024 - 512 - 2);
  const take = () => allowance.take(caller, megabyte);
  for (let n = 0; n < 16; n++) take();
  expect(take).toThrow(expect.objectContaining({ hint: expect.stringContaining('Wait 225 seconds') }));
  now += 224_000;
  expect(take).toThrow();
  now += 1_000;
  take();
  expect(take).toThrow();
  now += 3_600_000;
  for (let n = 0; n < 16; n++) take();
});
