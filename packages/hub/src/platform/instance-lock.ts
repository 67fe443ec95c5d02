import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface InstanceLock {
  release(): void;
}

/**
 * Holds a lock until it is released or the process ends, however it ends. The kernel keeps it, through SQLite's
 * file lock: a stale file or a recycled process id means nothing. Answers undefined when somebody else holds it.
 */
export function takeInstanceLock(file: string): InstanceLock | undefined {
  const database = new Database(file, { timeout: 0 });
  try {
    chmodSync(file, 0o600);
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
