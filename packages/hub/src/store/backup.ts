import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { applicationId, lastSeq } from './connection.ts';
import { failureOf, newerSchema, StoreError } from './errors.ts';
import type { Backup, Store } from './store.ts';

/** After a restore `seq` goes on so much later, since readers may have seen numbers of events that are lost. */
const seqLeap = 1_000_000;

export interface Clock {
  now(): number;
}

/** Copies a record that may be in use, checks the copy, and only then gives it its name. */
export function writeBackup(from: string, to: string): Backup {
  const draft = `${to}.partial`;
  try {
    rmSync(draft, { force: true });
    closeSync(openSync(draft, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
    const db = new Database(from, { readonly: true, fileMustExist: true });
    try {
      db.prepare('VACUUM INTO ?').run(draft);
    } finally {
      db.close();
    }
    verifyBackup(draft);
    settle(draft, to);
    return { file: to, bytes: statSync(to).size };
  } catch (error) {
    rmSync(draft, { force: true });
    throw new StoreError(failureOf(error, `The backup ${to} cannot be written`), { cause: error });
  }
}

/** Throws unless the file is a whole record of ours; answers its schema and last `seq`. */
function verifyBackup(file: string): { readonly schema: number; readonly lastSeq: number } {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true });
    if (db.pragma('application_id', { simple: true }) !== applicationId) {
      throw new StoreError({ code: 'foreign', message: `${file} is not a record of Polyphony.` });
    }
    const said = db.pragma('integrity_check(1)', { simple: true });
    if (said !== 'ok') throw new StoreError({ code: 'corrupt', message: `${file} is damaged: ${said}.` });
    return { schema: Number(db.pragma('user_version', { simple: true })), lastSeq: lastSeq(db) };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      { code: 'corrupt', message: `${file} cannot be read: ${(error as Error).message}.` },
      { cause: error },
    );
  } finally {
    db?.close();
  }
}

export interface Restored {
  readonly from: string;
  /** Where the replaced file is now, if there was one. */
  readonly aside: string | undefined;
}

export interface Restore {
  readonly from: string;
  readonly to: string;
  readonly clock?: Clock;
  /** Goes into the name of the replaced file. */
  readonly label?: string;
  /** The newest schema that may come in its place. */
  readonly newest?: number;
}

/** Puts a checked copy of a backup in the place of a record nobody has open; keeps what was there. */
export function restoreBackup({
  from,
  to,
  clock = Date,
  label = 'replaced',
  newest = Number.POSITIVE_INFINITY,
}: Restore): Restored {
  const draft = `${to}.partial`;
  try {
    const { schema, lastSeq } = verifyBackup(from);
    if (schema > newest) throw newerSchema(from, schema, newest);
    const last = Math.max(lastSeq, plausibleLastSeq(to));
    copyFileSync(from, draft);
    chmodSync(draft, 0o600);
    const copy = new Database(draft);
    copy.prepare("DELETE FROM sqlite_sequence WHERE name = 'events'").run();
    copy.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)").run(last + seqLeap);
    copy.close();
    // Killed from here on, the next start finds the marker and does all of this again.
    writeFileSync(marker(to), resolve(from), { mode: 0o600, flush: true });
    const aside = moveAside(to, `${label}-${stamp(clock)}`);
    settle(draft, to);
    rmSync(marker(to));
    // The first has what was written since the backup; of a disk that damages each in turn not all are kept.
    const [, ...later] = asidesOf(to, 'corrupt');
    for (const old of later.slice(0, -keptLater)) removeAside(old);
    return { from, aside };
  } catch (error) {
    rmSync(draft, { force: true });
    throw new StoreError(failureOf(error, `${from} cannot be restored`), { cause: error });
  }
}

/** So many of the damaged files after the first. */
const keptLater = 2;

/** Which backup a restore that was killed wanted to put in place. */
export const marker = (file: string): string => `${file}.restoring`;

/** Renames the file with its log, so that the log is never taken for that of the next file. */
function moveAside(file: string, label: string): string | undefined {
  const there = ['-shm', '-wal', ''].filter((suffix) => existsSync(file + suffix));
  for (const suffix of there) renameSync(file + suffix, `${file}.${label}${suffix}`);
  return there.includes('') ? `${file}.${label}` : undefined;
}

/** The last `seq` of a file that may be damaged, as far as it can be believed. */
function plausibleLastSeq(file: string): number {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true });
    const last = lastSeq(db);
    return last < 1e12 ? last : 0;
  } catch {
    return 0; // It is being replaced because it cannot be read; the leap covers what it had.
  } finally {
    db?.close();
  }
}

/** The backups beside a record, the newest first. */
export function backupsOf(file: string): readonly string[] {
  return besides(file)
    .filter((path) => /\.(backup|before)-[^.]+$/.test(path))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
}

/** The records that a restore has replaced, the oldest first. */
function asidesOf(file: string, label: 'corrupt' | '(?:corrupt|replaced)'): readonly string[] {
  const name = new RegExp(`\\.${label}-[^.]+(?<!-wal|-shm)$`);
  return besides(file)
    .filter((path) => name.test(path))
    .toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
}

function removeAside(path: string): void {
  for (const suffix of ['-shm', '-wal', '']) rmSync(path + suffix, { force: true });
}

/** Removes the copies that nobody finished. */
export function removeDrafts(file: string): void {
  for (const path of besides(file)) if (path.endsWith('.partial')) rmSync(path);
}

function besides(file: string): readonly string[] {
  const folder = dirname(resolve(file));
  const names = readdirSync(folder).filter((name) => name.startsWith(`${basename(file)}.`));
  return names.map((name) => join(folder, name));
}

/**
 * Makes a backup beside the record, and removes what is older than those that are kept: copies made before a migration
 * too, and records that a restore has replaced.
 */
export async function rotateBackups(
  store: Pick<Store, 'backup'>,
  { file, keep, clock = Date }: { readonly file: string; readonly keep: number; readonly clock?: Clock },
): Promise<Backup> {
  const made = await store.backup(`${file}.backup-${stamp(clock)}`);
  const all = backupsOf(file);
  const oldest = all.filter((name) => name.includes('.backup-'))[keep - 1];
  if (oldest === undefined) return made;
  for (const old of all.slice(all.indexOf(oldest) + 1)) rmSync(old, { force: true });
  const since = statSync(oldest).mtimeMs;
  for (const old of asidesOf(file, '(?:corrupt|replaced)'))
    if (statSync(old).mtimeMs < since) removeAside(old);
  return made;
}

/** A time that sorts and that every file system takes. */
function stamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
}

function settle(draft: string, to: string): void {
  sync(draft);
  renameSync(draft, to);
  sync(dirname(to));
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
