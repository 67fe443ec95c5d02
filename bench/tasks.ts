import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { register } from '../packages/hub/test/mail-ground.ts';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { cpuOf, type Figure, median } from './measure.ts';

/** It is a dependency of the hub, not of the repository. */
const Sqlite = createRequire(new URL('../packages/hub/package.json', import.meta.url))('better-sqlite3');

const clients = 8;
const count = 300;
const rounds = 3;

interface Rate {
  /** Claims a second, won or not. */
  readonly claims: number;
  /** CPU of the hub, µs a claim. */
  readonly cpu: number;
}

/** Eight agents that each try to claim every one of 300 tasks, against bare conditional updates of one writer. */
export async function tasks(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const agents = await Promise.all(
    Array.from({ length: clients }, (_, i) => register(hub, `w${i}`, { project: 'bench' })),
  );
  const ours: Rate[] = [];
  for (let round = 0; round < rounds; round++) {
    const ids: string[] = [];
    for (let i = 0; i < count; i++)
      ids.push((await hub.client.call('task:add', { title: `t${i}`, project: 'bench' })).task_id);
    let won = 0;
    const [start, before] = [performance.now(), cpuOf(hub.discovery.pid)];
    await Promise.all(
      agents.map(async (agent) => {
        for (const task_id of ids)
          try {
            await agent.call('task:claim', { task_id });
            won += 1;
          } catch (error) {
            if (!(error instanceof PolyError) || error.code !== 'already_claimed') throw error;
          }
      }),
    );
    if (won !== count) throw new Error(`${won} claims were won instead of ${count}`);
    const all = clients * count;
    ours.push({
      claims: (all / (performance.now() - start)) * 1000,
      cpu: (cpuOf(hub.discovery.pid) - before) / all,
    });
  }
  const theirs = bareClaims();
  const against = 'bare synced updates';
  const [claims, cpu] = [median(ours.map((one) => one.claims)), median(ours.map((one) => one.cpu))];
  return [
    { what: `claims, ${clients} agents for ${count} tasks`, unit: '/s', ours: claims, against, theirs: theirs.claims, aim: '≥ 240/s' },
    { what: 'a contended claim, CPU', unit: 'µs', ours: cpu, against, theirs: theirs.cpu, aim: '≤ 1700 µs' },
  ]; // biome-ignore format: a table
}

function bareClaims(): Rate {
  const directory = mkdtempSync(join(tmpdir(), 'poly-bench-'));
  const db = new Sqlite(join(directory, 'raw.db'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) db.pragma(pragma);
  db.exec(
    'CREATE TABLE tasks (id INTEGER PRIMARY KEY, owner TEXT); CREATE TABLE log (id INTEGER, owner TEXT)',
  );
  const insert = db.prepare('INSERT INTO tasks (id) VALUES (?)');
  for (let i = 0; i < count; i++) insert.run(i);
  const claim = db.prepare('UPDATE tasks SET owner = ? WHERE id = ? AND owner IS NULL');
  const note = db.prepare('INSERT INTO log VALUES (?, ?)');
  const once = db.transaction((id: number, owner: string) => {
    claim.run(owner, id);
    note.run(id, owner);
  });
  const [start, before] = [performance.now(), process.cpuUsage()];
  for (let i = 0; i < count; i++) for (let owner = 0; owner < clients; owner++) once(i, `w${owner}`);
  const { user, system } = process.cpuUsage(before);
  const all = clients * count;
  db.close();
  rmSync(directory, { recursive: true });
  return { claims: (all / (performance.now() - start)) * 1000, cpu: (user + system) / all };
}
