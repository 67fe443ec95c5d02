import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { backupsOf, rotateBackups } from '../store/backup.ts';
import type { Store } from '../store/store.ts';

export interface HousekeepingOptions {
  readonly store: Store;
  readonly database: string;
  readonly clock: Clock;
  readonly log: Log;
  /** What others forget at the same time. */
  readonly forgetMore: () => Promise<void>;
  /** Told when the record is no longer where it was: what is written now is lost. */
  readonly onLost: (why: Error) => void;
}

const hourMs = 3_600_000;
/** What the log keeps at least, and for how long the repeat of a request is safe. */
const retention = { olderThan: 7 * 24 * hourMs, keepAtLeast: 100_000 };
/** For hubs that never run for an hour. */
const firstMs = 60_000;
const glanceMs = 2_000;
/** How many automatic and unnamed backups are kept. */
export const keptBackups = 7;

/** Forgets what need not be kept and makes a backup a day; answers what ends that. */
export function keepHouse({
  store,
  database,
  clock,
  log,
  forgetMore,
  onLost,
}: HousekeepingOptions): () => void {
  const tidy = async (): Promise<void> => {
    const forgotten = clock.now() - retention.olderThan;
    await store.trim(retention);
    await store.commit({
      statements: [
        { sql: 'DELETE FROM idempotency_keys WHERE created_at < ?', values: [forgotten] },
        { sql: `DELETE FROM approvals WHERE created_at < ? AND state <> 'pending'`, values: [forgotten] },
      ],
      useReserve: true,
    });
    await forgetMore();
    // By its age and not by the hour of the day, at which a machine may always be asleep.
    if (clock.now() - lastBackup(database) >= 24 * hourMs)
      await rotateBackups(store, { file: database, keep: keptBackups, clock });
  };
  const run = (): void => {
    tidy().catch((error: unknown) => log.error('house-keeping failed', { error }));
  };
  const first = setTimeout(run, firstMs);
  const timer = setInterval(run, hourMs);
  const glance = setInterval(() => {
    if (!existsSync(database))
      onLost(new Error(`${database} is gone; whatever is written now would be lost.`));
  }, glanceMs);
  return () => {
    clearTimeout(first);
    clearInterval(timer);
    clearInterval(glance);
  };
}

function lastBackup(database: string): number {
  const newest = backupsOf(database).find((file) => file.includes('.backup-'));
  return newest === undefined ? 0 : statSync(newest).mtimeMs;
}
