import Database from 'better-sqlite3';
import { StoreError } from './errors.ts';

/** Says in the file's header that it is ours: "poly". */
export const applicationId = 0x706f6c79;

/** Up to 3.51.2 two connections could lose a committed write when one of them checkpointed. */
const oldestSqlite = [3, 51, 3] as const;

export function refuseOldSqlite(version: string): void {
  const parts = version.split('.').map(Number);
  const difference = oldestSqlite.map((wanted, i) => (parts[i] ?? 0) - wanted).find((d) => d !== 0) ?? 0;
  if (difference >= 0) return;
  throw new StoreError({
    code: 'sqlite_too_old',
    message: `SQLite ${version} can lose committed writes; ${oldestSqlite.join('.')} or newer is needed.`,
  });
}

const writerPragmas: readonly string[] = [
  'auto_vacuum = INCREMENTAL', // Only heeded in a new file; lets retention give space back to the disk.
  'journal_mode = WAL',
  'secure_delete = ON', // What was wiped must not be left in a free page.
  'synchronous = FULL', // better-sqlite3 is built with NORMAL, which loses commits on power loss.
  'fullfsync = ON', // On macOS fsync alone does not reach the disk; elsewhere this changes nothing.
  'checkpoint_fullfsync = ON',
  'wal_autocheckpoint = 0', // The writer checkpoints after it answered, and hears of errors.
  'journal_size_limit = 16777216',
];
const commonPragmas: readonly string[] = [
  'busy_timeout = 5000',
  'foreign_keys = ON',
  'mmap_size = 0', // An I/O error in mapped memory would be a signal that kills the process.
  'cell_size_check = ON',
  'trusted_schema = OFF',
];

/** The connection that may write; there must be only one at a time. */
export function openWriter(file: string): Database.Database {
  const db = open(file, {}, [...commonPragmas, ...writerPragmas]);
  const mode = db.pragma('journal_mode', { simple: true });
  if (mode === 'wal') return db;
  db.close();
  throw new StoreError({
    code: 'broken',
    message: `${file} cannot be used in WAL mode (it is in ${mode} mode): a network file system has no shared memory.`,
  });
}

export function openReader(file: string): Database.Database {
  return open(file, { readonly: true, fileMustExist: true }, commonPragmas);
}

function open(file: string, options: Database.Options, pragmas: readonly string[]): Database.Database {
  const db = new Database(file, options);
  try {
    refuseOldSqlite(String(db.prepare('SELECT sqlite_version()').pluck().get()));
    for (const pragma of pragmas) db.pragma(pragma);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Compiles each text once; all are forgotten when there are too many. */
export function cachingPrepare(db: Database.Database): (sql: string) => Database.Statement {
  const known = new Map<string, Database.Statement>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    if (known.size >= 500) known.clear();
    const made = db.prepare(sql);
    known.set(sql, made);
    return made;
  };
}

/** The last `seq` ever given out, trimmed or not. */
export function lastSeq(db: Database.Database): number {
  return Number(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck().get() ?? 0);
}
