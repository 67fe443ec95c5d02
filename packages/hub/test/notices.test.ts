import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import type { PolyEvent } from '@polyphony/protocol';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeAgent } from './fake-agent.ts';
import { TestHub, until } from './test-hub.ts';

interface Message {
  readonly type: string;
  readonly notice?: { readonly paneId: string; readonly title: string; readonly body: string };
}

/** Somebody at a page or a terminal, with some panes before them. */
async function person(hub: TestHub, ...sessionIds: readonly string[]) {
  const url = `ws+unix://${hub.socket}:/ws`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${hub.token}` } });
  const heard: Message[] = [];
  socket.on('message', (data) => heard.push(JSON.parse(String(data)) as Message));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const look = (...panes: readonly string[]) =>
    socket.send(JSON.stringify({ type: 'looking', sessionIds: panes }));
  look(...sessionIds);
  // Answered in turn: what was sent before it has been taken.
  const settled = async () => {
    const lists = () => heard.filter(({ type }) => type === 'session_list').length;
    const before = lists();
    socket.send('{"type":"session_list"}');
    await until(() => lists() > before);
  };
  await settled();
  return {
    look,
    settled,
    notices: () => heard.flatMap(({ notice }) => notice ?? []),
    close: () => socket.close(),
  };
}

const statusOf = async (hub: TestHub, { paneId }: FakeAgent) =>
  (await hub.client.call('agent:list', {})).find(({ id }) => id === paneId)?.status;

const stateEvent = (hub: TestHub, { paneId }: FakeAgent, status: string) =>
  hub.event('agent:state', (event: PolyEvent) => {
    const state = event.payload as { readonly paneId: string; readonly status: string };
    return state.paneId === paneId && state.status === status;
  });

async function ask(hub: TestHub, agent: FakeAgent): Promise<void> {
  await agent.hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } });
  await until(async () => (await statusOf(hub, agent)) === 'blocked');
}

describe('somebody who has a page or a terminal open', () => {
  it('is told who waits, where and why, but not of what they have before them', async () => {
    await using hub = await TestHub.start();
    const [mine, other] = [await FakeAgent.start(hub), await FakeAgent.start(hub)];
    const me = await person(hub, mine.paneId);
    await ask(hub, mine);
    await ask(hub, other);
    await until(() => me.notices().length > 0);
    expect(me.notices()).toEqual([
      expect.objectContaining({
        paneId: other.paneId,
        title: 'claude waits for you',
        body: expect.stringMatching(/^permission: Bash rm -rf build · pty_\w+ in \//),
      }),
    ]);
    expect((await stateEvent(hub, mine, 'blocked')).payload).not.toHaveProperty('attention');
    expect((await stateEvent(hub, other, 'blocked')).payload).toMatchObject({ attention: true });
    me.close();
  });

  it('makes what is done idle by looking, and one who looks on is told nothing', async () => {
    await using hub = await TestHub.start();
    const agent = await FakeAgent.start(hub);
    const turn = async () => {
      await agent.hook('UserPromptSubmit');
      await agent.work('working-80x24');
      await until(async () => (await statusOf(hub, agent)) === 'running');
      await agent.hook('Stop');
      await agent.show('finished-120x40');
    };
    await turn();
    await until(async () => (await statusOf(hub, agent)) === 'done');
    const me = await person(hub);
    me.look(agent.paneId);
    await until(async () => (await statusOf(hub, agent)) === 'idle');
    await turn();
    await until(async () => (await statusOf(hub, agent)) === 'idle');
    me.look();
    await me.settled();
    await turn();
    await until(async () => (await statusOf(hub, agent)) === 'done');
    await until(() => me.notices().length > 0);
    expect(me.notices().map(({ title }) => title)).toEqual(['claude is done']);
    me.close();
  });

  it('is no pane: a program that looks has seen nothing, and is told nothing', async () => {
    await using hub = await TestHub.start();
    const agent = await FakeAgent.start(hub);
    const token = await hub.paneToken('looker');
    const socket = new WebSocket(`ws+unix://${hub.socket}:/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const heard: string[] = [];
    socket.on('message', (data) => heard.push(String(data)));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'looking', sessionIds: [agent.paneId] }));
    await ask(hub, agent);
    expect((await stateEvent(hub, agent, 'blocked')).payload).toMatchObject({ attention: true });
    expect(heard.filter((text) => text.includes('"notice"'))).toEqual([]);
    socket.close();
  });
});

describe('a terminal that is attached to the tmux session', () => {
  it('is told by an order it knows, unless it shows that very pane', async () => {
    await using hub = await TestHub.start();
    const [first, second] = [
      await FakeAgent.start(hub, { backend: 'tmux' }),
      await FakeAgent.start(hub, { backend: 'tmux' }),
    ];
    await hub.client.call('pane:activate', { paneId: second.paneId });
    const { tmux, socket, name } = await hub.client.call('session:status', {});
    const terminal = spawn(tmux, ['-L', socket, 'attach', '-t', `=${name}`], {
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    });
    let shown = '';
    terminal.onData((data) => (shown += data));
    await hub.event('session:attached', () => true);
    await ask(hub, second);
    await ask(hub, first);
    await until(() => shown.includes('\x1b]777;notify;'));
    expect(shown.match(/\x1b\]777;notify;[^\x07]*\x07/g)).toEqual([
      expect.stringContaining(`claude waits for you;permission: Bash rm -rf build · ${first.paneId} in `),
    ]);
    terminal.kill();
  });
});

describe('a desktop', () => {
  const desktop = () => {
    const bin = join(tmpdir(), `poly-desktop-${process.pid}-${Math.random().toString(36).slice(2)}`);
    mkdirSync(bin);
    const told = join(bin, 'told');
    writeFileSync(
      join(bin, 'notify-send'),
      `#!/bin/sh\nprintf '%s\\n' "$@" >'${told}.part' && mv '${told}.part' '${told}'\n`,
    );
    chmodSync(join(bin, 'notify-send'), 0o700);
    return { told, env: { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':0' } };
  };

  it('is told, with the words as words', async () => {
    const { told, env } = desktop();
    await using hub = await TestHub.start({ env });
    const agent = await FakeAgent.start(hub);
    await agent.hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'echo <b>&' } });
    await until(() => existsSync(told));
    expect(readFileSync(told, 'utf8')).toMatch(
      /^--app-name=poly\n--\nclaude waits for you\npermission: Bash echo &lt;b&gt;&amp; · pty_\w+ in /,
    );
  });

  it('is left alone where the user says so', async () => {
    const { told, env } = desktop();
    await using hub = await TestHub.start({ env, config: '[notify]\ndesktop = false\n' });
    const me = await person(hub);
    await ask(hub, await FakeAgent.start(hub));
    // Told in the same moment as the desktop would have been.
    await until(() => me.notices().length > 0);
    expect(existsSync(told)).toBe(false);
    me.close();
  });
});
