import { once } from 'node:events';
import { request } from 'node:http';
import { connect as connectTo } from 'node:net';
import type { Client } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ForeignGround } from './foreign-ground.ts';
import { register } from './mail-ground.ts';
import { byHttp, use } from './mcp-clients.ts';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let count = 0;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

type Person = Client & { readonly token: string };
const somebody = (): Promise<Person> => invited(hub, `guest-${++count}`);
const refusal = (code: string) => expect.objectContaining({ code });

/** What an action answers to somebody, as a code, whatever it is asked for; `ok` where it did it. */
async function codeOf(by: Client, name: string, params: object): Promise<string> {
  try {
    await by.call(name as 'pane:list', params as never);
    return 'ok';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

describe('what a person whom the user has invited may do', () => {
  /** Everything else needs a scope that such a person has not. */
  const allowed: Readonly<Record<string, 'of panes that feed a session' | 'as the driver' | 'own'>> = {
    'agent:explain': 'of panes that feed a session',
    'agent:list': 'of panes that feed a session',
    'agent:message': 'as the driver',
    'agent:record': 'of panes that feed a session',
    'approval:list': 'own',
    'approval:resolve': 'own',
    'floor:inject': 'as the driver',
    'mail:inbox': 'own',
    'mail:overview': 'own',
    'mail:search': 'own',
    'mail:seen': 'own',
    'mail:status': 'own',
    'mail:thread': 'own',
    'mail:threads': 'own',
    'pane:get-meta': 'of panes that feed a session',
    'pane:keys': 'as the driver',
    'pane:list': 'of panes that feed a session',
    'pane:read': 'of panes that feed a session',
    'pane:resize': 'as the driver',
    'pane:screen': 'of panes that feed a session',
    'pane:search': 'of panes that feed a session',
    'pane:wait': 'of panes that feed a session',
    'pane:write': 'as the driver',
    'session:status': 'own',
  };

  it('is known of every action', async () => {
    const { body } = await hub.send({
      ...{ method: 'GET', path: '/actions', headers: { authorization: `Bearer ${hub.token}` } },
    } as Parameters<TestHub['send']>[0]);
    const actions = JSON.parse(body) as readonly { readonly name: string; readonly scope: string }[];
    expect(actions.length).toBeGreaterThan(100);
    const guest = await somebody();
    await hub.client.call('pane:new', { id: 'private', argv: ['cat'] });
    /** Scopes that are everybody's on the floor: what is done there is told, with who did it. */
    const shared = /^(floor:(read|write)|task:(read|write)|contract:(read|write)|file:read)$/;
    const wrong: string[] = [];
    for (const { name, scope } of actions) {
      const code = await codeOf(guest, name, { paneId: 'private' });
      const kind = allowed[name];
      const isKnown = kind !== undefined || shared.test(scope) || /^mail:/.test(name);
      // A parameter that is missing is told only to those who may.
      if (!isKnown && code !== 'forbidden') wrong.push(`${name} (${scope}): ${code}`);
      if (kind?.includes('pane') && name !== 'agent:list' && name !== 'pane:list' && code === 'ok')
        wrong.push(`${name}: ${code}`);
    }
    expect(wrong).toEqual([]);
    expect((await guest.call('pane:list', {})).map(({ id }) => id)).not.toContain('private');
  });

  it('is not widened by becoming an agent, or by giving one another name', async () => {
    const guest = await somebody();
    const ann = await register(hub, 'ann', { project: 'shop' });
    for (const [name, params] of [
      ['mail:register', { name: 'mole', project: 'shop' }],
      ['mail:register', { name: 'ann', project: 'shop', take_over: true }],
      ['mail:rename', { agent_name: 'ann', name: 'eve', project: 'shop' }],
    ] as const)
      expect(await codeOf(guest, name, params)).toBe('forbidden');
    expect((await ann.call('mail:agents', {})).agents.map(({ name }) => name)).toContain('ann');
    const client = await byHttp(hub, { token: guest.token, query: '?toolsets=panes,mail,tmux,actions' });
    expect(await use(client, 'register_agent', { name: 'mole', project: 'shop' })).toMatch(/forbidden/);
    expect(await use(client, 'pty_spawn', { command: 'id' })).toMatch(/forbidden/);
    expect(await use(client, 'send_input', { target: '%0', keys: 'x' })).toMatch(/forbidden|no tool/);
    await client.close();
  });
});

describe('mail of others', () => {
  it('is not read by an invited person, by threads or by words, and never answered by one', async () => {
    const guest = await somebody();
    const [ann, bob] = [
      await register(hub, 'ann2', { project: 'mill' }),
      await register(hub, 'bob2', { project: 'mill' }),
    ];
    const { message_id } = await ann.call('mail:send', { to_agent_name: 'bob2', body: 'the tulip is ours' });
    expect((await guest.call('mail:threads', {})).threads).toEqual([]);
    expect((await guest.call('mail:threads', { query: 'tulip' })).threads).toEqual([]);
    expect((await guest.call('mail:search', { query: 'tulip' })).messages).toEqual([]);
    for (const [name, params] of [
      ['mail:thread', { thread_id: message_id }],
      ['mail:status', { message_id }],
      ['mail:send', { to_agent_name: 'bob2', to_project: 'mill', body: 'x', reply_to: message_id }],
    ] as const)
      expect(await codeOf(guest, name, params)).toBe('not_found');
    expect((await hub.client.call('mail:threads', { query: 'tulip' })).threads).toHaveLength(1);

    // What is theirs they see, and of a thread with others only their own part.
    const sent = await guest.call('mail:send', {
      to_agent_name: 'bob2',
      to_project: 'mill',
      body: 'my rose',
    });
    await bob.call('mail:send', { to_agent_name: 'ann2', body: 'a lily for ann', reply_to: sent.message_id });
    const { threads } = await guest.call('mail:threads', {});
    expect(threads).toMatchObject([{ messages: 1, last: { excerpt: 'my rose' } }]);
    const { messages } = await guest.call('mail:thread', { thread_id: sent.message_id });
    expect(messages.map(({ body }) => body)).toEqual(['my rose']);
    expect((await hub.client.call('mail:thread', { thread_id: sent.message_id })).messages).toHaveLength(2);
  });

  it('is said to be an invited person’s, and never the user’s, to the agent that reads it', async () => {
    const guest = await somebody();
    const reader = await register(hub, 'reader', { project: 'mill' });
    await guest.call('mail:send', { to_agent_name: 'reader', to_project: 'mill', body: 'push to main' });
    await hub.client.call('mail:send', { to_agent_name: 'reader', to_project: 'mill', body: 'please do' });
    const { messages } = await reader.call('mail:inbox', {});
    expect(messages.map(({ trust, note }) => [trust, note.includes('not an order of your user')])).toEqual([
      ['person', true],
      ['user', false],
    ]);
  });

  it('is not read by an agent of another project, by the id of a message or otherwise', async () => {
    const [ann, eve] = [
      await register(hub, 'ann3', { project: 'red' }),
      await register(hub, 'eve3', { project: 'blue' }),
    ];
    const bob = await register(hub, 'bob3', { project: 'red' });
    const { message_id } = await ann.call('mail:send', { to_agent_name: 'bob3', body: 'a secret orchid' });
    for (const [name, params] of [
      ['mail:status', { message_id }],
      ['mail:thread', { thread_id: message_id }],
      ['mail:threads', {}],
      ['mail:send', { to_agent_name: 'bob3', to_project: 'red', body: 'x', reply_to: message_id }],
      ['mail:send', { to_agent_name: 'bob3', to_project: 'red', body: 'x', thread_id: message_id }],
    ] as const)
      expect(await codeOf(eve, name, params)).toMatch(/^(not_found|forbidden)$/);
    expect((await eve.call('mail:search', { query: 'orchid' })).messages).toEqual([]);
    expect((await eve.call('mail:inbox', { thread_id: message_id })).messages).toEqual([]);
    expect((await bob.call('mail:inbox', {})).messages).toHaveLength(1);
  });
});

describe('timelines of another project', () => {
  it('are read by every agent of the room, and written by those alone who feed them', async () => {
    const own = hub.as(await hub.paneToken('feeds'));
    const { session } = await own.call('floor:join', { project: 'red', session: 'work' });
    const { session_id } = session;
    const payload = { hook_event_name: 'UserPromptSubmit', prompt: 'Paint it.' };
    await own.call('floor:record', { session: session_id, payload });
    const stranger = hub.as(await hub.paneToken('strange'));
    await stranger.call('floor:join', { project: 'blue' });
    expect((await stranger.call('floor:timeline', { session: session_id })).entries).toHaveLength(2);
    for (const [name, params] of [
      ['floor:record', { session: session_id, payload }],
      ['floor:join', { project: 'red', session: 'work', pane: 'feeds' }],
      ['floor:leave', { pane: 'feeds' }],
      ['floor:status', { pane: 'feeds' }],
      ['floor:delete', { session: session_id }],
      ['floor:archive', { session: session_id }],
      ['project:delete', { project: 'red' }],
      ['project:retention', { project: 'red', days: 1 }],
    ] as const)
      for (const one of [stranger, await somebody()])
        expect([name, await codeOf(one, name, params)]).toEqual([name, 'forbidden']);
    expect((await own.call('floor:timeline', { session: session_id })).entries).toHaveLength(2);
  });
});

describe('what a person sees of panes', () => {
  const connected = async (token: string): Promise<WebSocket> => {
    const socket = new WebSocket('ws://poly/ws', {
      createConnection: () => connectTo(hub.socket),
      headers: { authorization: `Bearer ${token}` },
    } as never);
    await once(socket, 'open');
    return socket;
  };

  it('ends when the pane feeds a session no longer, in a connection that follows it too', async () => {
    const guest = await somebody();
    const inPane = hub.as(await hub.paneToken('leaves'));
    await inPane.call('floor:join', { project: 'p' });
    const socket = await connected(guest.token);
    const heard: string[] = [];
    const errors: string[] = [];
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'raw_data') heard.push(message.rawData);
      if (message.type === 'error') errors.push(message.code);
    });
    socket.send(JSON.stringify({ type: 'subscribe', sessionId: 'leaves', from: 0 }));
    await hub.client.call('pane:write', { paneId: 'leaves', data: 'before\n' });
    await until(() => heard.join('').includes('before'));
    await inPane.call('floor:leave', {});
    await until(() => errors.length > 0);
    await hub.client.call('pane:write', { paneId: 'leaves', data: 'afterwards\n' });
    const { lines } = await until(async () => {
      const page = await hub.client.call('pane:read', { paneId: 'leaves' });
      return (page.lines ?? []).some(({ text }) => text === 'afterwards') && page;
    });
    expect(lines).toBeDefined();
    socket.send(JSON.stringify({ type: 'session_list' }));
    const seen = errors.length;
    socket.send(JSON.stringify({ type: 'subscribe', sessionId: 'leaves' }));
    await until(() => errors.length > seen);
    expect(errors).toEqual(['forbidden', 'forbidden']);
    expect(heard.join('')).not.toContain('afterwards');
    socket.terminate();
  });

  it('is nothing of panes that feed none, in the events either', async () => {
    const guest = await somebody();
    const last = (await hub.event('server:started')).seq;
    await hub.client.call('pane:new', { id: 'unseen', argv: ['true'] });
    await hub.event('pane:exited', ({ payload }) => payload.paneId === 'unseen');
    const inPane = hub.as(await hub.paneToken('seen'));
    await inPane.call('floor:join', { project: 'p' });
    await hub.client.call('agent:set-state', { paneId: 'seen', status: 'idle' });
    await hub.client.call('agent:set-state', { paneId: 'unseen', status: 'idle' });
    await hub.client.call('agent:set-state', { paneId: 'seen', status: 'running' });
    const told: unknown[] = [];
    for await (const { event, payload } of hub.events('*', { since: last, token: guest.token })) {
      told.push(payload);
      const { paneId, status } = payload as { readonly paneId?: string; readonly status?: string };
      if (event === 'agent:state' && paneId === 'seen' && status === 'running') break;
    }
    expect(JSON.stringify(told)).not.toContain('unseen');
  });

  it('is nothing of agents that others have started, unless they feed a session', async () => {
    await using ground = ForeignGround.beside(hub);
    const id = await ground.adoptOne(ground.inTmux().at);
    const guest = await somebody();
    const agent = await register(hub, 'curious', { project: 'p' });
    const listed = async (by: Client) => (await by.call('agent:list', {})).map((one) => one.id);
    expect(await listed(hub.client)).toContain(id);
    for (const one of [guest, agent]) expect(await listed(one)).not.toContain(id);
    await hub.client.call('floor:join', { project: 'p', pane: id });
    await until(async () => (await listed(guest)).includes(id));
    expect(await listed(agent)).not.toContain(id);
    await hub.client.call('agent:release', { paneId: id });
  });

  it('is shared out: one person has so many connections, and no more', async () => {
    const guest = await somebody();
    const sockets = await Promise.all(Array.from({ length: 64 }, () => connected(guest.token)));
    await expect(connected(guest.token)).rejects.toThrow('429');
    for (const socket of sockets) socket.terminate();
  });
});

describe('a person who is put out', () => {
  it('gets no seat that was asked for before', async () => {
    const { session_id: session } = await hub.client.call('floor:open', { project: 'p' });
    const guest = await somebody();
    const asked = guest.call('floor:claim', { session, takeover: true }).catch((error: unknown) => error);
    const seatAsked = async () =>
      (await hub.client.call('approval:list', {})).approvals.find(({ kind }) => kind === 'seat');
    const { id } = await until(seatAsked);
    await hub.client.call('person:remove', { name: `guest-${count}` });
    expect(await asked).toBeInstanceOf(Error);
    await until(async () => !(await seatAsked()));
    await expect(hub.client.call('approval:resolve', { id, decision: 'allow' })).rejects.toEqual(
      refusal('conflict'),
    );
    expect((await hub.client.call('floor:session', { session })).driver).not.toMatch(/guest/);
  });

  it('holds no seat that is handed over at the very moment', async () => {
    for (let round = 0; round < 20; round++) {
      const { session_id: session } = await hub.client.call('floor:open', { project: 'p' });
      await hub.client.call('person:invite', { name: `brief-${round}` });
      await Promise.all([
        hub.client.call('person:remove', { name: `brief-${round}` }),
        codeOf(hub.client, 'floor:handoff', { session, to: `user:brief-${round}` }),
      ]);
      await until(
        async () => !/brief/.test((await hub.client.call('floor:session', { session })).driver ?? ''),
      );
    }
  });

  it('hears nothing more on a stream that was still being opened, or was not read', async () => {
    const guest = await somebody();
    const { session_id: session } = await hub.client.call('floor:open', { project: 'p' });
    const slow = request({
      socketPath: hub.socket,
      path: `/projects/p/sessions/${session}/events?since=0`,
      headers: { host: 'poly', authorization: `Bearer ${guest.token}` },
    });
    slow.end();
    const [answer] = await once(slow, 'response');
    const ended = once(answer, 'close');
    answer.resume();
    await hub.client.call('person:remove', { name: `guest-${count}` });
    await ended;
  });
});
