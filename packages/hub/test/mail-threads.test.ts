import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { threadsQuery } from '../src/mail/threads.ts';
import { migrations } from '../src/store/migrations.ts';
import { bodies, register } from './mail-ground.ts';
import { newGround } from './store-ground.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string, message: RegExp = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('threads', () => {
  it('show the user what agents write to each other, the newest first, and how far it has got', async () => {
    const [ada, bob] = [
      await register(hub, 'ada', { project: 'Größe' }),
      await register(hub, 'bob', { project: 'Größe' }),
    ];
    const begun = await ada.call('mail:send', { to_agent_name: 'bob', subject: 'Refunds', body: 'Twice?' });
    await ada.call('mail:send', { to_agent_name: 'bob', body: 'a thread apart' });
    await bob.call('mail:send', { to_agent_name: 'ada', body: 'Once now.', reply_to: begun.message_id });
    const list = (more: object = {}) => hub.client.call('mail:threads', { project: 'GRÖßE', ...more });
    const { threads, has_more } = await list();
    expect(threads).toMatchObject([
      {
        thread_id: begun.thread_id,
        project: 'Größe',
        subject: 'Refunds',
        from: 'agent:ada',
        to: 'bob',
        messages: 2,
        unread: 0,
        pending: 2,
        failed: 0,
        last: { from: 'agent:bob', excerpt: 'Once now.' },
      },
      { messages: 1, pending: 1, last: { excerpt: 'a thread apart' } },
    ]);
    expect(has_more).toBe(false);
    expect(threads[1]?.subject).toBeUndefined();
    expect(await list({ limit: 1 })).toMatchObject({ threads: [{ messages: 2 }], has_more: true });
    const before_event_id = threads[0]?.last.event_id ?? 0;
    expect(await list({ before_event_id })).toMatchObject({ threads: [{ messages: 1 }], has_more: false });
    expect((await list({ query: 'twice' })).threads).toHaveLength(1);
    expect((await list({ query: 'nowhere' })).threads).toEqual([]);
    expect((await list({ project: 'other' })).threads).toEqual([]);
    await bob.read();
    const { messages } = await hub.client.call('mail:thread', { thread_id: begun.thread_id });
    expect(messages).toMatchObject([
      { from: 'agent:ada', body: 'Twice?', statuses: [{ name: 'bob', state: 'seen', read: true }] },
      { from: 'agent:bob', body: 'Once now.', statuses: [{ name: 'ada', read: false }] },
    ]);
    expect((await list()).threads.map(({ pending }) => pending)).toEqual([1, 0]);
  });

  it('are read from their end back', async () => {
    await register(hub, 'long', { project: 'long' });
    const send = (body: string, more: object = {}) =>
      hub.client.call('mail:send', { to_agent_name: 'long', body, ...more });
    const { thread_id } = await send('1');
    for (const body of ['2', '3', '4', '5']) await send(body, { thread_id });
    const page = (more: object = {}) => hub.client.call('mail:thread', { thread_id, limit: 2, ...more });
    const last = await page();
    expect([bodies(last.messages), last.has_more]).toEqual([['4', '5'], true]);
    const before = await page({ before_event_id: last.messages[0]?.event_id });
    expect(bodies(before.messages)).toEqual(['2', '3']);
    const first = await page({ before_event_id: before.messages[0]?.event_id });
    expect([bodies(first.messages), first.has_more]).toEqual([['1'], false]);
    for (const n of [1, 2, 3, 4]) await send(`${n}${'x'.repeat(65_000)}`, { thread_id });
    expect((await page({ limit: 200 })).messages).toHaveLength(9);
    for (let n = 0; n < 16; n++) await send(`${n}${'x'.repeat(65_000)}`, { thread_id });
    expect(await page({ limit: 200 })).toMatchObject({ has_more: true });
    await expect(hub.client.call('mail:thread', { thread_id: `msg_${'0'.repeat(16)}` })).rejects.toThrow(
      refusal('not_found', /no thread msg_0/) as never,
    );
  });

  it('can be answered by the user also where two agents write', async () => {
    const [cat, dan] = [
      await register(hub, 'cat', { project: 'two' }),
      await register(hub, 'dan', { project: 'two' }),
    ];
    const { message_id } = await cat.call('mail:send', { to_agent_name: 'dan', body: 'Shall we?' });
    await hub.client.call('mail:send-by-id', {
      to_agent_id: cat.id,
      body: 'You shall.',
      reply_to: message_id,
    });
    expect(await cat.read()).toMatchObject([{ body: 'You shall.', thread_id: message_id, trust: 'user' }]);
    expect(bodies(await dan.read())).toEqual(['Shall we?']);
  });

  it('are for the user alone', async () => {
    const eve = await register(hub, 'eve');
    const asked = [
      ['mail:threads', {}],
      ['mail:thread', { thread_id: `msg_${'0'.repeat(16)}` }],
      ['mail:seen', { up_to_event_id: 1 }],
    ] as const;
    for (const [name, params] of asked)
      await expect(eve.call(name, params as never)).rejects.toThrow(refusal('forbidden') as never);
  });

  it('cost no more than a page of them, however many there are', async () => {
    await using ground = newGround();
    const store = await ground.open({ migrations });
    const plan = await store.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${threadsQuery()}`, [
      'a',
      1,
      9,
      5,
    ]);
    const details = plan.map(({ detail }) => detail);
    expect(details.filter((detail) => detail.startsWith('SCAN'))).toEqual([]);
    expect(details.join('\n')).not.toContain('TEMP B-TREE');
  });
});

describe('what the user has read in a thread', () => {
  it('is no longer new, is told to who wrote it, and never becomes new again', async () => {
    const fay = await register(hub, 'fay', { project: 'seen' });
    const send = (body: string) => fay.call('mail:send', { to_agent_name: 'user', body });
    const [one, two] = [await send('one'), await send('two')];
    const unread = async () => (await hub.client.call('mail:overview', {})).unread;
    const listed = async () =>
      (await hub.client.call('mail:threads', { project: 'seen' })).threads.map((thread) => thread.unread);
    expect([await unread(), await listed()]).toEqual([2, [1, 1]]);
    const seen = (up_to_event_id: number) => hub.client.call('mail:seen', { up_to_event_id });
    expect(await seen(one.event_id)).toEqual({ unread: 1 });
    expect([await unread(), await listed()]).toEqual([1, [1, 0]]);
    expect((await fay.call('mail:status', { message_id: one.message_id })).statuses).toMatchObject([
      { read: true },
    ]);
    await seen(two.event_id);
    expect(await seen(one.event_id)).toEqual({ unread: 0 });
    expect(await unread()).toBe(0);
    await hub.event('mail:read', ({ payload }) => payload.upTo === two.event_id);
    await expect(seen(two.event_id + 1)).rejects.toThrow(
      refusal('invalid_arguments', /no message \d+ yet/) as never,
    );
  });
});
