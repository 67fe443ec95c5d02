import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Inbox } from '../src/agents/inbox.ts';
import type { Door, Offer, Target } from '../src/delivery/door.ts';
import { createCodexQueueDoor, type Ran } from '../src/delivery/doors/codex-queue.ts';
import { createCodexServerDoor } from '../src/delivery/doors/codex-server.ts';
import { contextDoor, createInboxDoor, wakeDoor } from '../src/delivery/doors/inbox.ts';
import { createOpenCodeServerDoor } from '../src/delivery/doors/opencode-server.ts';
import { hintOf } from '../src/delivery/hint.ts';
import { FakeCodexServer, type Manner } from './fake-codex-server.ts';
import { FakeOpenCodeServer } from './fake-opencode-server.ts';

const hint = hintOf({ key: 'agt_1', name: 'alice' }, [
  { seq: 7, from: 'agent:bob', sentAt: 1_700_000_000_000 },
]);
const target = (more: Partial<Target> = {}): Target => ({
  ...{
    recipient: 'agt_1',
    pane: { id: 'pty_1', birth: 'b' },
    vendor: 'codex',
    status: 'idle',
    evidence: 'screen',
    interrupted: false,
    hooked: true,
    pid: 1,
  },
  ...{ sessionId: 'ses_1', argv: ['codex'], cwd: '/', ...more },
});

/** Offers the hint, and tells whether it was begun. */
async function offer(door: Door, to: Target, isLast = false): Promise<Offer & { readonly begun: number }> {
  let begun = 0;
  const offered = await door.offer(to, hint, async () => ++begun > 0, { isLast });
  return { ...offered, begun };
}

describe('the app-server of Codex', () => {
  const options = {
    variableOf: (_: number, name: string) => (name === 'KEY' ? 'secret' : undefined),
    ...{ timeoutMs: 3_000, turnMs: 3_000 },
  };
  const door = createCodexServerDoor(options);
  const at = (url: string, ...more: readonly string[]): Target =>
    target({ argv: ['codex', '--remote', url, ...more] });

  it('is introduced to us, followed, and given the line, which is seen when its turn begins', async () => {
    await using server = await FakeCodexServer.start();
    expect(await offer(door, at(server.url))).toMatchObject({ state: 'seen', begun: 1 });
    expect(server.methods).toEqual(['initialize', 'initialized', 'thread/resume', 'thread/queue/add']);
    expect(server.asked.at(-1)?.params).toEqual({
      threadId: 'ses_1',
      clientUserMessageId: hint.id,
      input: [{ type: 'text', text: hint.text, text_elements: [] }],
    });
  });

  it('has it in the queue while a turn runs, or before the first', async () => {
    await using server = await FakeCodexServer.start({
      'thread/queue/add': 'late turn',
      'thread/resume': 'no rollout',
    });
    const impatient = createCodexServerDoor({ ...options, turnMs: 1 });
    expect(await offer(impatient, at(server.url))).toMatchObject({ state: 'written' });
  });

  it.each<[string, Manner, Offer['state'], number]>([
    ['initialize', 'error', 'refused', 0],
    ['initialize', 'hang', 'refused', 0],
    ['initialize', 'close', 'refused', 0],
    ['initialize', 'no json', 'refused', 0],
    ['thread/resume', 'error', 'refused', 0],
    ['thread/resume', 'hang', 'refused', 0],
    ['thread/resume', 'close', 'refused', 0],
    ['thread/resume', 'no json', 'refused', 0],
    ['thread/queue/add', 'error', 'refused', 1],
    ['thread/queue/add', 'hang', 'uncertain', 1],
    ['thread/queue/add', 'close', 'uncertain', 1],
    ['thread/queue/add', 'no json', 'uncertain', 1],
  ])('at %s answers with %s: the line is %s', async (method, manner, state, begun) => {
    await using server = await FakeCodexServer.start({ [method]: manner });
    expect(await offer(door, at(server.url))).toMatchObject({ state, begun });
    expect(server.methods.filter((one) => one === 'thread/queue/add')).toHaveLength(begun);
  });

  it('gets its token from the environment of the pane, and is not called without one', async () => {
    await using server = await FakeCodexServer.start();
    await offer(door, at(server.url, '--remote-auth-token-env', 'KEY'));
    expect(server.headers[0]?.authorization).toBe('Bearer secret');
    expect(await offer(door, at(server.url, '--remote-auth-token-env', 'NONE'))).toEqual({
      state: 'refused',
      reason: 'missing_auth_token: NONE is not set in its pane',
      begun: 0,
    });
    expect(server.headers).toHaveLength(1);
  });

  it('is not called where nobody listens, on other machines, or without a conversation', async () => {
    const server = await FakeCodexServer.start();
    const { url } = server;
    await server[Symbol.asyncDispose]();
    for (const to of [
      at(url),
      at('ws://192.0.2.1:9'),
      target(),
      target({ ...at(url), sessionId: undefined }),
    ])
      expect(await offer(door, to)).toMatchObject({ state: 'refused', begun: 0 });
  });
});

describe('the queue of Codex', () => {
  it.each<[string, () => Promise<Ran>, Offer['state']]>([
    ['takes the line', async () => ({ code: 0, output: '' }), 'written'],
    [
      'has no such conversation',
      async () => ({ code: 1, output: 'WARNING: x\nno rollout found' }),
      'refused',
    ],
    ['hangs', async () => ({ code: undefined, output: '' }), 'uncertain'],
    ['is not there', () => Promise.reject(new Error('spawn codex ENOENT')), 'refused'],
  ])('%s', async (_, run, state) => {
    const ran: (readonly string[])[] = [];
    const door = createCodexQueueDoor((_pid, argv) => {
      ran.push(argv);
      return run();
    });
    expect(await offer(door, target())).toMatchObject({ state, begun: 1 });
    expect(ran).toEqual([['codex', 'queue', '--thread', 'ses_1', '--message', hint.text]]);
  });

  it('is left alone before the first turn, and after one that was interrupted', async () => {
    const door = createCodexQueueDoor(() => Promise.reject(new Error('not to be run')));
    const broken = { interrupted: true };
    // That it rests may be believed a moment after its hook has told of it.
    for (const more of [{ sessionId: undefined }, broken, { ...broken, status: 'running' as const }])
      expect(await offer(door, target(more))).toMatchObject({ state: 'refused', begun: 0 });
  });
});

describe('the server of OpenCode', () => {
  const door = createOpenCodeServerDoor({
    variableOf: () => undefined,
    timeoutMs: 3_000,
    looksMs: [1, 1, 1],
  });
  const at = (port: number, ...more: readonly string[]): Target =>
    target({ vendor: 'opencode', argv: ['opencode', '--port', String(port), ...more] });

  it('is given the line with ids of ours, and runs it', async () => {
    await using server = await FakeOpenCodeServer.start();
    expect(await offer(door, at(server.port))).toMatchObject({ state: 'seen' });
    const parts = [{ id: `prt_${hint.id}`, type: 'text', text: hint.text }];
    expect(server.prompts).toEqual([{ messageID: `msg_${hint.id}`, parts }]);
  });

  it('is given it again, with the same ids, when it has lost it', async () => {
    await using server = await FakeOpenCodeServer.start(['lose', 'lose', 'run']);
    expect(await offer(door, at(server.port))).toMatchObject({ state: 'seen' });
    expect(server.turns).toEqual([`msg_${hint.id}`]);
    expect(new Set(server.prompts.map(({ messageID }) => messageID)).size).toBe(1);
  });

  it('holds it while another turn runs, and is not given it again meanwhile', async () => {
    await using server = await FakeOpenCodeServer.start(['hold']);
    expect(await offer(door, at(server.port))).toMatchObject({ state: 'written' });
    expect(await door.look?.(at(server.port), hint, {})).toMatchObject({ state: 'waiting' });
    expect(server.prompts).toHaveLength(1);
  });

  it.each<[ConstructorParameters<typeof Array>[0] | string, Offer['state'], string]>([
    [404, 'refused', 'opencode_inject_failed: its server answered 404'],
    [400, 'refused', 'opencode_inject_failed: its server answered 400'],
    ['fail', 'refused', 'opencode_inject_failed: its server answered 500'],
    ['hang', 'refused', 'opencode_connect_failed'],
  ])('that answers with %s did not take it', async (manner, state, reason) => {
    await using server = await FakeOpenCodeServer.start([manner as never]);
    const offered = await offer(door, at(server.port));
    expect(offered).toMatchObject({ state, reason: expect.stringContaining(reason) });
    expect(server.messages).toEqual([]);
  });

  it.each(['fail but keep', 'hang but keep'] as const)(
    'that may have taken it (%s) keeps it: no other door gets it',
    async (manner) => {
      await using server = await FakeOpenCodeServer.start([manner, 'run']);
      expect(await offer(door, at(server.port))).toMatchObject({ state: 'seen' });
      expect(server.turns).toEqual([`msg_${hint.id}`]);
    },
  );

  it('wants its password', async () => {
    await using server = await FakeOpenCodeServer.start(['run'], { password: 'secret' });
    expect(await offer(door, at(server.port))).toMatchObject({
      state: 'refused',
      reason: 'missing_auth_token: its server wants OPENCODE_SERVER_PASSWORD',
    });
    expect(await offer(door, at(server.port, '--password', 'secret'))).toMatchObject({ state: 'seen' });
  });

  it('is shut where nobody listens, there is none, or the conversation is another', async () => {
    const server = await FakeOpenCodeServer.start();
    const { port } = server;
    expect(await offer(door, target({ ...at(port), sessionId: 'ses_2' }))).toMatchObject({
      state: 'refused',
    });
    await server[Symbol.asyncDispose]();
    expect(await offer(door, at(port))).toMatchObject({
      state: 'refused',
      reason: 'opencode_connect_failed: ECONNREFUSED',
    });
    expect(await offer(door, target())).toMatchObject({ state: 'refused', begun: 0 });
  });
});

describe('the inbox', () => {
  let home: string;
  let inbox: Inbox;
  const name = 'mail-000000000000007';
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'poly-inbox-'));
    inbox = new Inbox(home, 'pty_1');
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const wait = (who: string): void => writeFileSync(inbox.in('waiting'), who);
  const take = (): void => renameSync(inbox.in(join('new', name)), inbox.in(join('taken', name)));
  const wake = createInboxDoor(wakeDoor, () => inbox);
  const context = createInboxDoor(contextDoor, () => inbox);

  it('is shut while nobody waits there, nor a turn runs', async () => {
    wait('plugin 999999999');
    expect(await offer(wake, target())).toMatchObject({ state: 'refused', begun: 0 });
    expect(await offer(context, target())).toMatchObject({ state: 'refused', begun: 0 });
    expect(inbox.waiting).toEqual([]);
  });

  it('has it once, however often it is offered, also when it was taken meanwhile', async () => {
    wait(`plugin ${process.pid}`);
    for (const begun of [1, 0])
      expect(await offer(wake, target())).toMatchObject({ state: 'written', begun });
    expect(inbox.waiting).toEqual([name]);
    take();
    expect(await offer(wake, target())).toMatchObject({ state: 'written', begun: 0 });
    expect(inbox.waiting).toEqual([]);
  });

  it('tells that a turn saw it when a hook took it and its turn went on, and not before', async () => {
    const running = target({ status: 'running' });
    await offer(context, running);
    expect(await context.look?.(running, hint, { heardAt: Date.now() + 60_000 })).toMatchObject({
      state: 'waiting',
    });
    take();
    expect(await context.look?.(running, hint, {})).toMatchObject({
      state: 'waiting',
      reason: 'a hook took it',
    });
    expect(await context.look?.(running, hint, { heardAt: 1 })).toMatchObject({ state: 'waiting' });
    expect(await context.look?.(running, hint, { heardAt: Date.now() + 60_000 })).toMatchObject({
      state: 'seen',
    });
    expect(inbox.taken).toEqual([]);
  });

  it('has what is whole also for the next turn of one whose hooks tell, and keeps it there', async () => {
    const whole = { ...hint, whole: true } as const;
    const give = (to: Target) => context.offer(to, whole, async () => true, { isLast: false });
    expect(await give(target({ hooked: false }))).toMatchObject({ state: 'refused' });
    expect(await give(target())).toMatchObject({ state: 'written' });
    expect(await context.look?.(target(), whole, { due: true })).toMatchObject({ state: 'waiting' });
    expect(inbox.waiting).toEqual([name]);
  });

  it('takes no tool of a turn that ran already for a proof that one that was woken has seen it', async () => {
    wait(`plugin ${process.pid}`);
    await offer(wake, target());
    mkdirSync(inbox.in('woken'));
    renameSync(inbox.in(join('new', name)), inbox.in(join('woken', name)));
    const heardAt = Date.now() + 60_000;
    expect(await wake.look?.(target({ status: 'running' }), hint, { heardAt })).toMatchObject({
      ...{ state: 'waiting', reason: 'a hook woke it with it' },
    });
    expect(inbox.taken).toEqual([name]);
    inbox.forget(name);
    expect(inbox.taken).toEqual([]);
  });

  it('gives it back when the turn is over, or whoever waits does not take it in time', async () => {
    await offer(context, target({ status: 'running' }));
    expect(await context.look?.(target({ status: 'running' }), hint, { due: true })).toMatchObject({
      state: 'waiting',
    });
    expect(await context.look?.(target(), hint, {})).toMatchObject({ state: 'back' });
    expect(inbox.waiting).toEqual([]);
    wait(`plugin ${process.pid}`);
    await offer(wake, target());
    expect(await wake.look?.(target(), hint, {})).toMatchObject({ state: 'waiting' });
    expect(await wake.look?.(target(), hint, { due: true })).toMatchObject({ state: 'back' });
    expect(inbox.waiting).toEqual([]);
  });
});
