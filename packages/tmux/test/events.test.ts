import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type EventStream,
  Events,
  type PaneId,
  type SessionId,
  type TmuxEvent,
  type TmuxEventType,
  type WindowId,
} from '../src/index.ts';
import { atLeast } from '../src/operation/version.ts';
import { demoServer, startTestServer, type TestServer, testBinaries } from '../src/testing/index.ts';
import { attachUser } from './attach-user.ts';

/** Reads until an event of this type, and, if given, one that fits. */
async function until<K extends TmuxEventType>(
  stream: EventStream,
  type: K,
  fits: (event: Extract<TmuxEvent, { type: K }>) => boolean = () => true,
): Promise<Extract<TmuxEvent, { type: K }>> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error(`The stream ended before ${type}.`);
    if (value.type === type && fits(value as Extract<TmuxEvent, { type: K }>))
      return value as Extract<TmuxEvent, { type: K }>;
  }
}

/** Collects a pane's bytes until they are as many as expected. */
async function bytesOf(stream: EventStream, paneId: string, size: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let got = 0; got < size; ) {
    const event = await until(stream, 'output', (output) => output.paneId === paneId);
    chunks.push(event.data);
    got += event.data.length;
  }
  return Buffer.concat(chunks);
}

/** The ids of the first window of a session. */
async function idsOf(
  server: TestServer,
  session: string,
): Promise<{ session: SessionId; window: WindowId; pane: PaneId }> {
  const argv = ['display-message', '-p', '-t', `=${session}:0.0`, '#{session_id} #{window_id} #{pane_id}'];
  const [id, window, pane] = (await server.engine('subprocess').run({ argv })).stdout.trim().split(' ');
  return { session: id as SessionId, window: window as WindowId, pane: pane as PaneId };
}

/** The name of a client attached to this session. */
async function clientOf(server: TestServer, session: string): Promise<string> {
  const argv = ['list-clients', '-t', `=${session}:`, '-F', '#{client_name}'];
  return (await server.engine('subprocess').run({ argv })).stdout.trim().split('\n')[0] ?? '';
}

describe.each(testBinaries())('events on %s', (tmux) => {
  test('tell of windows that come, are renamed and go', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine();
    await using events = await Events.open(server.connection);
    const stream = events.subscribe();
    const made = await engine.run({
      argv: ['new-window', '-d', '-t', '=demo:', '-P', '-F', '#{window_id}', '-n', 'naïve 🎉'],
    });
    const windowId = made.stdout.trim();
    expect(await until(stream, 'window-add')).toMatchObject({ windowId });
    await engine.run({ argv: ['rename-window', '-t', windowId, 'two words'] });
    expect(await until(stream, 'window-renamed', (event) => event.name === 'two words')).toMatchObject({
      windowId,
    });
    await engine.run({ argv: ['kill-window', '-t', windowId] });
    for (;;) {
      const { value } = await stream.next();
      if (value?.type === 'window-close' || value?.type === 'unlinked-window-close') break;
    }
  });

  test('tell of windows of other sessions, and of their output to whoever asks for that session', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine();
    await using all = await Events.open(server.connection);
    const notices = all.subscribe({ types: ['unlinked-window-add'] });
    await using other = await Events.open(server.connection, {
      session: (await idsOf(server, 'other')).session,
    });
    const output = other.subscribe({ types: ['output'] });
    const made = await engine.run({
      argv: ['new-window', '-d', '-t', '=other:', '-P', '-F', '#{pane_id}', 'printf over-here; exec cat'],
    });
    expect((await bytesOf(output, made.stdout.trim(), 9)).toString()).toBe('over-here');
    await until(notices, 'unlinked-window-add');
  });

  test('carry every byte from 1 to 255 unchanged', async () => {
    await using server = await demoServer({ tmux });
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1));
    const file = join(server.directory, 'bytes');
    await writeFile(file, bytes);
    await using events = await Events.open(server.connection, {
      session: (await idsOf(server, 'demo')).session,
    });
    const output = events.subscribe({ types: ['output'] });
    const made = await server.engine().run({
      argv: [
        'new-window',
        '-d',
        '-t',
        '=demo:',
        '-P',
        '-F',
        '#{pane_id}',
        `stty raw -echo; cat ${file}; exec cat`,
      ],
    });
    expect(await bytesOf(output, made.stdout.trim(), 255)).toEqual(bytes);
  });

  test('reach two readers whole, and a third that does not read with an explicit gap', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine();
    await using events = await Events.open(server.connection);
    const readers = [
      events.subscribe({ types: ['window-renamed'] }),
      events.subscribe({ types: ['window-renamed'] }),
    ];
    const slow = events.subscribe({ types: ['window-renamed'], limit: 10 });
    for (let i = 0; i < 50; i++) await engine.run({ argv: ['rename-window', '-t', '=demo:0', `w${i}`] });
    for (const reader of readers) {
      for (let i = 0; i < 50; i++) expect(await reader.next()).toMatchObject({ value: { name: `w${i}` } });
      expect(reader.dropped).toBe(0);
    }
    expect(await slow.next()).toMatchObject({ value: { type: 'gap', reason: 'overflow', dropped: 40 } });
    expect(await slow.next()).toMatchObject({ value: { name: 'w40' } });
    expect(slow.dropped).toBe(40);
  });

  test('come back after a loss, with their watches, and say so', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine();
    await using events = await Events.open(server.connection, { output: false });
    const stream = events.subscribe();
    const { window } = await idsOf(server, 'demo');
    await events.watch('name', '#{window_name}', window);
    expect(await until(stream, 'subscription-changed')).toMatchObject({
      name: 'name',
      windowId: window,
      value: 'editor',
    });
    const clients = await server
      .engine('subprocess')
      .run({ argv: ['list-clients', '-F', '#{client_pid} #{client_flags}'] });
    const ours = clients.stdout.split('\n').filter((line) => line.includes('no-output'));
    for (const line of ours) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    expect(await until(stream, 'disconnected')).toMatchObject({ generation: 1 });
    expect(await until(stream, 'connected')).toMatchObject({ generation: 2 });
    expect(await until(stream, 'gap')).toMatchObject({ reason: 'reconnected' });
    await engine.run({ argv: ['rename-window', '-t', window, 'changed'] });
    expect(await until(stream, 'subscription-changed', (event) => event.value === 'changed')).toMatchObject({
      name: 'name',
    });
  });

  test('are one connection again after coming back failed in the middle, and none when closed', async () => {
    await using server = await demoServer({ tmux });
    const processes = server.engine('subprocess');
    const asked = async (...argv: string[]): Promise<readonly string[]> =>
      (await processes.run({ argv })).stdout.split('\n').filter(Boolean);
    const clients = (): Promise<readonly string[]> => asked('list-clients', '-F', '#{client_pid}');
    await using events = await Events.open(server.connection, { output: false });
    const stream = events.subscribe({ types: ['connected', 'disconnected'] });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of stream) seen.push(type);
    })();
    for (let i = 0; i < 20; i++) await events.watch(`name-${i}`, '#{window_name}');
    await processes.run({
      argv: ['set-hook', '-g', 'client-attached', 'set-option -ga @came x ; detach-client'],
    });
    for (const pid of await clients()) process.kill(Number(pid), 'SIGKILL');
    await expect
      .poll(() => asked('show-options', '-gv', '@came'), { timeout: 20_000 })
      .toEqual([expect.stringMatching(/^xxx/)]);
    await processes.run({ argv: ['set-hook', '-gu', 'client-attached'] });
    await expect.poll(() => seen.at(-1), { timeout: 20_000 }).toBe('gap');
    await events.close();
    await reading;
    expect(seen.join(' ')).toMatch(/^disconnected connected gap( disconnected connected gap)*$/);
    await expect.poll(clients).toEqual([]);
  });

  test('resize no window, and would rather lose output than stop a program', async () => {
    await using server = await demoServer({ tmux });
    await using _events = await Events.open(server.connection, {
      session: (await idsOf(server, 'demo')).session,
    });
    const processes = server.engine('subprocess');
    const client = await clientOf(server, 'demo');
    await using _user = await attachUser(server, 'demo');
    const asked = async (format: string): Promise<string> =>
      (await processes.run({ argv: ['display-message', '-p', '-c', client, '-t', '=demo:', format] })).stdout;
    expect(await asked('#{client_flags}')).toMatch(/\bpause-after=5\b/);
    const resized = { argv: ['refresh-client', '-t', client, '-C', '20,10'] };
    expect(await processes.run(resized)).toMatchObject({ status: 'complete' });
    expect(await asked('#{window_width}x#{window_height}')).toBe('80x24\n');
  });

  test('give a paused pane a gap and let it go on', async () => {
    await using server = await demoServer({ tmux });
    const { session, pane } = await idsOf(server, 'demo');
    await using events = await Events.open(server.connection, { session });
    const stream = events.subscribe();
    const pause = ['refresh-client', '-t', await clientOf(server, 'demo'), '-A', `${pane}:pause`];
    expect(await server.engine('subprocess').run({ argv: pause })).toMatchObject({ status: 'complete' });
    await until(stream, 'pause');
    expect(await until(stream, 'gap')).toMatchObject({ reason: 'paused', paneId: pane });
    await until(stream, 'continue');
  });

  test('are not swallowed after a message that imitates the guard of a hook', async () => {
    await using server = await demoServer({ tmux });
    const processes = server.engine('subprocess');
    // An older tmux tells a control client of no message.
    if (!atLeast(await processes.version(), '3.4')) return;
    const { session, window } = await idsOf(server, 'demo');
    await using events = await Events.open(server.connection, { session, output: false });
    const stream = events.subscribe({ types: ['window-renamed'] });
    const forged = ['display-message', '-c', await clientOf(server, 'demo'), 'text\n%%begin 1 2 0'];
    await processes.run({ argv: forged });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'window-renamed') seen.push(event.name);
    })();
    const renamed = async (): Promise<string | undefined> => {
      await processes.run({ argv: ['rename-window', '-t', window, `later ${performance.now()}`] });
      return seen[0];
    };
    await processes.run({ argv: ['rename-window', '-t', window, 'first'] });
    await expect.poll(renamed, { timeout: 10_000, interval: 200 }).toBe('first');
    await events.watch('name', '#{window_name}');
    await events.close();
    await reading;
  });

  test('show what a hook printed as unsolicited', async () => {
    await using server = await demoServer({ tmux });
    await using events = await Events.open(server.connection, {
      session: (await idsOf(server, 'demo')).session,
      output: false,
    });
    const stream = events.subscribe({ types: ['unsolicited'] });
    const hook = ['set-hook', '-g', 'client-session-changed', 'display-message -p hooked'];
    await server.engine('subprocess').run({ argv: hook });
    await server
      .engine('subprocess')
      .run({ argv: ['switch-client', '-c', await clientOf(server, 'demo'), '-t', '=other:'] });
    expect(await until(stream, 'unsolicited')).toMatchObject({ lines: ['hooked'] });
  });
});

test('a folder’s name cannot forge an event', async () => {
  await using server = await demoServer();
  const folder = join(server.directory, 'x\n%exit\n%window-close @77');
  await mkdir(folder);
  await using events = await Events.open(server.connection, { output: false });
  const stream = events.subscribe();
  await events.watch('path', '#{pane_current_path}', '%*');
  const argv = ['new-window', '-d', '-t', '=demo:', '-c', folder, 'exec cat'];
  await server.engine().run({ argv });
  await until(stream, 'subscription-changed', (event) => event.value.includes('%window-close @77'));
  await events.watch('still', '#{window_name}');
  const seen: string[] = [];
  await events.close();
  for await (const event of stream) seen.push(event.type);
  expect(seen).not.toContain('window-close');
});

test('a connection that cannot be had again is given up with its events', async () => {
  await using server = await demoServer();
  const processes = server.engine('subprocess');
  await using events = await Events.open(server.connection, { output: false });
  const stream = events.subscribe({ types: ['disconnected'] });
  await processes.run({
    argv: ['set-option', '-s', 'command-alias[100]', 'attach-session=kill-pane -t %999 ; attach-session'],
  });
  await processes.run({ argv: ['detach-client', '-a'] });
  const listed = await processes.run({ argv: ['list-clients', '-F', '#{client_pid}'] });
  for (const pid of listed.stdout.trim().split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
  await until(stream, 'disconnected');
  await new Promise((resolve) => setTimeout(resolve, 400));
  await events.close();
  await processes.run({ argv: ['set-option', '-su', 'command-alias[100]'] });
  const clients = { argv: ['list-clients', '-F', '#{client_name}'] };
  await expect.poll(async () => (await processes.run(clients)).stdout).toBe('');
});

test('events of a server that does not run are refused', async () => {
  await using server = await startTestServer();
  await expect(Events.open(server.connection)).rejects.toMatchObject({ code: 'no_server' });
});

test('events of a session that is to go when unattached are refused, and the session stays', async () => {
  await using server = await demoServer();
  const engine = server.engine('subprocess');
  const { session } = await idsOf(server, 'other');
  await using _user = await attachUser(server, 'other');
  await engine.run({ argv: ['set-option', '-t', '=other:', 'destroy-unattached', 'on'] });
  await expect(Events.open(server.connection, { session })).rejects.toMatchObject({
    code: 'command_failed',
    message: expect.stringContaining('destroyed when unattached'),
  });
  expect((await engine.run({ argv: ['has-session', '-t', '=other:'] })).status).toBe('complete');
});
