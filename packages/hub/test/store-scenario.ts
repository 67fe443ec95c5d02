// Run as a process of its own: `node store-scenario.ts NAME FILE FAULTS`, to be killed, or run over a faulty disk.
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../src/store/errors.ts';
import type { SqliteStore } from '../src/store/sqlite.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { event } from './store.contract.ts';
import { schema } from './store-ground.ts';

const [scenario = '', file = '', faults = ''] = process.argv.slice(2);
const open = (): Promise<SqliteStore> => openSqliteStore({ file, migrations: schema });
const say = (value: unknown): unknown => process.stdout.write(`${JSON.stringify(value)}\n`);
const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'ok',
    (error) => (error instanceof StoreError ? error.code : String(error)),
  );

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  /** Sixteen writers that tell each acknowledgement, until they are killed. */
  writers: async () => {
    const store = await open();
    const writer = async (number: number): Promise<never> => {
      for (let i = 0; ; i++) {
        const id = `${process.pid}-${number}-${i}`;
        const insert = {
          sql: 'INSERT INTO notes (id, text) VALUES (?, ?)',
          values: [id, 'x'.repeat(i % 2000)],
        };
        const { events } = await store.commit({ statements: [insert], events: [event('written', id)] });
        say([id, events[0]?.seq]);
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, number) => writer(number)));
  },

  /** One commit after the other, each noted in the same trace as the syncs of the disk. */
  sequential: async () => {
    const store = await open();
    const before = store.gauges().groups;
    appendFileSync(join(faults, 'trace'), 'start\n');
    for (let i = 0; i < 200; i++) {
      await store.commit({ events: [event('e', i)] });
      appendFileSync(join(faults, 'trace'), 'ack\n');
    }
    appendFileSync(join(faults, 'trace'), 'end\n');
    say(store.gauges().groups - before);
    await store.close();
  },

  /** The same with what better-sqlite3 does when left alone: what the trace must be able to tell from ours. */
  careless: async () => {
    const db = new Database(file);
    db.pragma('journal_mode = WAL');
    db.exec('CREATE TABLE t (x)');
    appendFileSync(join(faults, 'trace'), 'start\n');
    for (let i = 0; i < 200; i++) {
      db.prepare('INSERT INTO t VALUES (?)').run(i);
      appendFileSync(join(faults, 'trace'), 'ack\n');
    }
    appendFileSync(join(faults, 'trace'), 'end\n');
    say(200);
    db.close();
  },

  /** Every write says ENOSPC for a while. */
  full: async () => {
    const store = await open();
    await store.commit({ events: [event('before')] });
    writeFileSync(join(faults, 'full'), '');
    const during = await Promise.all(
      Array.from({ length: 60 }, () => codeOf(store.commit({ events: [event('lost')] }))),
    );
    const reserve = await codeOf(store.commit({ events: [event('lost')], useReserve: true }));
    const readable = (await store.events({ after: 0, limit: 100 })).map(({ name }) => name);
    const { full } = store.gauges();
    rmSync(join(faults, 'full'));
    const since = performance.now();
    while ((await codeOf(store.commit({ events: [event('after')] }))) === 'full') {
      if (performance.now() - since > 5000) break;
    }
    const after = await store.events({ after: 0, limit: 100 });
    say({
      during: [...new Set(during)],
      reserve,
      readable,
      full,
      after: after.map(({ seq, name }) => [seq, name]),
    });
    await store.close();
  },

  /** A sync of the disk fails once; nothing may be promised after it, although the next would succeed. */
  unsynced: async () => {
    const store = await open();
    let broken = 0;
    store.onBroken(() => {
      broken += 1;
    });
    const before = await codeOf(store.commit({ events: [event('before')] }));
    writeFileSync(join(faults, 'eio'), '');
    const group = Array.from({ length: 10 }, () => codeOf(store.commit({ events: [event('lost')] })));
    const during = [...new Set(await Promise.all(group))];
    const after = await codeOf(store.commit({ events: [event('late')] }));
    const readable = await codeOf(store.events({ after: 0, limit: 1 }));
    say({ before, during, after, readable, broken });
    await store.close();
  },
};

await scenarios[scenario]?.();
