import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { bodies, register, type TestAgent } from './mail-ground.ts';
import { TestHub, until } from './test-hub.ts';

/** Waits for the notice that a message was not read. */
const notices = (agent: TestAgent) =>
  until(async () => {
    const read = await agent.read();
    return read.length > 0 && read;
  });

it('a sender is told once that a message that wants an answer was not read', async () => {
  await using hub = await TestHub.start({ config: '[mail]\nunread_alert = "1ms"\n' });
  const [ann, ben] = [await register(hub, 'ann'), await register(hub, 'ben')];
  const { message_id } = await ann.call('mail:send', { to_agent_name: 'ben', subject: 'Look', body: 'x' });
  const [notice, ...more] = await notices(ann);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    from: 'hub',
    trust: 'hub',
    kind: 'notice',
    need_reply: false,
    subject: 'Not read yet',
  });
  expect(notice?.body).toContain(`ben has not read ${message_id} (Look) yet`);
  // The next one comes after all that was due before it, and nothing was.
  const second = await ann.call('mail:send', { to_agent_name: 'ben', body: 'y' });
  const [only, ...others] = await notices(ann);
  expect(only?.body).toContain(second.message_id);
  expect(others).toEqual([]);
  expect(await ben.read()).toHaveLength(2);
});

it('is told so also by the hub after the one that was killed, and not of what was read or wants no answer', async () => {
  await using hub = await TestHub.start({ config: '[mail]\nunread_alert = "1h"\n' });
  const [ann, ben] = [await register(hub, 'ann'), await register(hub, 'ben')];
  await ann.call('mail:send', { to_agent_name: 'ben', body: 'read in time' });
  expect(bodies(await ben.read())).toEqual(['read in time']);
  await ann.call('mail:send', { to_agent_name: 'ben', body: 'wants nothing', need_reply: false });
  await ann.call('mail:broadcast', { body: 'to all' });
  const { message_id } = await ann.call('mail:send', { to_agent_name: 'ben', body: 'stays' });
  await hub.kill('SIGKILL');
  letTimePass(hub);
  await hub.start();
  const [notice, ...more] = await notices(ann);
  expect(notice?.body).toContain(message_id);
  expect(more).toEqual([]);
  await hub.kill('SIGKILL');
  letTimePass(hub);
  await hub.start();
  // Whatever was left would be told before this.
  const last = await ann.call('mail:send', { to_agent_name: 'ben', body: 'more' });
  await hub.kill('SIGKILL');
  letTimePass(hub);
  await hub.start();
  const rest = await notices(ann);
  expect(rest.map(({ body }) => body.includes(last.message_id))).toEqual([true]);
}, 120_000);

/** What was to happen within the hour is due when the next hub starts. */
function letTimePass({ dir }: TestHub): void {
  const db = new Database(join(dir, 'hub.db'));
  db.exec(`UPDATE outbox SET due_at = 0 WHERE kind = 'unread-alert'`);
  db.close();
}
