import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';
import { leaveHook, openWindow, type Window, wholeTimeline } from './timeline-ground.ts';

const leave = (hub: TestHub, window: Pick<Window, 'id' | 'token'>, number: number, payload: object): void =>
  leaveHook(hub, window, `${String(number).padStart(10, '0')}-${window.id}`, payload);

const prompt = (conversation: string, text: string) => ({
  ...{ session_id: conversation, hook_event_name: 'UserPromptSubmit', prompt: text },
});

/** What the record says, whatever the hub would. */
function ask(hub: TestHub, sql: string): unknown {
  const db = new Database(join(hub.dir, 'hub.db'), { readonly: true });
  try {
    return db.prepare(sql).pluck().get();
  } finally {
    db.close();
  }
}

const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}`);

it('routes a thousand interleaved events of two windows in two projects without one in the wrong place, through a restart', async () => {
  await using hub = await TestHub.start();
  const windows = [await openWindow(hub, 'left', 'one'), await openWindow(hub, 'right', 'two')] as const;
  const each = 500;
  for (const number of numbers(each)) {
    // Both agents call their conversation the same, as two that resumed one do.
    for (const window of windows)
      leave(hub, window, Number(number), prompt('the-same', `${window.id} ${number}`));
    if (number === '250') {
      await hub.kill('SIGKILL');
      await hub.start();
    }
    await setImmediate();
  }
  await until(() => ask(hub, 'SELECT count(*) FROM captures') === 2 * each);
  for (const { id, session } of windows) {
    const story = await wholeTimeline(hub, session.session_id, { kinds: ['prompt'] });
    expect(story.map(({ text }) => text)).toEqual(numbers(each).map((number) => `${id} ${number}`));
  }
}, 120_000);

it('has each event in the timeline or in neither, once, however often the hub is killed while it takes them in', async () => {
  await using hub = await TestHub.start();
  const window = await openWindow(hub, 'survivor', 'lasting');
  const all = 1200;
  const kills = 8;
  for (const number of numbers(all)) {
    leave(hub, window, Number(number), prompt('c', number));
    if (Number(number) % (all / kills) !== all / kills / 2) continue;
    // In the midst of it: some are taken in, others wait.
    await until(() => Number(ask(hub, 'SELECT count(*) FROM captures')) > 0);
    await hub.kill('SIGKILL');
    const told = 'SELECT count(*) FROM timeline WHERE capture IS NOT NULL';
    expect(ask(hub, told)).toBe(ask(hub, 'SELECT count(*) FROM captures'));
    await hub.start();
  }
  await until(() => ask(hub, 'SELECT count(*) FROM captures') === all);
  const story = await wholeTimeline(hub, window.session.session_id, { kinds: ['prompt'] });
  expect(story.map(({ text }) => text)).toEqual(numbers(all));
  expect(ask(hub, 'SELECT entries FROM floor_sessions')).toBe(all + 1);
  const { bindings } = await hub.client.call('floor:session', { session: window.session.session_id });
  expect(bindings).toHaveLength(1);
}, 120_000);
