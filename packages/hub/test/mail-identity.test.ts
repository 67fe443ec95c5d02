import type { PolyError } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { byHttp, byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string, message: RegExp = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('a name', () => {
  const wrong = [
    ['empty', ''],
    ['blank', ' '],
    ['too long', 'a'.repeat(65)],
    ['with a line break', 'a\nb'],
    ['with ESC', 'a\x1bb'],
    ['with NUL', 'a\0b'],
    ['turned around', 'a\u202eb'],
    ['with a colon', 'a:b'],
    ['with a leading dash', '-a'],
    ['of 20 KiB', 'a'.repeat(20 * 1024)],
  ] as const;

  it.each(wrong)('that is %s is refused as the name of an agent, a role and a project', async (_, name) => {
    const params = { name: 'fine', project: 'names' };
    for (const given of [{ name }, { project: name }, { role: name }])
      await expect(hub.client.call('mail:register', { ...params, ...given })).rejects.toThrow(
        refusal('invalid_arguments', /must be 1-64 letters/) as never,
      );
    expect((await hub.client.call('mail:agents', { project: 'names' })).agents).toEqual([]);
  });

  it('may be one character, or as long as allowed, and is the same in any case and form', async () => {
    for (const name of ['a', 'b'.repeat(64), '0._-']) await register(hub, name, { project: 'Größe' });
    const again = await hub.client.call('mail:agents', { project: 'GRO\u0308ßE' });
    expect(again.agents.map(({ name }) => name)).toEqual(['0._-', 'a', 'b'.repeat(64)]);
    await expect(hub.client.call('mail:register', { name: 'A', project: 'größe' })).rejects.toThrow(
      refusal('conflict', /"a" in the project "Größe" is held/) as never,
    );
  });

  it('may be shown in any script, and nothing else', async () => {
    await register(hub, 'shown', { display_name: 'Ада 👩‍💻'.replace('\u200d', '') });
    for (const more of [{ model: 'm\u001b[2J' }, { capabilities: ['a\0'] }, { project_dir: '/\0' }])
      await expect(register(hub, 'other', more)).rejects.toMatchObject({ code: 'invalid_arguments' });
    for (const display_name of ['', ' ', 'a\nb', 'a\u202eb', 'x'.repeat(81)])
      await expect(register(hub, 'other', { display_name })).rejects.toThrow(
        refusal('invalid_arguments', /visible/) as never,
      );
  });

  it('and a role that belong to the hub cannot be taken', async () => {
    for (const given of [{ role: '__channel_proxy__' }, { role: 'System' }, { name: 'hub' }])
      await expect(
        hub.client.call('mail:register', { name: 'x', project: 'demo', ...given }),
      ).rejects.toThrow(refusal('forbidden', /belongs to the hub/) as never);
  });
});

describe('the project of an agent that names none', () => {
  it.each([
    ['/home/ada/Shop', 'shop'],
    ['/home/ada/Shop/', 'shop'],
    ['/', 'default'],
    ['/home/ada/Übung Eins', 'übung-eins'],
    ['/x/.hidden', 'hidden'],
    ['/x/---', 'default'],
  ])('in %s is %s', async (project_dir, project) => {
    const made = await hub.client.call('mail:register', {
      name: `of-${project.length}-${project_dir.length}`,
      project_dir,
    });
    expect(made).toMatchObject({ project, team: project });
  });

  it('is what it names, by either word, and both must agree', async () => {
    const name = 'named';
    const params = { name, project_dir: '/x/shop', team: 'Works' };
    expect(await hub.client.call('mail:register', params)).toMatchObject({ project: 'Works' });
    await expect(hub.client.call('mail:register', { ...params, project: 'other' })).rejects.toThrow(
      refusal('invalid_arguments', /differ/) as never,
    );
  });
});

describe('an agent', () => {
  it('is proved by the secret of its registration, which is kept only as a digest', async () => {
    const ada = await register(hub, 'ada');
    const again = await ada.call('mail:register', { name: 'ada', project: 'demo', role: 'tester' });
    expect(again).toMatchObject({ agent_id: ada.id, status: 'again' });
    expect(again.secret).toBeUndefined();
    expect((await ada.call('mail:agents', {})).agents.find(({ you }) => you)).toMatchObject({
      name: 'ada',
      role: 'tester',
    });
    for await (const { event, payload } of hub.events('*', { since: 0 })) {
      expect(JSON.stringify(payload)).not.toContain(ada.secret);
      if (event === 'mail:registered' && (payload as { how: string }).how === 'again') break;
    }
  });

  it('acts with its own rights, whoever can show its secret', async () => {
    const { call } = await register(hub, 'limited');
    await hub.client.call('pane:new', { id: 'of-user', argv: ['cat'] });
    expect(await call('pane:list', {})).toEqual([]);
    await expect(call('server:stop', {})).rejects.toThrow(refusal('forbidden') as never);
    const { id } = await call('pane:new', { argv: ['cat'] });
    expect((await call('pane:list', {})).map((pane) => pane.id)).toEqual([id]);
    await call('pane:close', { paneId: id });
  });

  it('that shows a secret becomes nobody else by it, in no other project either', async () => {
    const ivy = await register(hub, 'ivy');
    const elsewhere = { name: 'ivy', project: 'elsewhere' };
    const error: unknown = await hub.client
      .call('mail:register', { ...elsewhere, secret: ivy.secret })
      .catch((thrown: unknown) => thrown);
    expect((error as PolyError).info).toMatchObject({
      ...{ code: 'conflict', details: { reason: 'other_agent', agent_id: ivy.id } },
      hint: expect.stringContaining('"ivy" in "demo"'),
    });
    await expect(hub.client.call('mail:register', { ...elsewhere, secret: 'x'.repeat(43) })).rejects.toThrow(
      /proves no agent/,
    );
    expect(await hub.client.call('mail:agents', { project: 'elsewhere' })).toMatchObject({ agents: [] });
  });

  it('has its name for itself: another needs the secret, its pane or the word of the user', async () => {
    const bob = await register(hub, 'bob');
    const inPane = hub.as(await hub.paneToken('thief'));
    await expect(
      inPane.call('mail:register', { name: 'bob', project: 'demo', take_over: true }),
    ).rejects.toThrow(refusal('conflict', /held by agt_/) as never);
    await expect(
      inPane.call('mail:register', { name: 'bob', project: 'demo', secret: 'guessed', take_over: true }),
    ).rejects.toThrow(refusal('conflict') as never);
    expect(await bob.call('mail:inbox', {})).toMatchObject({ messages: [] });
    const taken = await inPane.call('mail:register', {
      name: 'bob',
      project: 'demo',
      secret: bob.secret,
      take_over: true,
    });
    expect(taken).toMatchObject({ agent_id: bob.id, status: 'taken-over' });
    await expect(bob.call('mail:inbox', {})).rejects.toThrow(refusal('unauthenticated') as never);
  });

  it('in a pane is known by the credential of that pane, and gone with its program', async () => {
    const client = hub.as(await hub.paneToken('of-carol'));
    await expect(client.call('mail:inbox', {})).rejects.toThrow(
      refusal('conflict', /not registered/) as never,
    );
    const { agent_id } = await client.call('mail:register', { name: 'carol', project: 'demo' });
    expect(await client.call('mail:reconnect', {})).toMatchObject({ status: 'reused', agent_id });
    const found = async () =>
      (await hub.client.call('mail:agents', { project: 'demo' })).agents.find(({ name }) => name === 'carol');
    expect(await found()).toMatchObject({ liveness: 'alive', online: true, pane: 'of-carol' });
    await hub.client.call('pane:close', { paneId: 'of-carol', cleanup: false });
    await until(async () => (await found())?.liveness === 'gone');
  });

  it('that has left can come back to the same mail', async () => {
    const dora = await register(hub, 'dora');
    await hub.client.call('mail:send', { to_agent_name: 'dora', to_project: 'demo', body: 'wait' });
    expect(await dora.call('mail:unregister', {})).toMatchObject({ ok: true, agent_id: dora.id });
    await expect(dora.call('mail:inbox', {})).rejects.toThrow(refusal('conflict', /has left/) as never);
    await expect(
      hub.client.call('mail:send', { to_agent_name: 'dora', to_project: 'demo', body: 'x' }),
    ).rejects.toThrow(refusal('not_found', /It has left/) as never);
    const again = await register(hub, 'dora', { secret: dora.secret });
    expect(again.id).toBe(dora.id);
    expect(await dora.read()).toHaveLength(1);
  });

  it('is listed without anything that proves it, a page at a time', async () => {
    for (const name of ['p1', 'p2', 'p3'])
      await register(hub, name, { project: 'paged', project_dir: '/secret/place' });
    const p4 = await register(hub, 'p4', { project: 'paged' });
    const first = await p4.call('mail:agents', { limit: 3 });
    expect(first).toMatchObject({ has_more: true, agents: [{ name: 'p1' }, { name: 'p2' }, { name: 'p3' }] });
    expect(await p4.call('mail:agents', { after: first.agents[2]?.agent_id })).toMatchObject({
      has_more: false,
      agents: [{ name: 'p4' }],
    });
    expect(JSON.stringify(first)).not.toMatch(/secret|place|pane|hash/);
    expect(first.agents[0]).toMatchObject({ liveness: 'unknown', online: false });
  });
});

describe.each([
  ['poly mcp', () => byStdio(hub, { cwd: '/' })],
  ['HTTP with sessions', () => byHttp(hub, { era: 'legacy' })],
] as const)('a connection by %s', (_, connect) => {
  it('that has registered acts as that agent, whatever token opened it', async () => {
    const client = await connect();
    const name = `one-${Math.random().toString(36).slice(2, 8)}`;
    const made = JSON.parse(await use(client, 'register_agent', { name, project: 'mcp' }));
    expect(made).toMatchObject({ name, project: 'mcp', status: 'new' });
    await register(hub, `peer-of-${name}`, { project: 'mcp' });
    await use(client, 'send_message', { to_agent_name: `peer-of-${name}`, body: 'hello' });
    const sent = await hub.event('mail:sent', ({ payload }) => payload.from === `agent:${name}`);
    expect(sent.payload.recipients).toHaveLength(1);
    expect(await use(client, 'pty_list')).toContain('0');
    expect(await use(client, 'get_inbox')).toContain('"messages":[]');
    await client.close();
  });
});

it('a second connection is told that a name is held, takes it over with the word of the user, and the first is told why', async () => {
  const [first, second] = [await byStdio(hub), await byStdio(hub)];
  const asked = { name: 'shared', project: 'mcp' };
  await use(first, 'register_agent', asked);
  expect(await use(second, 'register_agent', asked)).toMatch(/^ERROR conflict: .*alive.*take_over/);
  expect(await use(second, 'register_agent', { ...asked, take_over: true })).toContain('taken-over');
  expect(await use(first, 'get_inbox')).toMatch(/^ERROR conflict: .*taken over by user:.*Your user decides/);
  await first.close();
  await second.close();
});

it('an agent whose connections have all ended is gone, and its name can be had again', async () => {
  const first = await byStdio(hub);
  const asked = { name: 'comes-back', project: 'mcp' };
  const { agent_id } = JSON.parse(await use(first, 'register_agent', asked));
  await hub.client.call('mail:send', { to_agent_name: 'comes-back', to_project: 'mcp', body: 'kept' });
  await first.close();
  await until(
    async () =>
      (await hub.client.call('mail:agents', { project: 'mcp' })).agents.find(
        ({ name }) => name === asked.name,
      )?.liveness === 'gone',
  );
  const second = await byStdio(hub);
  expect(JSON.parse(await use(second, 'reconnect', asked))).toMatchObject({
    status: 'reused',
    agent_id,
    unread: 1,
  });
  expect(await use(second, 'get_inbox')).toContain('kept');
  await second.close();
});

it('reconnecting says whom it could be, and changes nothing when it cannot tell', async () => {
  const client = await byStdio(hub);
  const first = JSON.parse(await use(client, 'reconnect', { project: 'nobody-there' }));
  expect(first).toMatchObject({ status: 'need_register', hint: expect.stringMatching(/your user/i) });
  await register(hub, 'one', { project: 'twins' });
  await register(hub, 'two', { project: 'twins' });
  const both = JSON.parse(await use(client, 'reconnect', { project: 'twins' }));
  expect(both).toMatchObject({ status: 'ambiguous', candidates: [{ name: 'one' }, { name: 'two' }] });
  const user = JSON.parse(await use(client, 'list_agents', { project: 'twins' }));
  expect(user.agents.some(({ you }: { you?: true }) => you)).toBe(false);
  expect(JSON.parse(await use(client, 'reconnect', { project: 'twins', name: 'two' }))).toMatchObject({
    status: 'reused',
    name: 'two',
  });
  await client.close();
});

describe('a connection over HTTP that nobody knows again', () => {
  it('registers, and says who it is with each call', async () => {
    const [client, peer] = [await byHttp(hub), await register(hub, 'near', { project: 'mcp' })];
    const made = JSON.parse(await use(client, 'register_agent', { name: 'forgotten', project: 'mcp' }));
    expect(made).toMatchObject({
      status: 'new',
      hint: expect.stringMatching(/give your secret .*each call/),
    });
    const { secret } = made;
    await peer.call('mail:send', { to_agent_name: 'forgotten', body: 'for you' });
    const sent = { secret, to_agent_name: 'near', body: 'from me' };
    expect(await use(client, 'send_message', sent)).toContain('msg_');
    expect(await peer.read()).toMatchObject([{ from: 'agent:forgotten', body: 'from me' }]);
    expect(await use(client, 'get_inbox')).not.toContain('for you');
    expect(await use(client, 'get_inbox', { secret })).toContain('for you');
    expect(await use(client, 'get_inbox', { secret })).toContain('"messages":[]');
    expect(await use(client, 'reconnect', { secret, name: 'forgotten', project: 'mcp' })).toContain('reused');
    expect(await use(client, 'unregister_self', { secret })).toContain(made.agent_id);
    await client.close();
  });

  it('is nobody by a secret that is wrong, another’s credential, or was replaced', async () => {
    const client = await byHttp(hub);
    const asked = { name: 'replaced', project: 'mcp' };
    const { secret } = JSON.parse(await use(client, 'register_agent', asked));
    await use(client, 'register_agent', { ...asked, take_over: true });
    for (const wrong of [secret, 'guessed', hub.token, await hub.paneToken('wrong-proof'), ''])
      expect(await use(client, 'get_inbox', { secret: wrong })).toMatch(
        /^ERROR unauthenticated: that secret is no agent’s.*your user decides/,
      );
    expect(await use(client, 'get_inbox', { secret: 5 })).toMatch(/^ERROR invalid_arguments: secret must be/);
    expect(await use(client, 'register_agent', { name: 'a b' })).toMatch(/^ERROR invalid_arguments/);
    await client.close();
  });

  it('is offered that only there', async () => {
    const takes = async (client: Awaited<ReturnType<typeof byHttp>>) => {
      const { tools } = await client.listTools();
      await client.close();
      return tools.filter(({ inputSchema }) => inputSchema.properties?.secret).map(({ name }) => name);
    };
    const introduces = ['register_agent', 'reconnect'];
    expect(await takes(await byHttp(hub, { era: 'legacy' }))).toEqual(introduces);
    expect(await takes(await byStdio(hub))).toEqual(introduces);
    expect(await takes(await byHttp(hub))).toContain('get_inbox');
    expect(await takes(await byHttp(hub, { query: '?toolsets=tasks,contracts' }))).toContain('task_claim');
  });
});

it('an agent over poly mcp is the same after the hub was killed', async () => {
  await using own = await TestHub.start();
  const client = await byStdio(own);
  const { agent_id } = JSON.parse(await use(client, 'register_agent', { name: 'lasting', project: 'mcp' }));
  await own.kill('SIGKILL');
  await own.start();
  await own.client.call('mail:send', { to_agent_name: 'lasting', to_project: 'mcp', body: 'still you' });
  expect(await use(client, 'get_inbox')).toContain('still you');
  expect(await use(client, 'unregister_self')).toContain(agent_id);
  await client.close();
}, 120_000);
