import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub } from './test-hub.ts';
import { openWindow, recorded } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const hourMs = 3_600_000;

describe('the activity of sessions', () => {
  it('is counted by parts of a stretch of time, and what people asked for beside the rest', async () => {
    const [ada, ben] = [await openWindow(hub, 'ada', 'count'), await openWindow(hub, 'ben', 'other')];
    await ada.hook('UserPromptSubmit', { prompt: 'count' });
    await ada.hook('Stop', { last_assistant_message: 'three' });
    await recorded(hub, ada.session.session_id, 3);
    const now = Date.now();
    const ask = (from: number, until: number, more = {}) =>
      hub.client.call('floor:activity', {
        ...{ from: new Date(from).toISOString(), until: new Date(until).toISOString(), parts: 4 },
        ...more,
      });
    const { sessions } = await ask(now - 3 * hourMs, now + hourMs);
    const counted = new Map(sessions.map((one) => [one.session_id, [one.entries, one.prompts]]));
    expect(counted.get(ada.session.session_id)).toEqual([
      [0, 0, 3, 0],
      [0, 0, 1, 0],
    ]);
    expect(counted.get(ben.session.session_id)).toEqual([
      [0, 0, 1, 0],
      [0, 0, 0, 0],
    ]);
    const { sessions: some } = await ask(now - 3 * hourMs, now + hourMs, { project: 'count' });
    expect(some.map(({ session_id }) => session_id)).toEqual([ada.session.session_id]);
    expect(await ask(now + hourMs, now + 2 * hourMs)).toEqual({ sessions: [] });
    await expect(ask(now, now)).rejects.toMatchObject({
      code: 'invalid_arguments',
      hint: expect.stringContaining('later than from'),
    });
    await expect(
      hub.client.call('floor:activity', { from: 'yesterday', until: 'now', parts: 1 }),
    ).rejects.toMatchObject({ code: 'invalid_arguments' });
  });
});
