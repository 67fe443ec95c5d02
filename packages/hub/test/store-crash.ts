import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { buildFaults, canPreload } from './store-faults.ts';
import type { Ground } from './store-ground.ts';

/**
 * Ends sixteen writers again and again, and looks whether what they were promised is there. A kill from outside hardly
 * ever hits the moment between an early promise and its write, so that every other life ends right before a write.
 */
export async function killWriters(
  ground: Ground,
  rounds: number,
): Promise<{ readonly acknowledged: number }> {
  const promised = new Map<number, string>();
  const library = canPreload ? buildFaults(ground.directory) : undefined;
  for (let round = 0; round < rounds; round++) {
    const before = { LD_PRELOAD: library, POLY_KILL_AT_WRITE: String(Math.ceil(Math.random() * 2000)) };
    const acks = await oneLife(ground.file, library && round % 2 === 0 ? before : {});
    for (const [id, seq] of acks) {
      expect(promised.get(seq), `seq ${seq} was given twice`).toBeUndefined();
      promised.set(seq, id);
    }

    const store = await ground.open();
    expect(store.opened.state).not.toBe('restored');
    const { last } = await store.bounds();
    const events = await store.events({ after: 0, limit: last + 1 });
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    const kept = new Map(events.map(({ seq, payload }) => [seq, payload]));
    expect([...promised].filter(([seq, id]) => kept.get(seq) !== id)).toEqual([]);
    expect(new Set(kept.values()).size).toBe(last);
    const [notes] = await store.query<{ count: number }>('SELECT count(*) AS count FROM notes');
    expect(notes?.count).toBe(last);
    await store.close();
    const db = new Database(ground.file, { readonly: true });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
  }
  return { acknowledged: promised.size };
}

/** What was acknowledged until the end of a life. */
async function oneLife(
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly (readonly [string, number])[]> {
  const args = [fileURLToPath(new URL('./store-scenario.ts', import.meta.url)), 'writers', file];
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env } });
  const acks: [string, number][] = [];
  const lines = createInterface(child.stdout as Readable);
  lines.once(
    'line',
    () => void setTimeout(() => child.kill('SIGKILL'), env.LD_PRELOAD ? 5000 : Math.random() * 200),
  );
  lines.on('line', (line) => {
    if (line.endsWith(']')) acks.push(JSON.parse(line)); // The kill may cut the last one.
  });
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  expect(child.signalCode).toBe('SIGKILL');
  return acks;
}
