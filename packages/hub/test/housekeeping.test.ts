import { utimesSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../src/platform/clock.ts';
import { keepHouse } from '../src/server/housekeeping.ts';
import { backupsOf } from '../src/store/backup.ts';
import { newGround } from './store-ground.ts';

const hourMs = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

it('makes a backup a day: soon after the start, and then when the last is a day old', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  await using ground = newGround();
  const store = await ground.open();
  const rounds: (() => void)[] = [];
  const end = keepHouse({
    store,
    database: ground.file,
    clock: systemClock,
    log: { info: fail, warn: fail, error: fail },
    // What is waited for once a round; the backup is made after it.
    forgetMore: async () => rounds.shift()?.(),
    onLost: fail,
  });
  /** Lets so much time pass that it tidies up once, and waits until a backup that it makes then is there. */
  const pass = async (ms: number, made: boolean): Promise<number> => {
    const tidied = new Promise<void>((resolve) => rounds.push(resolve));
    const before = backupsOf(ground.file).length;
    vi.advanceTimersByTime(ms);
    await tidied;
    while (made && backupsOf(ground.file).length === before) await new Promise(setImmediate);
    return backupsOf(ground.file).length;
  };
  try {
    expect(await pass(60_000, true)).toBe(1);
    expect(await pass(hourMs, false)).toBe(1);
    const old = (Date.now() - 24 * hourMs) / 1000;
    for (const file of backupsOf(ground.file)) utimesSync(file, old, old);
    expect(await pass(hourMs, true)).toBe(2);
  } finally {
    end();
  }
});

function fail(message: unknown): never {
  throw new Error(String(message));
}
