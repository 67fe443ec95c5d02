import { expect, it } from 'vitest';
import { Credentials, type CredentialsOptions } from './credentials.ts';

it('lets a ticket live by time that passes, whatever happens to the clock on the wall', () => {
  let wall = Date.parse('2026-01-01');
  let passed = 1_000;
  let made = 0;
  const credentials = new Credentials({
    userToken: 'secret',
    user: 'user:me',
    clock: { now: () => wall, monotonic: () => passed },
    random: { token: () => `ticket-${made++}`, hex: () => '' },
  } as unknown as CredentialsOptions);
  const ticket = (): string => credentials.ticket('ws', credentials.user).ticket;

  const kept = ticket();
  wall += 86_400_000;
  passed += 29_000;
  expect(credentials.redeem(kept, 'ws')).toBe(credentials.user);

  const old = ticket();
  wall -= 86_400_000;
  passed += 31_000;
  expect(() => credentials.redeem(old, 'ws')).toThrow(/older than 30 seconds/);
});
