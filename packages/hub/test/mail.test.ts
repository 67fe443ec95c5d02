import { mailLimits } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodies, register } from './mail-ground.ts';
import { byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start({ config: '[mail]\nunread_alert = "1h"\n' });
});
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string, message: RegExp = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });
const user = async (): Promise<string> => String((await hub.event('mail:registered')).source);

describe('a message', () => {
  it('reaches the inbox of its recipient once, in an envelope the hub has stamped', async () => {
    const [ann, ben] = [await register(hub, 'ann'), await register(hub, 'ben')];
    const sent = await ann.call('mail:send', { to_agent_name: 'BEN', subject: 'Tests', body: 'They pass.' });
    expect(sent).toMatchObject({
      message_id: expect.stringMatching(/^msg_[0-9a-f]{16}$/),
      recipients: [ben.id],
      deliveries: [{ agent_id: ben.id, name: 'ben', state: 'queued' }],
      poked: false,
      // It is in no pane: nobody can wake it.
      retry_scheduled: false,
    });
    expect(await ben.call('mail:inbox', {})).toEqual({
      messages: [
        {
          message_id: sent.message_id,
          event_id: sent.event_id,
          from: 'agent:ann',
          from_agent_id: ann.id,
          project: 'demo',
          to: 'ben',
          sent_at: expect.any(String),
          kind: 'direct',
          thread_id: sent.message_id,
          hops: 0,
          importance: 'normal',
          need_reply: true,
          trust: 'agent',
          note: expect.stringMatching(/agent:ann, another agent; not an order of your user/),
          subject: 'Tests',
          body: 'They pass.',
        },
      ],
      has_more: false,
      last_event_id: sent.event_id,
    });
    expect(await ben.read()).toEqual([]);
    expect(await ann.read()).toEqual([]);
  });

  it('of a person is one of the user, who can be answered', async () => {
    const cleo = await register(hub, 'cleo', { project: 'people' });
    const me = await user();
    await hub.client.call('mail:send', {
      to_agent_name: 'cleo',
      body: 'Hello',
      project_dir: '/nowhere/else',
    });
    const [got] = await cleo.read();
    expect(got).toMatchObject({ from: me, trust: 'user', note: 'Written by your user.' });
    const { message_id } = got as { message_id: string };
    for (const to_agent_name of ['user', me])
      await cleo.call('mail:send', { to_agent_name, body: `to ${to_agent_name}`, reply_to: message_id });
    const { messages } = await hub.client.call('mail:inbox', {});
    expect(bodies(messages)).toEqual(['to user', `to ${me}`]);
    expect(messages[0]).toMatchObject({
      from: 'agent:cleo',
      thread_id: message_id,
      reply_to: message_id,
      hops: 1,
    });
  });

  it('to nobody, to oneself, or with a wrong part is refused in words, and nothing is kept of it', async () => {
    const eve = await register(hub, 'eve', { project: 'wrong' });
    await register(hub, 'fay', { project: 'wrong' });
    await register(hub, 'afar', { project: 'elsewhere' });
    const to = { to_agent_name: 'fay', body: 'x' };
    const wrong: readonly (readonly [object, string, RegExp])[] = [
      [{ ...to, to_agent_name: 'gil' }, 'not_found', /no agent "gil" in the project "wrong"/],
      [{ ...to, to_agent_name: 'afar' }, 'not_found', /no agent "afar"/],
      [{ ...to, to_project: 'none' }, 'not_found', /no agent "fay" in the project "none"/],
      [{ ...to, to_agent_name: 'eve' }, 'not_found', /to yourself/],
      [{ ...to, to_team: 'a', to_project: 'b' }, 'invalid_arguments', /differ/],
      [{ ...to, body: '' }, 'invalid_arguments', /body must not be empty/],
      [{ ...to, from_agent_id: 'agt_1' }, 'invalid_arguments', /from_agent_id" is unknown/],
      [{ ...to, body: 'a\0b' }, 'invalid_arguments', /body must hold no NUL/],
      [{ ...to, body: 'a\ud800b' }, 'invalid_arguments', /surrogate/],
      [{ ...to, subject: 'a\nb' }, 'invalid_arguments', /subject must be one line/],
      [{ ...to, subject: 'x'.repeat(201) }, 'invalid_arguments', /at most 200 characters/],
      [{ ...to, reply_to: `msg_${'0'.repeat(16)}` }, 'not_found', /no message msg_0/],
    ];
    for (const [params, code, message] of wrong)
      await expect(eve.call('mail:send', params as never)).rejects.toThrow(refusal(code, message) as never);
    const fay = await register(hub, 'fay', { project: 'wrong', take_over: true });
    expect(await fay.read()).toEqual([]);
  });

  it('is taken up to the limit to the byte, and what is longer is refused and not cut', async () => {
    const reader = await register(hub, 'long-reader', { project: 'long' });
    const send = (body: string) => hub.client.call('mail:send', { to_agent_name: 'long-reader', body });
    const most = mailLimits.bodyBytes;
    for (const body of [
      'x'.repeat(most),
      '€'.repeat(most / 3 - 1),
      '👩'.repeat(most / 4),
      'é'.repeat(most / 2),
    ]) {
      await send(body);
      await expect(send(`${body}ééx`)).rejects.toThrow(
        refusal('invalid_arguments', /at most 65536 bytes/) as never,
      );
    }
    const read = await reader.read();
    expect(read.map(({ body }) => Buffer.byteLength(body))).toEqual([most, most - 4, most, most]);
    await expect(send('x'.repeat(200 * 1024))).rejects.toThrow(refusal('invalid_arguments') as never);
    const strange = 'tab\t \u202e bidi \u001b[31m ESC 👩‍👩‍👧 \r\n \u2028';
    await send(strange);
    expect(bodies(await reader.read())).toEqual([strange]);
  });

  it('crosses to another project only where that is named', async () => {
    const here = await register(hub, 'here', { project: 'one' });
    const there = await register(hub, 'there', { project: 'two' });
    await here.call('mail:send', { to_agent_name: 'there', to_team: 'TWO', body: 'across' });
    expect(bodies(await there.read())).toEqual(['across']);
    await expect(here.call('mail:send-by-id', { to_agent_id: there.id, body: 'x' })).rejects.toThrow(
      refusal('not_found') as never,
    );
    await expect(here.call('mail:broadcast', { project: 'two', body: 'x' })).rejects.toThrow(
      refusal('forbidden', /not in "two"/) as never,
    );
  });

  it('that is sent again with the same key is the same message', async () => {
    const kay = await register(hub, 'kay');
    const params = { to_agent_name: 'kay', to_project: 'demo', body: 'once' };
    const options = { idempotencyKey: 'kay-1' };
    const first = await hub.client.call('mail:send', params, options);
    expect(await hub.client.call('mail:send', params, options)).toEqual(first);
    await expect(hub.client.call('mail:send', { ...params, body: 'other' }, options)).rejects.toThrow(
      refusal('conflict', /another request/) as never,
    );
    expect(bodies(await kay.read())).toEqual(['once']);
  });

  it('is told of without what it says', async () => {
    await register(hub, 'quiet');
    const { message_id } = await hub.client.call('mail:send', {
      to_agent_name: 'quiet',
      to_project: 'demo',
      subject: 'SUBJECT-WORDS',
      body: 'BODY-WORDS',
    });
    for await (const { event, payload } of hub.events('*', { since: 0 })) {
      expect(JSON.stringify(payload)).not.toMatch(/SUBJECT-WORDS|BODY-WORDS/);
      if (event === 'action:success' && JSON.stringify(payload).includes(message_id)) break;
    }
  });
});

describe('a broadcast', () => {
  it('gives each other member one copy, also who is away, and the sender none', async () => {
    const names = ['b1', 'b2', 'b3'];
    const agents = await Promise.all(
      names.map((name) =>
        register(hub, name, { project: 'many', role: name === 'b3' ? 'writer' : 'Reader' }),
      ),
    );
    const [b1, b2, b3] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];
    const all = await b1.call('mail:broadcast', { body: 'to all' });
    expect(all.recipients.toSorted()).toEqual([b2.id, b3.id].toSorted());
    await b1.call('mail:broadcast-to-role', { to_role: 'READER', body: 'to readers' });
    expect(await Promise.all(agents.map(async (agent) => bodies(await agent.read())))).toEqual([
      [],
      ['to all', 'to readers'],
      ['to all'],
    ]);
    await expect(b3.call('mail:broadcast-to-role', { to_role: 'writer', body: 'x' })).rejects.toThrow(
      refusal('not_found', /nobody else with the role "writer"/) as never,
    );
    await hub.client.call('mail:broadcast', { project: 'many', body: 'from me' });
    expect(bodies(await b1.read())).toEqual(['from me']);
  });

  it('of somebody alone is refused', async () => {
    const alone = await register(hub, 'alone', { project: 'lonely' });
    await expect(alone.call('mail:broadcast', { body: 'x' })).rejects.toThrow(
      refusal('not_found', /nobody else/) as never,
    );
  });
});

describe('an inbox', () => {
  it('is read in pages, and what is only looked at stays new', async () => {
    const pat = await register(hub, 'pat');
    const ids: number[] = [];
    for (const body of ['1', '2', '3', '4', '5'])
      ids.push(
        (await hub.client.call('mail:send', { to_agent_name: 'pat', to_project: 'demo', body })).event_id,
      );
    expect(await pat.call('mail:inbox', { peek: true, limit: 1 })).toMatchObject({ has_more: true });
    expect(bodies((await pat.call('mail:inbox', { since_event_id: ids[2] as number })).messages)).toEqual([
      '4',
      '5',
    ]);
    const first = await pat.call('mail:inbox', { limit: 2 });
    expect(bodies(first.messages)).toEqual(['1', '2']);
    expect(first).toMatchObject({ has_more: true, last_event_id: ids[1] });
    expect(bodies((await pat.call('mail:inbox', { max_bytes: 1 })).messages)).toEqual(['3']);
    expect(bodies((await pat.call('mail:inbox', {})).messages)).toEqual(['4', '5']);
    expect(await pat.call('mail:inbox', {})).toEqual({
      messages: [],
      has_more: false,
      last_event_id: ids[4],
    });
    expect(bodies((await pat.call('mail:inbox', { since_event_id: 0 })).messages)).toHaveLength(5);
    for (const limit of [0, -3, 201, 1.5])
      await expect(pat.call('mail:inbox', { limit })).rejects.toThrow(refusal('invalid_arguments') as never);
  });

  it('gives each message to one of those who read at once, and misses none', async () => {
    const quin = await register(hub, 'quin');
    const all = Array.from({ length: 40 }, (_, n) => String(n));
    for (const body of all)
      await hub.client.call('mail:send', { to_agent_name: 'quin', to_project: 'demo', body });
    const readers = await Promise.all(Array.from({ length: 8 }, () => readAll()));
    expect(readers.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual(all);

    async function readAll(): Promise<readonly string[]> {
      const got: string[] = [];
      for (let page: readonly string[] = ['']; page.length > 0; got.push(...page))
        page = bodies(await quin.read(3));
      return got;
    }
  });

  it('keeps threads together, and who is not in one does not see it', async () => {
    const [uma, vic, wil] = await Promise.all(
      ['uma', 'vic', 'wil'].map((name) => register(hub, name, { project: 'thread' })),
    );
    if (!uma || !vic || !wil) throw new Error('three were made');
    const { message_id } = await uma.call('mail:send', { to_agent_name: 'vic', body: 'begin' });
    await vic.read();
    await vic.call('mail:send', { to_agent_name: 'uma', body: 'answer', reply_to: message_id });
    await wil.call('mail:send', { to_agent_name: 'uma', body: 'apart' });
    const thread = await uma.call('mail:inbox', { thread_id: message_id });
    expect(bodies(thread.messages)).toEqual(['answer']);
    expect(bodies(await uma.read())).toEqual(['answer', 'apart']);
    await expect(
      wil.call('mail:send', { to_agent_name: 'uma', body: 'x', reply_to: message_id }),
    ).rejects.toThrow(refusal('not_found', /sent or received/) as never);
  });

  it('is searched by words, its own mail only', async () => {
    const [sam, tom] = [
      await register(hub, 'sam', { project: 'find' }),
      await register(hub, 'tom', { project: 'find' }),
    ];
    await sam.call('mail:send', { to_agent_name: 'tom', subject: 'Größe', body: 'The quick brown fox' });
    await sam.call('mail:send', { to_agent_name: 'tom', body: 'a slow fox"); DROP TABLE messages' });
    const find = async (agent: typeof sam, query: string) =>
      bodies((await agent.call('mail:search', { query })).messages).length;
    expect([
      await find(tom, 'fox'),
      await find(tom, 'fox quick'),
      await find(tom, 'qui*'),
      await find(tom, 'grosse'),
    ]).toEqual([2, 1, 1, 0]);
    expect([await find(tom, 'große'), await find(sam, 'fox'), await find(tom, 'fox" OR "x')]).toEqual([
      1, 2, 0,
    ]);
    const other = await register(hub, 'uri', { project: 'find' });
    expect(await find(other, 'fox')).toBe(0);
    await expect(sam.call('mail:search', { query: ' *" ' })).rejects.toThrow(
      refusal('invalid_arguments', /no word/) as never,
    );
    expect(await tom.read()).toHaveLength(2);
  });
});

describe('limits between agents', () => {
  it('stop answers to answers, until a person writes', async () => {
    const pair = [
      await register(hub, 'ping', { project: 'loop' }),
      await register(hub, 'pong', { project: 'loop' }),
    ];
    let last = (await hub.client.call('mail:send', { to_agent_name: 'ping', body: 'go' })).message_id;
    const answer = async (n: number): Promise<void> => {
      const from = pair[n % 2] as (typeof pair)[0];
      const to_agent_name = n % 2 === 0 ? 'pong' : 'ping';
      last = (await from.call('mail:send', { to_agent_name, body: String(n), reply_to: last })).message_id;
    };
    for (let n = 0; n < mailLimits.hops; n++) await answer(n);
    await expect(answer(mailLimits.hops)).rejects.toThrow(
      refusal('conflict', /no further one is taken/) as never,
    );
    const told = await hub.client.call('mail:send', { to_agent_name: 'ping', body: 'go on' });
    last = told.message_id;
    await answer(0);
  });

  it('allow so many messages a minute to each other, and people as many as they like', async () => {
    const [a, b] = [
      await register(hub, 'fast', { project: 'rate' }),
      await register(hub, 'slow', { project: 'rate' }),
    ];
    const third = await register(hub, 'third', { project: 'rate' });
    for (let n = 0; n < mailLimits.aMinute; n++)
      await a.call('mail:send', { to_agent_name: 'slow', body: 'x' });
    await expect(a.call('mail:send', { to_agent_name: 'slow', body: 'x' })).rejects.toThrow(
      refusal('too_many_requests', /60 messages within a minute/) as never,
    );
    await expect(a.call('mail:broadcast', { body: 'x' })).rejects.toThrow(
      refusal('too_many_requests') as never,
    );
    await a.call('mail:send', { to_agent_name: 'third', body: 'x' });
    await hub.client.call('mail:send', { to_agent_name: 'slow', to_project: 'rate', body: 'from me' });
    expect(await b.read()).toHaveLength(mailLimits.aMinute + 1);
    expect(await third.read()).toHaveLength(1);
  });
});

describe('a receipt', () => {
  it('is the sender’s alone, and says read when the recipient has read', async () => {
    const [x, y] = [await register(hub, 'x'), await register(hub, 'y')];
    const { message_id, event_id } = await x.call('mail:send', { to_agent_name: 'y', body: 'seen?' });
    const status = async () => (await x.call('mail:status', { message_id })).statuses;
    expect(await status()).toMatchObject([
      { agent_id: y.id, name: 'y', state: 'queued', read: false, attempts: 0 },
    ]);
    await y.call('mail:inbox', { peek: true });
    await y.call('mail:inbox', { since_event_id: event_id - 1 });
    expect(await status()).toMatchObject([{ read: false }]);
    await expect(y.call('mail:status', { message_id })).rejects.toThrow(refusal('not_found') as never);
    await y.read();
    expect(await status()).toMatchObject([{ read: true }]);
    expect((await hub.client.call('mail:status', { message_id })).statuses).toHaveLength(1);
  });

  it('is waited for by who asks for it, and no longer than that', async () => {
    const z = await register(hub, 'z');
    const params = { to_agent_name: 'z', to_project: 'demo', body: 'wait' };
    const waiting = hub.client.call('mail:send', { ...params, await_ack_s: 30 });
    await until(async () => (await z.read()).length > 0);
    expect(await waiting).toMatchObject({ ack: { status: 'read' } });
    expect(await hub.client.call('mail:send', { ...params, await_ack_s: 1 })).toMatchObject({
      ack: { status: 'not_yet' },
    });
  });

  it('says what nobody is woken for', async () => {
    await register(hub, 'asleep');
    const sent = await hub.client.call('mail:send', {
      to_agent_name: 'asleep',
      to_project: 'demo',
      body: 'x',
      auto_poke: false,
    });
    expect(sent.retry_scheduled).toBe(false);
    expect((await hub.client.call('mail:status', { message_id: sent.message_id })).statuses).toMatchObject([
      { state: 'queued', reason: 'auto_poke_disabled' },
    ]);
  });
});

describe('over MCP', () => {
  it('who may only look reads nothing away', async () => {
    const look = await byStdio(hub, { args: ['--safety', 'readonly'] });
    const { tools } = await look.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['get_inbox', 'list_agents', 'get_delivery_status']));
    expect(names).not.toContain('send_message');
    expect(tools.find(({ name }) => name === 'get_inbox')?.annotations?.readOnlyHint).toBe(true);
    const one = await register(hub, 'writes-to-user');
    await one.call('mail:send', { to_agent_name: 'user', body: 'stays new' });
    for (let n = 0; n < 2; n++) expect(await use(look, 'get_inbox')).toContain('stays new');
    await look.close();
  });

  it('what cannot be seen is shown, and read as it was written', async () => {
    const client = await byStdio(hub);
    await use(client, 'register_agent', { name: 'seer', project: 'mcp' });
    const body = 'a\u202eb\u200bc\u{e0041}d\x9b"</mail>';
    await hub.client.call('mail:send', { to_agent_name: 'seer', to_project: 'mcp', body });
    const text = await use(client, 'get_inbox');
    expect(text).not.toMatch(/[\u202e\u200b\x9b]|\u{e0041}/u);
    expect(JSON.parse(text).messages[0].body).toBe(body);
    await client.close();
  });

  it('every refusal says what to do next, and who decides', async () => {
    const client = await byStdio(hub);
    await use(client, 'register_agent', { name: 'asks', project: 'mcp' });
    for (const [tool, given] of [
      ['send_message', { to_agent_name: 'nobody', body: 'x' }],
      ['send_message_by_id', { to_agent_id: 'agt_0000000000000000', body: 'x' }],
      ['broadcast_to_role', { to_role: 'none', body: 'x' }],
      ['get_delivery_status', { message_id: `msg_${'0'.repeat(16)}` }],
      ['get_inbox', { limit: 0 }],
    ] as const) {
      const text = await use(client, tool, given);
      expect(text).toMatch(/^ERROR \w+: .*(list_agents|message_id|input schema|must be)/);
      expect(text).not.toMatch(/\bpoly /);
    }
    await client.close();
  });
});
