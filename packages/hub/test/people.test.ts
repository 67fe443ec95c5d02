import { connect as connectTo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { register } from './mail-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string) => expect.objectContaining({ code, hint: expect.any(String) });

/** What the hub answers to a ticket that somebody shows it. */
async function exchange(ticket: string): Promise<{ readonly status: number; readonly token: string }> {
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', path: '/tickets/exchange', headers, body: JSON.stringify({ ticket }) };
  const { status, body } = await hub.send(asked as Parameters<TestHub['send']>[0]);
  return { status, token: JSON.parse(body).token };
}

async function ticketFor(name: string): Promise<string> {
  const { ticket } = await hub.client.call('person:invite', { name });
  return ticket ?? '';
}

/** The key of a person who has taken an invitation. */
async function keyOf(name: string): Promise<string> {
  return (await exchange(await ticketFor(name))).token;
}

describe('a person who was invited', () => {
  it('comes in once by an invitation, also after the hub was killed, and is known from then on', async () => {
    const ticket = await ticketFor('Ada');
    expect((await hub.client.call('person:list', {})).people).toMatchObject([
      { participant: 'user:ada', invited: true },
    ]);
    await hub.kill('SIGKILL');
    await hub.start();
    const { status, token } = await exchange(ticket);
    expect(status).toBe(200);
    expect((await exchange(ticket)).status).toBe(401);
    await hub.kill('SIGKILL');
    await hub.start();
    const { user, people } = await hub.as(token).call('person:list', {});
    expect(user).toMatch(/^user:/);
    expect(people).toMatchObject([{ participant: 'user:ada', invited: false, came_at: expect.any(String) }]);
  });

  it('is invited again with a newer invitation, and the older one opens nothing', async () => {
    const [first, second] = [await ticketFor('bob'), await ticketFor('bob')];
    expect((await exchange(first)).status).toBe(401);
    expect((await exchange(second)).status).toBe(200);
  });

  it('lets one of two in who show the same invitation at once', async () => {
    const ticket = await ticketFor('cyd');
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(ticket)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
  });

  it.each([
    ['pane:new', {}],
    ['pane:close-all', {}],
    ['pane:prune', {}],
    ['shell:run', { command: 'true' }],
    ['server:stop', {}],
    ['server:status', {}],
    ['extensions:list', {}],
    ['person:invite', { name: 'eve' }],
    ['person:remove', { name: 'ada' }],
    ['agent:adopt', {}],
  ] as const)('may not run %s', async (name, params) => {
    const dee = hub.as(await keyOf('dee'));
    await expect(dee.call(name, params as never)).rejects.toEqual(refusal('forbidden'));
  });

  it('sees the panes that feed a session, and types into none whose seat another has', async () => {
    const fay = hub.as(await keyOf('fay'));
    const inPane = hub.as(await hub.paneToken('worker'));
    await expect(fay.call('pane:read', { paneId: 'worker' })).rejects.toEqual(refusal('forbidden'));
    expect(await fay.call('pane:list', {})).toEqual([]);
    await inPane.call('floor:join', { project: 'shop' });
    await until(async () => (await fay.call('pane:list', {})).length === 1);
    expect(await fay.call('pane:read', { paneId: 'worker' })).toMatchObject({ lines: expect.any(Array) });
    const write = fay.call('pane:write', { paneId: 'worker', data: 'x' });
    await expect(write).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/^user:.* drives shop\/s-/),
    });
    for (const [name, params] of [
      ['pane:close', {}],
      ['pane:set-meta', { key: 'a', value: 'b' }],
      ['agent:message', { text: 'hello' }],
    ] as const)
      await expect(fay.call(name, { paneId: 'worker', ...params } as never)).rejects.toEqual(
        refusal('forbidden'),
      );
    await inPane.call('floor:leave', {});
    await until(async () => (await fay.call('pane:list', {})).length === 0);
  });

  it('writes mail under their own name, has an inbox of their own, and cannot read as another', async () => {
    const gus = hub.as(await keyOf('gus'));
    const ann = await register(hub, 'ann', { project: 'shop' });
    await gus.call('mail:send', {
      to_agent_name: 'ann',
      project_dir: '/shop',
      body: 'hello',
      to_project: 'shop',
    });
    const { messages } = await ann.call('mail:inbox', {});
    expect(messages).toMatchObject([{ from: 'user:gus', body: 'hello' }]);
    await ann.call('mail:send', { to_agent_name: 'user:gus', body: 'hello yourself' });
    expect((await gus.call('mail:overview', {})).unread).toBe(1);
    expect((await hub.client.call('mail:overview', {})).unread).toBe(0);
    expect((await gus.call('mail:inbox', {})).messages).toMatchObject([{ body: 'hello yourself' }]);
    await expect(ann.call('mail:send', { to_agent_name: 'user:nobody', body: 'x' })).rejects.toEqual(
      refusal('not_found'),
    );
  });

  it('is put out at once when removed, and comes back only by a new invitation', async () => {
    const key = await keyOf('hal');
    const hal = hub.as(key);
    const socket = new WebSocket('ws://poly/ws', {
      createConnection: () => connectTo(hub.socket),
      headers: { authorization: `Bearer ${key}` },
    } as never);
    await until(() => socket.readyState === WebSocket.OPEN);
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    const stream = (async () => {
      for await (const _ of hub.events('*', { token: key }));
    })();
    await hub.client.call('person:remove', { name: 'hal' });
    expect(await closed).toBe(1008);
    await stream;
    await expect(hal.call('person:list', {})).rejects.toEqual(refusal('unauthenticated'));
    await hub.kill('SIGKILL');
    await hub.start();
    await expect(hal.call('person:list', {})).rejects.toEqual(refusal('unauthenticated'));
    const again = hub.as(await keyOf('hal'));
    await again.call('person:list', {});
    await expect(hal.call('person:list', {})).rejects.toEqual(refusal('unauthenticated'));
  });
});

it.each(['', 'no spaces', '../x', 'ü', 'x'.repeat(65)])('nobody is invited as "%s"', async (name) => {
  await expect(hub.client.call('person:invite', { name })).rejects.toEqual(
    expect.objectContaining({ code: 'invalid_arguments' }),
  );
});

it('the user cannot be invited, nor a stranger removed, and a pane invites nobody', async () => {
  const { user } = await hub.client.call('person:list', {});
  const invite = hub.client.call('person:invite', { name: user.slice('user:'.length) });
  await expect(invite).rejects.toEqual(refusal('conflict'));
  await expect(hub.client.call('person:remove', { name: 'stranger' })).rejects.toEqual(refusal('not_found'));
  const pane = hub.as(await hub.paneToken('sneaky'));
  await expect(pane.call('person:invite', { name: 'mole' })).rejects.toEqual(refusal('forbidden'));
});
