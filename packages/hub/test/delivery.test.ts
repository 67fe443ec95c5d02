import {
  type Backend,
  type Client,
  type MailDelivery,
  type MailSendResult,
  PolyError,
} from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeComposer } from './fake-composer.ts';
import { register, type TestAgent } from './mail-ground.ts';
import { TestHub, until } from './test-hub.ts';

/** Long enough that a program that prints all the time does so within it, also on a busy machine. */
const quietMs = 1_000;
let count = 0;

describe.each<Backend>(['pty', 'tmux'])('mail to an agent on %s', (backend) => {
  let hub: TestHub;
  let bob: TestAgent;

  beforeAll(async () => {
    hub = await TestHub.start({ env: { POKE_QUIET_MS: String(quietMs) } });
    bob = await register(hub, 'bob');
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  /** A new agent that rests at an empty composer. */
  async function idleAgent(): Promise<{ agent: FakeComposer; name: string; self: Client }> {
    const name = `a${++count}`;
    const agent = await FakeComposer.start(hub, { backend, name });
    await becomes(agent, 'idle');
    await agent.register(hub, name);
    return { agent, name, self: agent.client(hub) };
  }
  const becomes = (agent: FakeComposer, status: string) =>
    until(
      async () =>
        (await hub.client.call('agent:list', {})).find(({ id }) => id === agent.paneId)?.status === status,
    );
  const send = (to: string, body = 'rm -rf / # the body'): Promise<MailSendResult> =>
    bob.call('mail:send', { to_agent_name: to, body });
  const status = async ({ message_id }: MailSendResult): Promise<MailDelivery> => {
    const [found] = (await bob.call('mail:status', { message_id })).statuses;
    if (!found) throw new Error('nobody was to get it');
    return found;
  };
  const reaches = (sent: MailSendResult, ...states: readonly string[]): Promise<MailDelivery> =>
    until(async () => {
      const found = await status(sent);
      return states.includes(found.state) && found;
    });
  /** Until somebody tried and said why not. */
  const isHeldBack = (sent: MailSendResult, reason: RegExp): Promise<MailDelivery> =>
    until(async () => {
      const found = await status(sent);
      if (found.state !== 'queued') throw new Error(JSON.stringify(found));
      return reason.test(found.reason ?? '') && found;
    });

  it('types one hint and Enter, once, and never the body; the turn it begins is the proof', async () => {
    const { agent, name } = await idleAgent();
    const sent = await send(name);
    expect(sent.deliveries).toMatchObject([{ state: 'queued' }]);
    const seen = await reaches(sent, 'seen');
    expect(agent.submitted).toEqual([
      `New mail from agent:bob for ${name}: call get_inbox, or run: poly mail inbox [mail ${sent.event_id}]`,
    ]);
    expect(seen).toMatchObject({ door: 'keyboard', read: false, reason: 'its hook told of a turn with it' });
    expect(seen.steps.map(({ state }) => state)).toEqual(['uncertain', 'written', 'seen']);
    expect(agent.noted.filter(({ kind }) => kind === 'pasted')).toHaveLength(1);
  });

  it('makes one hint of several messages', async () => {
    const { agent, name } = await idleAgent();
    await agent.order({ show: 'working-80x24', every: 50 });
    await becomes(agent, 'running');
    const sent = [await send(name), await send(name), await send(name)];
    for (const one of sent) await isHeldBack(one, /busy/);
    await agent.order({ show: 'idle-120x40' });
    for (const one of sent) await reaches(one, 'seen');
    expect(agent.submitted).toEqual([expect.stringMatching(/^3 new messages from agent:bob for /)]);
  });

  it('writes nothing while it prints, and tries again as soon as it rests', async () => {
    const { agent, name } = await idleAgent();
    await agent.order({ every: 50 });
    await hub.client.call('pane:wait', { paneId: agent.paneId, text: 'tick', timeoutMs: 30_000 });
    const sent = await send(name);
    const held = await isHeldBack(sent, /not_quiet|busy/);
    expect(Date.parse(held.next_attempt_at ?? '')).toBeGreaterThan(Date.parse(held.updated_at));
    expect(agent.noted).toEqual([]);
    await agent.order({ show: 'working-80x24', every: 50 });
    await becomes(agent, 'running');
    await agent.order({ show: 'idle-120x40' });
    await reaches(sent, 'seen');
    expect(agent.submitted).toHaveLength(1);
  });

  it.each([
    ['a question is on the screen', { show: 'permission-bash-80x24' }, /blocked/],
    ['a dialog is', { show: 'mcpjson-approval-80x24' }, /blocked/],
    ['somebody has begun to write', { draft: 'my own words' }, /draft/],
  ])('writes nothing while %s', async (_, order, reason) => {
    const { agent, name } = await idleAgent();
    await agent.order(order);
    const sent = await send(name);
    await isHeldBack(sent, reason);
    expect(agent.noted).toEqual([]);
    await agent.order({ show: 'working-80x24', draft: '', every: 50 });
    await becomes(agent, 'running');
    await agent.order({ show: 'idle-120x40' });
    await reaches(sent, 'seen');
    expect(agent.noted.map(({ kind }) => kind)).toEqual(['pasted', 'submitted']);
  });

  it('does not press Enter when somebody writes beside it, and never types it again', async () => {
    const { agent, name } = await idleAgent();
    await agent.order({ echo: false });
    const sent = await send(name);
    await until(() => agent.noted.length > 0);
    await agent.order({ echo: true, draft: 'somebody else has cleared it and writes this' });
    expect(await reaches(sent, 'uncertain', 'written', 'seen')).toMatchObject({
      state: 'uncertain',
    });
    await until(async () => /Enter was not pressed/.test((await status(sent)).reason ?? ''));
    expect(agent.noted.map(({ kind }) => kind)).toEqual(['pasted']);
  });

  // tmux 3.3a lets its children go on as soon as they are stopped.
  if (backend === 'pty')
    it('writes nothing while its process is stopped', async () => {
      const { agent, name } = await idleAgent();
      process.kill(agent.pid, 'SIGSTOP');
      await isHeldBack(await send(name), /stopped/);
      process.kill(agent.pid, 'SIGCONT');
      expect(agent.noted).toEqual([]);
    });

  it('reaches one that was started in a shell, and writes nothing while the shell has the terminal', async () => {
    const name = `a${++count}`;
    const agent = await FakeComposer.start(hub, { backend, name, inShell: true });
    await agent.register(hub, name);
    await reaches(await send(name), 'seen');
    expect(agent.submitted).toHaveLength(1);
    process.kill(agent.pid, 'SIGTSTP');
    await until(async () =>
      /Stopped/.test((await hub.client.call('pane:screen', { paneId: agent.paneId })).lines.join('\n')),
    );
    await isHeldBack(await send(name), /no hook of it waits/);
    const { lines } = await hub.client.call('pane:screen', { paneId: agent.paneId });
    expect(lines.join('\n')).not.toContain('New mail');
    process.kill(agent.pid, 'SIGKILL');
  });

  it('fails when its pane has ended, or is another by now, and keeps the mail', async () => {
    const { agent, name } = await idleAgent();
    await hub.client.call('pane:close', { paneId: agent.paneId, cleanup: false });
    expect(await reaches(await send(name), 'failed')).toMatchObject({
      reason: expect.stringContaining('pane_dead'),
    });
    await hub.client.call('pane:close', { paneId: agent.paneId });
    await hub.client.call('pane:new', { id: agent.paneId, argv: ['cat'], backend });
    const sent = await send(name);
    expect(await reaches(sent, 'failed')).toMatchObject({
      reason: expect.stringContaining('pane_reassigned'),
    });
    const { lines } = await hub.client.call('pane:read', { paneId: agent.paneId });
    expect(lines).toEqual([]);
  });

  it('is not needed any more once the inbox was read', async () => {
    const { agent, name, self } = await idleAgent();
    await agent.order({ show: 'permission-bash-80x24' });
    const sent = await send(name);
    await isHeldBack(sent, /blocked/);
    expect((await self.call('mail:inbox', {})).messages).toHaveLength(1);
    expect(await reaches(sent, 'seen')).toMatchObject({
      read: true,
      reason: 'recipient_active: it has read its inbox',
    });
    await agent.order({ show: 'idle-120x40' });
    await becomes(agent, 'idle');
    const next = await send(name);
    await reaches(next, 'seen');
    expect(agent.submitted).toEqual([expect.stringContaining(`[mail ${next.event_id}]`)]);
  });

  it('is uncertain when the hub was killed in the middle, and is never typed again', async () => {
    const { agent, name } = await idleAgent();
    await agent.order({ echo: false });
    const sent = await send(name);
    await until(() => agent.noted.length > 0);
    await hub.kill('SIGKILL');
    await hub.start();
    expect(await status(sent)).toMatchObject({ state: 'uncertain', door: 'keyboard' });
    await agent.order({ echo: true, draft: '' });
    await becomes(agent, 'idle');
    const next = await send(name);
    await reaches(next, 'seen');
    expect(agent.submitted).toEqual([expect.stringContaining(`[mail ${next.event_id}]`)]);
    expect(await status(sent)).toMatchObject({ state: 'uncertain' });
  });

  it('that waits goes on waiting over a kill of the hub, and is typed when it rests', async () => {
    const { agent, name } = await idleAgent();
    await agent.order({ show: 'permission-bash-80x24' });
    const sent = await send(name);
    const { next_attempt_at } = await isHeldBack(sent, /blocked/);
    await hub.kill('SIGKILL');
    await hub.start();
    expect(await status(sent)).toMatchObject({ state: 'queued', next_attempt_at });
    await agent.order({ show: 'working-80x24', every: 50 });
    await becomes(agent, 'running');
    await agent.order({ show: 'idle-120x40' });
    await reaches(sent, 'seen');
    expect(agent.submitted).toHaveLength(1);
  });

  it('says that nobody can be woken where there is no pane, or none of an agent', async () => {
    await register(hub, `alone-${backend}`);
    const alone = await isHeldBack(await send(`alone-${backend}`), /^no_pane/);
    expect(alone).not.toHaveProperty('next_attempt_at');
    const shell = hub.as(await hub.paneToken(`cat-${backend}`));
    await shell.call('mail:register', { name: `cat-${backend}`, project: 'demo' });
    await isHeldBack(await send(`cat-${backend}`), /no hook of it waits/);
    const { lines } = await hub.client.call('pane:read', { paneId: `cat-${backend}` });
    expect(lines).toHaveLength(1);
  });

  it('wakes one of another project, where that is named', async () => {
    const far = await register(hub, `far-${backend}`, { project: 'elsewhere' });
    const { agent, name } = await idleAgent();
    const { message_id } = await far.call('mail:send', {
      ...{ to_agent_name: name, to_project: 'demo' },
      body: 'from afar',
    });
    await until(async () => (await far.call('mail:status', { message_id })).statuses[0]?.state === 'seen');
    expect(agent.submitted).toEqual([expect.stringContaining(`from agent:far-${backend} for ${name}`)]);
  });

  it('tells how far it got to the sender alone', async () => {
    const carol = await register(hub, `carol-${backend}`);
    const { message_id } = await send(`carol-${backend}`);
    await expect(carol.call('mail:status', { message_id })).rejects.toBeInstanceOf(PolyError);
  });

  it('tells the agent that started a pane of its end', async () => {
    const { agent, self } = await idleAgent();
    await agent.order({ show: 'permission-bash-80x24' });
    const { id } = await self.call('pane:new', {
      argv: ['sh', '-c', 'echo over; exit 3'],
      notifyOnExit: true,
    });
    const { messages } = await until(async () => {
      const inbox = await self.call('mail:inbox', { peek: true });
      return inbox.messages.length > 0 && inbox;
    });
    expect(messages).toMatchObject([
      {
        from: 'hub',
        kind: 'notice',
        trust: 'hub',
        subject: `${id} has ended`,
        body: expect.stringContaining('over'),
      },
    ]);
  });
});
