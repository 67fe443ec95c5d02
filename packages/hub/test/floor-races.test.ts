import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';
import { leaveHook, openWindow, type Window, wholeTimeline } from './timeline-ground.ts';

const dayMs = 24 * 3_600_000;

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

/** What the record says, whatever the hub would. */
function ask(sql: string, ...values: readonly unknown[]): unknown {
  const db = new Database(join(hub.dir, 'hub.db'), { readonly: true });
  try {
    return db.prepare(sql).pluck().get(values);
  } finally {
    db.close();
  }
}

/** An agent that goes on telling until it is stopped; answers how many it told. */
function telling(window: Window, agesMs: readonly number[]): { stop(): Promise<number> } {
  let isOn = true;
  const run = async (): Promise<number> => {
    let count = 0;
    for (; isOn; count++) {
      const prompt = `${window.id} ${count}`;
      const at = Date.now() - (agesMs[count % agesMs.length] ?? 0);
      const payload = { session_id: `of-${window.id}`, hook_event_name: 'UserPromptSubmit', prompt };
      leaveHook(hub, window, `${String(count).padStart(10, '0')}-${window.id}`, payload, { at });
      await setTimeout(5);
    }
    return count;
  };
  const told = run();
  return {
    stop: () => {
      isOn = false;
      return told;
    },
  };
}

const allTakenIn = (): Promise<unknown> =>
  until(async () => (await hub.client.call('server:status', {})).gauges.journalWaiting === 0);

it('keeps what is young, forgets what is old and counts right, where retention races what agents tell', async () => {
  const window = await openWindow(hub, 'racer', 'race');
  const { session_id } = window.session;
  // As if it had fed the session for long.
  const db = new Database(join(hub.dir, 'hub.db'));
  db.prepare('UPDATE floor_bindings SET from_at = 0 WHERE session = ?').run(session_id);
  db.close();
  const agent = telling(window, [0, 3 * dayMs]);
  for (let round = 0; round < 25; round++) {
    await hub.client.call('project:retention', { project: 'race', days: 1 + (round % 2) });
    await setTimeout(10);
  }
  const count = await agent.stop();
  await allTakenIn();
  await hub.client.call('project:retention', { project: 'race', days: 1 });
  const story = await wholeTimeline(hub, session_id, { kinds: ['prompt'] });
  const young = Array.from({ length: Math.ceil(count / 2) }, (_, index) => `racer ${index * 2}`);
  expect(story.map(({ text }) => text)).toEqual(young);
  const { entries, prompts } = await hub.client.call('floor:session', { session: session_id });
  expect([entries, prompts]).toEqual([young.length + 1, young.length]);
  expect(ask('SELECT count(*) FROM captures WHERE pane = ?', window.id)).toBe(young.length);
  expect((await hub.client.call('floor:recover', { session: session_id })).restored).toBe(0);
}, 120_000);

it('ends a deletion while an agent goes on, and has nothing of it afterwards', async () => {
  const window = await openWindow(hub, 'stubborn', 'doomed');
  const agent = telling(window, [0]);
  await until(async () => (await hub.client.call('project:show', { project: 'doomed' })).sessions === 1);
  await setTimeout(300);
  const { sessions } = await hub.client.call('project:delete', { project: 'doomed' });
  expect(sessions).toBe(1);
  await agent.stop();
  await allTakenIn();
  for (const table of ['timeline', 'floor_sessions'])
    expect(ask(`SELECT count(*) FROM ${table} WHERE project = 'doomed'`)).toBe(0);
  expect((await hub.client.call('floor:search', { query: 'stubborn' })).results).toEqual([]);
}, 120_000);
