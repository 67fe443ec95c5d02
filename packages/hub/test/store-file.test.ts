import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { backupsOf, restoreBackup, rotateBackups } from '../src/store/backup.ts';
import { refuseOldSqlite } from '../src/store/connection.ts';
import type { Store } from '../src/store/store.ts';
import { event } from './store.contract.ts';
import { type Ground, newGround, schema } from './store-ground.ts';

const integrity = (file: string): unknown => {
  const db = new Database(file, { readonly: true });
  try {
    return db.pragma('integrity_check', { simple: true });
  } finally {
    db.close();
  }
};
const fill = (store: Store, count: number, size = 1000): Promise<unknown> =>
  store.commit({ events: Array.from({ length: count }, (_, i) => event('e', `${i}${'x'.repeat(size)}`)) });
const beside = (ground: Ground): readonly string[] => readdirSync(ground.directory).sort();

/** Overwrites bytes in the middle of the file, where its pages are. */
function damage(file: string, at: number, bytes: number): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(bytes, 0xa5), 0, bytes, at);
  closeSync(fd);
}

describe('the file', () => {
  test('is private with all that belongs to it, even if it was not', async () => {
    const umask = process.umask(0);
    try {
      await using ground = newGround();
      const store = await ground.open();
      await fill(store, 10);
      await store.backup(`${ground.file}.backup-1`);
      const modes = (): unknown =>
        beside(ground).map((name) => [name, statSync(join(ground.directory, name)).mode & 0o777]);
      const names = ['hub.db', 'hub.db-shm', 'hub.db-wal', 'hub.db.backup-1', 'hub.db.reserve'];
      expect(modes()).toEqual(names.map((name) => [name, 0o600]));
      await store.close();
      chmodSync(ground.file, 0o666);
      await ground.open();
      expect(modes()).toEqual(names.map((name) => [name, 0o600]));
    } finally {
      process.umask(umask);
    }
  });

  test('of somebody else is refused and left alone', async () => {
    await using ground = newGround();
    const other = new Database(ground.file);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    const before = readFileSync(ground.file);
    await expect(ground.open()).rejects.toMatchObject({ code: 'foreign' });
    expect(readFileSync(ground.file).equals(before)).toBe(true);
    writeFileSync(ground.file, 'My diary, which is no database at all.'.repeat(100));
    await expect(ground.open()).rejects.toMatchObject({ code: 'foreign' });
    expect(readFileSync(ground.file, 'utf8')).toMatch(/^My diary/);

    const elsewhere = join(ground.directory, 'elsewhere');
    writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, join(ground.directory, 'link.db'));
    await expect(ground.open({ file: join(ground.directory, 'link.db') })).rejects.toMatchObject({
      code: 'foreign',
    });
    mkdirSync(join(ground.directory, 'folder.db'));
    await expect(ground.open({ file: join(ground.directory, 'folder.db') })).rejects.toMatchObject({
      code: 'foreign',
    });
  });

  test('is opened fast and closed without a log', async () => {
    await using ground = newGround();
    const store = await ground.open();
    expect(store.opened).toEqual({ state: 'created' });
    await fill(store, 100);
    await store.close();
    expect(beside(ground)).toEqual(['hub.db', 'hub.db.reserve']);
    expect((await ground.open()).opened).toEqual({ state: 'opened', clean: true, checked: true });
  });

  test('needs a SQLite that does not lose writes', () => {
    for (const version of ['3.51.3', '3.51.10', '3.53.4', '4.0.0']) refuseOldSqlite(version);
    for (const version of ['3.51.2', '3.50.7', '3.40.1', '2.99.99']) {
      expect(() => refuseOldSqlite(version)).toThrow(expect.objectContaining({ code: 'sqlite_too_old' }));
    }
  });

  test('that another program has locked refuses writes and lets reads go on', async () => {
    await using ground = newGround();
    const store = await ground.open();
    await fill(store, 3);
    const other = new Database(ground.file);
    other.exec('BEGIN IMMEDIATE');
    const busy = Array.from({ length: 5 }, () => store.commit({ events: [event('e')] }));
    expect(await store.events({ after: 0, limit: 10 })).toHaveLength(3);
    for (const commit of busy) await expect(commit).rejects.toMatchObject({ code: 'busy' });
    other.exec('ROLLBACK');
    other.close();
    await fill(store, 1);
  });

  test('is checkpointed while it is written, so that the log stays small', async () => {
    await using ground = newGround();
    const store = await ground.open();
    for (let i = 0; i < 60; i++) await fill(store, 500);
    const { walBytes, dbBytes } = store.gauges();
    expect(dbBytes).toBeGreaterThan(20 * 1024 * 1024);
    expect(walBytes).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('migrations', () => {
  const added = (id: number) => ({
    id,
    name: 'more',
    statements: [`ALTER TABLE notes ADD COLUMN m${id} TEXT`],
  });
  const next = schema.length + 1;

  test('run once each, with one backup before all of them that holds the schema before the first', async () => {
    await using ground = newGround();
    const first = await ground.open();
    await fill(first, 5);
    await first.close();
    expect(backupsOf(ground.file)).toEqual([]);
    const second = await ground.open({ migrations: [...schema, added(next), added(next + 1)] });
    await second.query(`SELECT m${next}, m${next + 1} FROM notes`);
    expect((await second.bounds()).last).toBe(5);
    await second.close();
    expect(backupsOf(ground.file)).toEqual([`${ground.file}.before-${next}`]);
    const db = new Database(`${ground.file}.before-${next}`, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(next - 1);
    expect(db.prepare('SELECT count(*) FROM events').pluck().get()).toBe(5);
    db.close();
    await expect(ground.open()).rejects.toMatchObject({
      code: 'newer',
      message: expect.stringContaining(`${next + 1}`),
    });
    expect((await ground.open({ migrations: [...schema, added(next), added(next + 1)] })).opened.state).toBe(
      'opened',
    );
  });

  test('leave a copy that goes with the backups made after it, and not before', async () => {
    await using ground = newGround();
    await (await ground.open()).close();
    const store = await ground.open({ migrations: [...schema, added(next)] });
    const copy = `${ground.file}.before-${next}`;
    let now = Date.now();
    const clock = { now: () => (now += 60_000) };
    await rotateBackups(store, { file: ground.file, keep: 2, clock });
    expect(existsSync(copy)).toBe(true);
    await rotateBackups(store, { file: ground.file, keep: 2, clock });
    expect(existsSync(copy)).toBe(false);
    expect(backupsOf(ground.file)).toHaveLength(2);
  });

  test('that fail change nothing', async () => {
    await using ground = newGround();
    await (await ground.open()).close();
    const wrong = { id: next, name: 'wrong', statements: [...added(next).statements, 'NONSENSE'] };
    await expect(ground.open({ migrations: [...schema, wrong] })).rejects.toMatchObject({ code: 'refused' });
    const store = await ground.open();
    await expect(store.query(`SELECT m${next} FROM notes`)).rejects.toMatchObject({ code: 'refused' });
  });

  test('that are killed midway are done by the next start', async () => {
    await using ground = newGround();
    const store = await ground.open();
    await fill(store, 5);
    await store.close();
    const slow = (count: number) => ({
      id: next,
      name: 'slow',
      statements: [
        'CREATE TABLE slow (x INTEGER) STRICT',
        `INSERT INTO slow WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n LIMIT ${count}) SELECT x FROM n`,
      ],
    });
    const source = new URL('../src/store/sqlite.ts', import.meta.url).href;
    const options = JSON.stringify({ file: ground.file, migrations: [...schema, slow(1e9)] });
    const program = `import { openSqliteStore } from '${source}'; await openSqliteStore(${options});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
    await expect.poll(() => existsSync(`${ground.file}.before-${next}`), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => statSync(`${ground.file}-wal`).size, { timeout: 20_000 }).toBeGreaterThan(1e6);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = await ground.open({ migrations: [...schema, slow(10)] });
    expect(await again.query('SELECT count(*) AS count FROM slow')).toEqual([{ count: 10 }]);
    expect((await again.bounds()).last).toBe(5);
  });
});

describe('a backup', () => {
  test('made amid a storm of commits is whole, and ends with a committed event', async () => {
    await using ground = newGround();
    const store = await ground.open();
    let storm = true;
    const writers = Array.from({ length: 8 }, async () => {
      while (storm) {
        const insert = { sql: 'INSERT INTO notes (id) VALUES (?)', values: [`${Math.random()}`] };
        await store.commit({ statements: [insert], events: [event('e', 'x'.repeat(500))] });
      }
    });
    for (let i = 0; i < 5; i++) {
      const before = await store.bounds();
      const { file, bytes } = await store.backup(join(ground.directory, `copy-${i}`));
      const after = await store.bounds();
      expect(bytes).toBe(statSync(file).size);
      expect(integrity(file)).toBe('ok');
      const db = new Database(file, { readonly: true });
      const [events, notes] = ['events', 'notes'].map((table) =>
        db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      );
      db.close();
      expect(events).toBe(notes);
      expect(events).toBeGreaterThanOrEqual(before.last);
      expect(events).toBeLessThanOrEqual(after.last);
    }
    storm = false;
    await Promise.all(writers);
    expect(beside(ground).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test('is rotated: the newest are kept', async () => {
    await using ground = newGround();
    const store = await ground.open();
    for (let i = 1; i <= 5; i++) {
      const { file } = await rotateBackups(store, {
        file: ground.file,
        keep: 3,
        clock: { now: () => i * 1000 },
      });
      utimesSync(file, i, i);
    }
    expect(beside(ground).filter((name) => name.includes('backup'))).toEqual(
      [3, 4, 5].map((i) => `hub.db.backup-1970-01-01T00-00-0${i}-000Z`),
    );
  });

  test('is restored in place of the record, which is kept, and no seq comes again', async () => {
    await using ground = newGround();
    const copy = join(ground.directory, 'copy');
    const first = await ground.open();
    await fill(first, 10);
    await first.backup(copy);
    await fill(first, 5);
    await first.close();

    const { aside } = restoreBackup({ from: copy, to: ground.file });
    expect(aside).toMatch(/hub\.db\.replaced-/);
    const second = await ground.open();
    expect((await second.events({ after: 0, limit: 100 })).map(({ seq }) => seq)).toHaveLength(10);
    const { events } = await second.commit({ events: [event('next')] });
    expect(events[0]?.seq).toBeGreaterThan(15);
    expect((await second.events({ after: 10, limit: 100 })).map(({ name }) => name)).toEqual(['next']);
    await second.close();
    const kept = new Database(aside ?? '', { readonly: true });
    expect(kept.prepare('SELECT count(*) FROM events').pluck().get()).toBe(15);
    kept.close();
  });

  test('that is damaged, foreign or missing replaces nothing', async () => {
    await using ground = newGround();
    const store = await ground.open();
    await fill(store, 100);
    const copy = join(ground.directory, 'copy');
    const { bytes } = await store.backup(copy);
    await store.close();
    damage(copy, bytes - 20_000, 8192);
    const before = readFileSync(ground.file);
    const attempt = (from: string) => () => restoreBackup({ from, to: ground.file });
    expect(attempt(copy)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    expect(attempt(join(ground.directory, 'nothing'))).toThrow(expect.objectContaining({ code: 'corrupt' }));
    const other = join(ground.directory, 'other');
    new Database(other).exec('CREATE TABLE x (y)').close();
    expect(attempt(other)).toThrow(expect.objectContaining({ code: 'foreign' }));
    expect(readFileSync(ground.file).equals(before)).toBe(true);
    expect(beside(ground).filter((name) => /partial|restoring|replaced/.test(name))).toEqual([]);
  });

  test('whose restore was interrupted at any step is restored by the next start', async () => {
    await using ground = newGround();
    const copy = join(ground.directory, 'copy');
    const store = await ground.open();
    await fill(store, 10);
    await store.backup(copy);
    await store.close();
    const steps = [
      (): void => undefined,
      (): void => renameSync(ground.file, `${ground.file}.replaced-x`),
      (): void => copyFileSync(copy, ground.file),
    ];
    for (const step of steps) {
      writeFileSync(`${ground.file}.restoring`, copy);
      step();
      const again = await ground.open();
      expect(again.opened).toMatchObject({ state: 'restored', restoredFrom: copy });
      expect(await again.events({ after: 0, limit: 100 })).toHaveLength(10);
      await again.close();
      expect(existsSync(`${ground.file}.restoring`)).toBe(false);
    }
  });
});

describe('damage', () => {
  /** A record with a backup of 100 events and 50 events after it, closed. */
  async function withBackup(ground: Ground): Promise<string> {
    const store = await ground.open();
    await fill(store, 100);
    const { file } = await rotateBackups(store, { file: ground.file, keep: 3 });
    await fill(store, 50);
    await store.close();
    return file;
  }

  const damages: readonly (readonly [string, (file: string) => void])[] = [
    ['a header that is overwritten', (file) => damage(file, 0, 100)],
    ['a first page that is overwritten', (file) => damage(file, 100, 3000)],
    ['a file cut short', (file) => truncateSync(file, 4096 * 3)],
    ['an emptied file', (file) => truncateSync(file, 0)],
    ['a file that is gone', (file) => renameSync(file, `${file}-gone`)],
  ];
  test.each(damages)(
    '%s: the newest whole backup takes its place, and what is lost is told',
    async (_, harm) => {
      await using ground = newGround();
      const backup = await withBackup(ground);
      const newer = `${ground.file}.backup-9999`;
      copyFileSync(backup, newer);
      damage(newer, 30_000, 8192);
      harm(ground.file);
      const store = await ground.open();
      expect(store.opened).toMatchObject({
        state: 'restored',
        restoredFrom: backup,
        lossWindow: { from: statSync(backup).mtimeMs, until: expect.any(Number) },
      });
      if (store.opened.state === 'restored' && store.opened.aside)
        expect(store.opened.aside).toMatch(/hub\.db\.corrupt-/);
      expect(await store.events({ after: 0, limit: 1000 })).toHaveLength(100);
      const { events } = await store.commit({ events: [event('next')] });
      expect(events[0]?.seq).toBeGreaterThan(150);
    },
  );

  test('that comes again and again leaves the first and the newest damaged files, until backups are newer', async () => {
    await using ground = newGround();
    await withBackup(ground);
    const asides = () => beside(ground).filter((name) => name.includes('.corrupt-'));
    const all: string[] = [];
    for (let round = 0; round < 6; round++) {
      damage(ground.file, 100, 3000);
      const store = await ground.open();
      if (store.opened.state === 'restored') all.push(basename(store.opened.aside ?? ''));
      await store.close();
      // A file as old as its turn, whatever the clock of the disk can tell apart.
      utimesSync(join(ground.directory, all.at(-1) ?? ''), round + 1, round + 1);
    }
    expect(all).toHaveLength(6);
    const kept = [all[0], all[4], all[5]];
    expect([...new Set(asides().map((name) => name.replace(/-(wal|shm)$/, '')))]).toEqual(kept);
    const store = await ground.open();
    await rotateBackups(store, { file: ground.file, keep: 3 });
    expect(asides()).not.toEqual([]);
    await rotateBackups(store, { file: ground.file, keep: 3 });
    expect(asides()).toEqual([]);
    await store.close();
  });

  test('without a backup, nothing begins anew: it is refused and the file stays', async () => {
    await using ground = newGround();
    const store = await ground.open();
    await fill(store, 100);
    await store.close();
    damage(ground.file, 100, 3000);
    await expect(ground.open()).rejects.toMatchObject({ code: 'corrupt' });
    await expect(ground.open()).rejects.toMatchObject({ code: 'corrupt' });
    expect(statSync(ground.file).size).toBeGreaterThan(100_000);
  });

  test('met by a read breaks the store, and the next start restores', async () => {
    await using ground = newGround();
    const backup = await withBackup(ground);
    const pages = Math.floor(statSync(ground.file).size / 4096);
    const store = await ground.open();
    damage(ground.file, (pages - 20) * 4096, 15 * 4096);
    expect(store.opened.state).toBe('opened');
    const broken = new Promise<Error>((resolve) => store.onBroken(resolve));
    await expect(store.events({ after: 0, limit: 1000 })).rejects.toMatchObject({ code: 'corrupt' });
    expect(await broken).toMatchObject({ code: 'broken' });
    await expect(store.commit({ events: [event('e')] })).rejects.toMatchObject({ code: 'broken' });
    await store.close();
    expect((await ground.open()).opened).toMatchObject({ state: 'restored', restoredFrom: backup });
  });

  test('met by a backup leaves no backup, breaks the store, and the next start restores', async () => {
    await using ground = newGround();
    const backup = await withBackup(ground);
    const pages = Math.floor(statSync(ground.file).size / 4096);
    const store = await ground.open();
    damage(ground.file, (pages - 20) * 4096, 15 * 4096);
    await expect(rotateBackups(store, { file: ground.file, keep: 1 })).rejects.toMatchObject({
      code: 'corrupt',
    });
    await expect(store.commit({ events: [event('e')] })).rejects.toMatchObject({ code: 'broken' });
    await store.close();
    expect(backupsOf(ground.file)).toEqual([backup]);
    expect((await ground.open()).opened).toMatchObject({ state: 'restored', restoredFrom: backup });
  });

  test('after a kill is looked for before anything is served', async () => {
    await using ground = newGround();
    const backup = await withBackup(ground);
    const pages = Math.floor(statSync(ground.file).size / 4096);
    damage(ground.file, (pages - 20) * 4096, 15 * 4096);
    writeFileSync(`${ground.file}-wal`, 'left by a kill');
    expect((await ground.open()).opened).toMatchObject({ state: 'restored', restoredFrom: backup });
  });

  test('anywhere is never answered with an empty record', async () => {
    await using ground = newGround();
    await withBackup(ground);
    const whole = readFileSync(ground.file);
    for (let round = 0; round < 25; round++) {
      const hurt = Buffer.from(whole);
      const at = Math.floor(Math.random() * whole.length);
      hurt[at] = (hurt[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8));
      writeFileSync(ground.file, hurt);
      const store = await ground.open();
      const read = await store.events({ after: 0, limit: 1000 }).catch((error) => error.code);
      expect(read === 'corrupt' || read.length >= 100, `byte ${at}`).toBe(true);
      await store.close();
    }
  }, 120_000);
});
