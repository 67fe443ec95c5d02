import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { backupsOf, type Clock, marker, removeDrafts, restoreBackup, writeBackup } from './backup.ts';
import { applicationId, openReader, openWriter } from './connection.ts';
import { failureOf, newerSchema, StoreError } from './errors.ts';
import type { Migration } from './migrations.ts';
import { Reserve } from './reserve.ts';
import { createSearch } from './search-index.ts';

/** How the record was found. */
export type Opened =
  | { readonly state: 'created' }
  | {
      readonly state: 'opened';
      /** False after a kill or a crash. */
      readonly clean: boolean;
      /** False when it should have been checked and is too big to do so at start. */
      readonly checked: boolean;
    }
  | {
      readonly state: 'restored';
      readonly why: string;
      readonly restoredFrom: string;
      /** The damaged file, if there was one. */
      readonly aside: string | undefined;
      /** What was written between these times is lost. */
      readonly lossWindow: { readonly from: number; readonly until: number };
    };

/** A check reads up to 1 GB/s, and a start should take less than a second. */
const checkedAtStart = 128 * 1024 * 1024;
/** One that was closed in good order is hardly ever damaged: it is checked as far as nobody notices. */
const checkedWhenClean = 16 * 1024 * 1024;

const suspicion = (file: string): string => `${file}.suspect`;

/** Makes the next start check everything. */
export function noteSuspicion(file: string, why: string): void {
  try {
    writeFileSync(suspicion(file), why, { mode: 0o600 });
  } catch {
    // The next start then meets the damage by itself, or its first read does.
  }
}

/** Makes a record ready to be opened: ours, whole, and of the newest schema. */
export function prepareFile(file: string, steps: readonly Migration[], clock: Clock): Opened {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    refuseStranger(file);
    removeDrafts(file);
    const opened = makeWhole(file, clock);
    migrate(file, steps);
    return opened;
  } catch (error) {
    const failure = failureOf(error, `${file} cannot be opened`);
    // Even to read, SQLite needs a little space.
    if (failure.code === 'full' && new Reserve(file).release()) return prepareFile(file, steps, clock);
    if (failure.code === 'corrupt') noteSuspicion(file, failure.message);
    throw new StoreError(failure, { cause: error });
  }
}

function refuseStranger(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return;
  const elsewhose = process.getuid !== undefined && stat.uid !== process.getuid();
  const problem = !stat.isFile() ? 'is not a file' : elsewhose ? `belongs to user ${stat.uid}` : undefined;
  if (problem) throw new StoreError({ code: 'foreign', message: `${file} ${problem}.` });
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(file + suffix)) chmodSync(file + suffix, 0o600);
}

function makeWhole(file: string, clock: Clock): Opened {
  if (existsSync(marker(file))) {
    const wanted = readFileSync(marker(file), 'utf8');
    return restore(file, 'An earlier restore was interrupted.', clock, [wanted]);
  }
  if (sizeOf(file) === 0) {
    // A record that was there before never begins anew without a word.
    if (backupsOf(file).length > 0) return restore(file, `${file} was gone.`, clock);
    closeSync(openSync(file, 'a', 0o600));
    return { state: 'created' };
  }
  const clean = sizeOf(`${file}-wal`) === 0;
  const suspected = existsSync(suspicion(file));
  const checked = clean || suspected || sizeOf(file) <= checkedAtStart;
  const small = sizeOf(file) <= (clean ? checkedWhenClean : checkedAtStart);
  const look = suspected ? 'integrity_check' : small ? 'quick_check' : undefined;
  const damage = damageOf(file, look);
  const opened: Opened =
    damage === undefined ? { state: 'opened', clean, checked } : restore(file, damage, clock);
  rmSync(suspicion(file), { force: true });
  return opened;
}

/** What is wrong with the file, as far as one sees on opening it or by the look that is asked for. */
function damageOf(file: string, look: 'quick_check' | 'integrity_check' | undefined): string | undefined {
  let db: Database.Database | undefined;
  try {
    db = openReader(file);
    const id = db.pragma('application_id', { simple: true });
    const empty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
    if (id !== applicationId && !(id === 0 && empty)) {
      throw new StoreError({ code: 'foreign', message: `${file} is a database of another program.` });
    }
    const said = look ? db.pragma(`${look}(1)`, { simple: true }) : 'ok';
    return said === 'ok' ? undefined : `${file} was damaged: ${said}.`;
  } catch (error) {
    const failure = failureOf(error, `${file} was damaged`);
    if (failure.code !== 'corrupt') throw error;
    if (backupsOf(file).length > 0) return failure.message;
    const code = /NOTADB/.test(failure.message) ? 'foreign' : 'corrupt';
    throw new StoreError({ ...failure, code }, { cause: error });
  } finally {
    db?.close();
  }
}

/** Puts the newest backup that is whole in the place of a damaged record, or refuses to begin with nothing. */
function restore(file: string, why: string, clock: Clock, wanted: readonly string[] = []): Opened {
  const until = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? clock.now();
  for (const from of [...wanted, ...backupsOf(file)]) {
    try {
      const { aside } = restoreBackup({ from, to: file, clock, label: 'corrupt' });
      const lossWindow = { from: statSync(from).mtimeMs, until };
      return { state: 'restored', why, restoredFrom: from, aside, lossWindow };
    } catch (error) {
      // A backup that is damaged too gives way to the one before it.
      if (failureOf(error).code !== 'corrupt') throw error;
    }
  }
  throw new StoreError({ code: 'corrupt', message: `${why} No backup beside it is whole.` });
}

function migrate(file: string, steps: readonly Migration[]): void {
  const db = openWriter(file);
  try {
    const schema = Number(db.pragma('user_version', { simple: true }));
    if (schema > steps.length) {
      throw newerSchema(file, schema, steps.length);
    }
    for (const [index, { id, name }] of steps.entries())
      if (id !== index + 1) throw new Error(`Migration "${name}" has number ${id} instead of ${index + 1}.`);
    const missing = steps.slice(schema);
    if (missing.length === 0) return;
    if (schema > 0) writeBackup(file, `${file}.before-${schema + 1}`);
    // All steps or none, and one sync of the disk.
    db.transaction(() => {
      for (const { statements, searches = [] } of missing)
        for (const statement of [...statements, ...searches.flatMap(createSearch)]) db.exec(statement);
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${steps.length}`);
    }).immediate();
  } finally {
    db.close();
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
