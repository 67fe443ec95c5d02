import { PolyError } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodies, register } from './mail-ground.ts';
import { byHttp, byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string, message = /./) =>
  expect.objectContaining({
    info: expect.objectContaining({ code, message: expect.stringMatching(message) }),
  });

describe('an agent that is renamed', () => {
  it('keeps its id, its secret, its mail and how far it has read, over a kill of the hub too', async () => {
    const [old, peer] = [await register(hub, 'old'), await register(hub, 'peer')];
    await peer.call('mail:send', { to_agent_name: 'old', body: 'read before' });
    expect(bodies(await old.read())).toEqual(['read before']);
    const sent = await peer.call('mail:send', { to_agent_name: 'old', body: 'waits' });
    expect(await old.call('mail:rename', { name: 'New-Name' })).toEqual({
      ...{ agent_id: old.id, name: 'new-name', before: 'old', participant: 'agent:new-name' },
      ...{ project: 'demo', team: 'demo' },
    });
    await hub.kill('SIGKILL');
    await hub.start();
    await peer.call('mail:send', { to_agent_name: 'new-name', body: 'by its new name' });
    expect(bodies(await old.read())).toEqual(['waits', 'by its new name']);
    const answer = await old.call('mail:send', {
      ...{ to_agent_name: 'peer', body: 'it is me', reply_to: sent.message_id },
    });
    expect(answer.thread_id).toBe(sent.thread_id);
    expect(await peer.read()).toMatchObject([{ from: 'agent:new-name', from_agent_id: old.id }]);
    expect((await peer.call('mail:status', { message_id: sent.message_id })).statuses).toMatchObject([
      { name: 'new-name', read: true },
    ]);
  });

  it('is told of by the old name, which somebody else can have', async () => {
    const [first, writer] = [await register(hub, 'first'), await register(hub, 'writer')];
    await first.call('mail:rename', { name: 'second' });
    const send = () => writer.call('mail:send', { to_agent_name: 'first', body: 'to whom?' });
    const error: unknown = await send().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PolyError);
    expect((error as PolyError).info).toMatchObject({ hint: 'It is called "second" now.' });
    const other = await register(hub, 'first');
    expect(other.id).not.toBe(first.id);
    expect((await send()).recipients).toEqual([other.id]);
    await expect(first.call('mail:rename', { name: 'first' })).rejects.toThrow(
      refusal('conflict', /held by agt_/) as never,
    );
  });

  it('is who it was by its secret, also where it knows only the name it had', async () => {
    const kim = await register(hub, 'kim');
    await hub.client.call('mail:rename', { agent_name: 'kim', name: 'kim-two', project: 'demo' });
    const asked = { name: 'kim', project: 'demo', secret: kim.secret };
    const itself = { status: 'reused', agent_id: kim.id, name: 'kim-two' };
    expect(await hub.client.call('mail:reconnect', asked)).toMatchObject(itself);
    const again: unknown = await hub.client.call('mail:register', asked).catch((thrown: unknown) => thrown);
    expect((again as PolyError).info).toMatchObject({
      ...{ code: 'conflict', details: { reason: 'other_agent', agent_id: kim.id } },
      hint: expect.stringContaining('"kim-two" in "demo"'),
    });
    const other = await register(hub, 'kim');
    expect(await hub.client.call('mail:reconnect', asked)).toMatchObject(itself);
    expect(await hub.client.call('mail:reconnect', { ...asked, secret: other.secret })).toMatchObject({
      ...{ status: 'reused', agent_id: other.id, name: 'kim' },
    });
  });

  it('is refused wrong and reserved names, and renames nobody else', async () => {
    const ann = await register(hub, 'ann');
    await register(hub, 'ben');
    for (const name of ['', 'two words', 'a\nb', '-x', 'x'.repeat(65)])
      await expect(ann.call('mail:rename', { name })).rejects.toThrow(
        refusal('invalid_arguments', /1-64 letters/) as never,
      );
    await expect(ann.call('mail:rename', { name: 'hub' })).rejects.toThrow(refusal('forbidden') as never);
    await expect(ann.call('mail:rename', { name: 'mine', agent_name: 'ben' })).rejects.toThrow(
      refusal('forbidden', /rename nobody else/) as never,
    );
    await expect(hub.client.call('mail:rename', { name: 'x', project: 'demo' })).rejects.toThrow(
      refusal('not_found') as never,
    );
    const moved = await hub.client.call('mail:rename', {
      name: 'by-user',
      agent_name: 'ben',
      project: 'demo',
    });
    expect(moved).toMatchObject({ before: 'ben', name: 'by-user' });
    expect(await ann.call('mail:rename', { name: 'ann' })).toMatchObject({ before: 'ann', name: 'ann' });
  });

  it('of two who want one name at once gets it once, also where each wants that of the other', async () => {
    const [one, two] = [await register(hub, 'one'), await register(hub, 'two')];
    const outcomes = await Promise.allSettled([
      ...[one, two].map((agent) => agent.call('mail:rename', { name: 'wanted' })),
      hub.client.call('mail:register', { name: 'wanted', project: 'demo' }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [x, y] = [await register(hub, 'x'), await register(hub, 'y')];
    const swapped = await Promise.allSettled([
      x.call('mail:rename', { name: 'y' }),
      y.call('mail:rename', { name: 'x' }),
    ]);
    expect(swapped.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('is known by the new name on every connection of its own', async () => {
    const [stdio, http] = [await byStdio(hub), await byHttp(hub, { era: 'legacy' })];
    const { secret } = JSON.parse(await use(stdio, 'register_agent', { name: 'many', project: 'demo' }));
    await use(http, 'reconnect', { name: 'many', project: 'demo', secret });
    await hub.as(secret).call('mail:rename', { name: 'few' });
    for (const client of [stdio, http]) {
      await use(client, 'send_message', { to_agent_name: 'user', body: 'who am I?' });
      expect(await use(client, 'list_agents')).toContain('"participant":"agent:few"');
      await client.close();
    }
    const sent = await until(async () => {
      const { messages } = await hub.client.call('mail:inbox', {});
      return messages.length > 0 && messages;
    });
    expect(new Set(sent.map(({ from }) => from))).toEqual(new Set(['agent:few']));
    const told = hub.events('action:success', { since: 0 });
    const names = new Set<unknown>();
    for await (const { payload, source } of told) {
      const { actionName, params } = payload as { actionName: string; params: { to_agent_name?: string } };
      if (actionName === 'mail:send' && params.to_agent_name === 'user') names.add(source);
      if (names.size > 0) break;
    }
    expect([...names]).toEqual(['agent:few']);
  });
});
