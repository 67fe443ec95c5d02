import { chmodSync } from 'node:fs';
import { PolyError } from '@polyphony/protocol';
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
    // A journal on the disk would keep a hub from starting on one that is full.
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_NOTADB')
      throw new PolyError('conflict', `${file} is not the lock that a hub has made.`, {
        hint: 'Delete it, if no hub runs (poly server status): the next one makes its own.',
        cause: error,
      });
    throw error;
  }
  return { release: () => database.close() };
}
