import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../packages/hub/src/store/sqlite.ts';
import { type Figure, median } from './measure.ts';

/** It is a dependency of the hub, not of the repository. */
const Sqlite = createRequire(new URL('../packages/hub/package.json', import.meta.url))('better-sqlite3');

const writers = 16;
const perRound = 8000;
const payload = { text: 'x'.repeat(1000) };
const event = { name: 'bench:event', payload, source: 'user:bench', occurredAt: 1 };

interface Rate {
  /** Rows a second. */
  readonly rows: number;
  /** CPU of this process with its threads, µs a row. */
  readonly cpu: number;
}

/** Sixteen that each wait for their event to be on the disk, against bare inserts in groups of sixteen on one thread. */
export async function store(): Promise<readonly Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'poly-bench-'));
  const hub = await openSqliteStore({ file: join(directory, 'hub.db') });
  const raw = new Sqlite(join(directory, 'raw.db'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) raw.pragma(pragma);
  raw.exec(
    'CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, name, payload, source, pane, occurred, received)',
  );
  const insert = raw.prepare(
    'INSERT INTO events (name, payload, source, pane, occurred, received) VALUES (?, ?, ?, NULL, ?, ?)',
  );
  const group = raw.transaction(() => {
    for (let i = 0; i < writers; i++) {
      insert.run(event.name, JSON.stringify(event.payload), event.source, event.occurredAt, Date.now());
    }
  });
  const ours: Rate[] = [];
  const theirs: Rate[] = [];
  for (let round = 0; round < 5; round++) {
    ours.push(await rateOf(oursOnce));
    theirs.push(await rateOf(theirsOnce));
  }
  raw.close();
  await hub.close();
  rmSync(directory, { recursive: true });
  const against = 'bare grouped inserts';
  const [our, their] = [ours, theirs].map((rates) => ({
    rows: median(rates.map(({ rows }) => rows)),
    cpu: median(rates.map(({ cpu }) => cpu)),
  })) as [Rate, Rate];
  return [
    { what: `durable events, ${writers} writers`, unit: '/s', ours: our.rows, against, theirs: their.rows, aim: '≥ 5000/s' },
    { what: 'a durable event, CPU', unit: 'µs', ours: our.cpu, against, theirs: their.cpu, aim: '≤ 100 µs' },
  ]; // biome-ignore format: a table

  async function oursOnce(): Promise<void> {
    const writer = async (): Promise<void> => {
      for (let i = 0; i < perRound / writers; i++) await hub.commit({ events: [event] });
    };
    await Promise.all(Array.from({ length: writers }, writer));
  }

  async function theirsOnce(): Promise<void> {
    for (let i = 0; i < perRound / writers; i++) group();
  }
}

async function rateOf(round: () => Promise<void>): Promise<Rate> {
  const start = performance.now();
  const before = process.cpuUsage();
  await round();
  const { user, system } = process.cpuUsage(before);
  return { rows: (perRound / (performance.now() - start)) * 1000, cpu: (user + system) / perRound };
}
