import { renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';
import { leaveHook, openWindow, type Window, wholeTimeline } from './timeline-ground.ts';

const hourMs = 3_600_000;

/** A hub whose clock can be set. */
async function startWithClock(): Promise<{ readonly hub: TestHub; set(aheadMs: number): number }> {
  const place = join(tmpdir(), `poly-clock-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const set = (aheadMs: number): number => {
    writeFileSync(`${place}.new`, String(aheadMs));
    renameSync(`${place}.new`, place);
    return aheadMs;
  };
  set(0);
  const preload = `${place}.cjs`;
  writeFileSync(
    preload,
    `const { readFileSync } = require('node:fs');
     const real = Date.now;
     Date.now = () => real() + Number(readFileSync(${JSON.stringify(place)}, 'utf8'));`,
  );
  const hub = await TestHub.start({ env: { NODE_OPTIONS: `--require=${preload}` } });
  return { hub, set };
}

/** What an agent does at a time by a clock that is so much ahead. */
function prompter(hub: TestHub, window: Window): (text: string, aheadMs: number) => Promise<void> {
  let count = 0;
  return async (text, aheadMs) => {
    const payload = { session_id: 'c', hook_event_name: 'UserPromptSubmit', prompt: text };
    leaveHook(hub, window, `${String(count++).padStart(10, '0')}-p`, payload, { at: Date.now() + aheadMs });
    await until(async () => {
      const { results } = await hub.client.call('floor:search', { query: text });
      return results.length > 0;
    });
  };
}

it('is in order, and nothing stands in the future, when the clock was ahead and is set back', async () => {
  const { hub, set } = await startWithClock();
  await using _ = hub;
  const window = await openWindow(hub, 'traveller', 'time');
  const say = prompter(hub, window);
  const { session_id } = window.session;
  const story = async () =>
    (await wholeTimeline(hub, session_id, { kinds: ['prompt'] })).map(({ text }) => text);
  const notAhead = async (): Promise<void> => {
    const { last_activity_at, lease_until = '' } = await hub.client.call('floor:session', {
      session: session_id,
    });
    for (const entry of await wholeTimeline(hub, session_id))
      expect(Date.parse(entry.at)).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(last_activity_at ?? '')).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(lease_until)).toBeLessThanOrEqual(Date.now() + 30 * 60_000);
  };
  await say('before', 0);
  const years = set(10 * 365 * 24 * hourMs);
  await say('ahead', years);
  await hub.client.call('floor:claim', { session: session_id });
  set(0);
  await say('again', 0);
  expect(await story()).toEqual(['before', 'ahead', 'again']);
  await notAhead();
  // Also where the clock is right only with the next hub.
  await say('more', set(hourMs));
  await hub.kill('SIGKILL');
  set(0);
  await hub.start();
  await say('after', 0);
  expect(await story()).toEqual(['before', 'ahead', 'again', 'more', 'after']);
  await notAhead();
}, 120_000);

it('is fed by whoever joined before the clock was set back, and by nobody who has left', async () => {
  const { hub, set } = await startWithClock();
  await using _ = hub;
  set(hourMs);
  const [stays, leaves] = [await openWindow(hub, 'stays', 'time'), await openWindow(hub, 'leaves', 'time')];
  await hub.as(leaves.token).call('floor:leave', {});
  set(0);
  const payload = (prompt: string) => ({ session_id: 'd', hook_event_name: 'UserPromptSubmit', prompt });
  leaveHook(hub, leaves, '0000000000-l', payload('too late'));
  await prompter(hub, stays)('in time', 0);
  await hub.event('agent:captured', ({ payload: told }) => told.captureId === '0000000000-l');
  expect(await wholeTimeline(hub, leaves.session.session_id, { kinds: ['prompt'] })).toEqual([]);
  expect(await wholeTimeline(hub, stays.session.session_id, { kinds: ['prompt'] })).toHaveLength(1);
}, 120_000);
