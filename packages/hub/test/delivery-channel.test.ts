import type { Client } from '@modelcontextprotocol/client';
import type { MailDelivery, MailSendResult } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Offer, Target } from '../src/delivery/door.ts';
import { createChannelDoor } from '../src/delivery/doors/channel.ts';
import { hintOf } from '../src/delivery/hint.ts';
import { register, type TestAgent } from './mail-ground.ts';
import { byHttp, byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

interface Heard {
  readonly method: string;
  readonly params?: { readonly content?: string; readonly meta?: Readonly<Record<string, string>> };
}

let hub: TestHub;
let bob: TestAgent;
beforeAll(async () => {
  hub = await TestHub.start();
  bob = await register(hub, 'bob');
});
afterAll(() => hub[Symbol.asyncDispose]());

/** Somebody who listens to a channel, as Claude Code does; in no pane. */
async function listener(): Promise<{ readonly client: Client; readonly heard: readonly Heard[] }> {
  const client = await byStdio(hub, { args: ['--channel'] });
  const heard: Heard[] = [];
  client.fallbackNotificationHandler = async (notification) => {
    heard.push(notification as Heard);
  };
  return { client, heard };
}

const send = (to: string): Promise<MailSendResult> =>
  bob.call('mail:send', { to_agent_name: to, body: 'the secret body' });
const status = async ({ message_id }: MailSendResult): Promise<MailDelivery | undefined> =>
  (await bob.call('mail:status', { message_id })).statuses[0];
const reaches = (sent: MailSendResult, fits: (delivery: MailDelivery) => boolean): Promise<MailDelivery> =>
  until(async () => {
    const found = await status(sent);
    return found && fits(found) && found;
  });

describe('the channel of Claude Code, by poly mcp --channel', () => {
  it('is offered in the protocol that has one, whatever the client asks for first', async () => {
    const { client } = await listener();
    expect(client.getServerCapabilities()?.experimental).toEqual({ 'claude/channel': {} });
    expect(client.getNegotiatedProtocolVersion()).toMatch(/^2025-/);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('get_inbox');
    await client.close();
    const plain = await byStdio(hub);
    expect(plain.getServerCapabilities()).not.toHaveProperty('experimental');
    await plain.close();
    await expect(byHttp(hub, { query: '?channel=true' })).rejects.toThrow(/poly mcp --channel/);
  });

  it('tells somebody in no pane that it has mail, and promises nothing', async () => {
    const { client, heard } = await listener();
    await use(client, 'register_agent', { name: 'far', project: 'demo' });
    const sent = await send('far');
    const told = await until(() => heard[0]);
    expect(told).toMatchObject({
      method: 'notifications/claude/channel',
      params: {
        content: `New mail from agent:bob for far: call get_inbox, or run: poly mail inbox [mail ${sent.event_id}]`,
        meta: { mail: String(sent.event_id) },
      },
    });
    expect(await reaches(sent, ({ state }) => state !== 'queued')).toMatchObject({
      ...{ state: 'uncertain', door: 'claude channel', read: false },
      reason: expect.stringContaining('tells nobody whether it took it'),
    });
    expect(await use(client, 'get_inbox')).toContain('the secret body');
    expect(await status(sent)).toMatchObject({ state: 'seen', read: true });
    await client.close();
    const alone = await reaches(await send('far'), ({ reason }) => reason !== undefined);
    expect(alone).toMatchObject({ state: 'queued', reason: expect.stringMatching(/^no_pane/) });
  });

  it('is bound again after the hub was killed, and tells once what came meanwhile', async () => {
    await using own = await TestHub.start();
    const writer = await register(own, 'writer');
    const client = await byStdio(own, { args: ['--channel'] });
    const heard: Heard[] = [];
    client.fallbackNotificationHandler = async (notification) => {
      heard.push(notification as Heard);
    };
    await use(client, 'register_agent', { name: 'far', project: 'demo' });
    await own.kill('SIGKILL');
    await own.start();
    // Whether its bridge is back by now or not: it is told, and once.
    const { event_id } = await writer.call('mail:send', { to_agent_name: 'far', body: 'x' });
    await until(() => heard.length > 0);
    const next = await writer.call('mail:send', { to_agent_name: 'far', body: 'y' });
    await until(() => heard.length > 1);
    expect(heard.map(({ params }) => params?.meta?.mail)).toEqual([String(event_id), String(next.event_id)]);
    await client.close();
  }, 120_000);

  it('tells what came before somebody listened', async () => {
    const early = await register(hub, 'early');
    const sent = await send('early');
    await reaches(sent, ({ reason }) => /^no_pane/.test(reason ?? ''));
    const { client, heard } = await listener();
    await use(client, 'reconnect', { name: 'early', project: 'demo', secret: early.secret });
    await until(() => heard.length > 0);
    expect(await reaches(sent, ({ state }) => state !== 'queued')).toMatchObject({ state: 'uncertain' });
    await client.close();
  });
});

describe('the door of the channel', () => {
  const hint = hintOf({ key: 'agt_1', name: 'alice' }, [{ seq: 7, from: 'agent:bob', sentAt: 1 }]);
  const far: Target = {
    ...{ recipient: 'agt_1', pane: undefined, vendor: 'claude', status: 'unknown', evidence: '' },
    ...{ interrupted: false, hooked: true, sessionId: undefined, argv: [], cwd: '/', pid: 0 },
  };
  const near: Target = { ...far, pane: { id: 'pty_1', birth: 'b' } };
  const offer = async (
    target: Target,
    isLast: boolean,
    sends: boolean | undefined,
  ): Promise<Offer & { readonly begun: number }> => {
    let begun = 0;
    const door = createChannelDoor(() => (sends === undefined ? undefined : { send: () => sends }));
    return { ...(await door.offer(target, hint, async () => ++begun > 0, { isLast })), begun };
  };

  it.each<[string, Target, boolean, boolean | undefined, Offer['state'], number]>([
    ['of somebody without one is shut', far, true, undefined, 'refused', 0],
    ['of somebody in no pane takes it at once', far, false, true, 'uncertain', 1],
    ['of somebody in a pane is left to the last try', near, false, true, 'refused', 0],
    ['of somebody in a pane takes it then', near, true, true, 'uncertain', 1],
    ['that has just closed has taken nothing', far, false, false, 'refused', 1],
  ])('%s', async (_, target, isLast, sends, state, begun) => {
    expect(await offer(target, isLast, sends)).toMatchObject({ state, begun });
  });
});
