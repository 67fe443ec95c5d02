import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  createEngine,
  execute,
  type LazyPane,
  LazyServer,
  linkWindow,
  listBuffers,
  listSessions,
  newSession,
  type Pane,
  panesOf,
  pasteBuffer,
  Server,
  type ServerSnapshot,
  type Session,
  setOption,
  snapshotFromJSON,
  takeSnapshot,
  type Window,
} from '../src/index.ts';
import { demoServer, testBinaries } from '../src/testing/index.ts';

describe.each(testBinaries())('snapshots and handles on %s', (tmux) => {
  test('a snapshot is the whole tree, goes through JSON unchanged, and shows a linked window in each of its places', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    await handles.run(
      linkWindow({ source: { session: 'demo', window: 1 }, target: { session: 'other', window: 9 } }),
    );
    await handles.run(newSession({ name: 'twin', groupWith: { session: 'demo' } }));
    const snapshot = await handles.snapshot();
    const shape = snapshot.sessions.map(({ name, windows }) => [
      name,
      windows.map((w) => [w.index, w.name, w.panes.length]),
    ]);
    expect(shape).toEqual([
      [
        'demo',
        [
          [0, 'editor', 2],
          [1, 'logs', 1],
        ],
      ],
      [
        'other',
        [
          [0, 'main', 1],
          [1, 'spare', 1],
          [9, 'logs', 1],
        ],
      ],
      [
        'twin',
        [
          [0, 'editor', 2],
          [1, 'logs', 1],
        ],
      ],
    ]);
    expect(panesOf(snapshot)).toHaveLength(5);
    expect(snapshot.sessions.map(({ group }) => group !== '')).toEqual([true, false, true]);
    expect(snapshotFromJSON(JSON.parse(JSON.stringify(snapshot)))).toEqual(snapshot);
    expect(snapshot.clients.some((client) => client.controlMode)).toBe(true);
  });

  test('no path, title or name can shift the columns of a snapshot', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const hostile = join(server.directory, 'a\tb\n;guard,%1 $(x) #{pane_id} é');
    await mkdir(hostile);
    const session = await handles.newSession({ name: 'hostile', startDirectory: server.directory });
    const window = await session.newWindow({
      shell: `cd ${JSON.stringify(hostile).replace(/\\t/g, '\t').replace(/\\n/g, '\n').replace('$', '\\$')} && exec cat`,
    });
    const { id } = await window.pane();
    await expect
      .poll(async () => panesOf(await handles.snapshot()).find((pane) => pane.id === id)?.currentPath)
      .toBe(hostile);
  });

  test('handles create, name, find, show and end things', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const session = await handles.newSession({
      name: 'build.it:now'.replace(/[.:]/g, '-'),
      width: 90,
      height: 20,
    });
    const window = await session.newWindow({ name: 'logs' });
    const pane = await window.pane();
    const side = await pane.split({ direction: 'right', shell: 'exec cat' });
    await side.sendText('a "quoted"; text # $HOME Enter', { enter: true });
    await expect.poll(async () => (await side.capture())[0]).toBe('a "quoted"; text # $HOME Enter');
    await window.rename('renamed');
    await session.rename('done');
    const found = await handles.session('done');
    expect(found?.id).toBe(session.id);
    expect(await handles.session('don')).toBeNull();
    expect((await window.panes()).map(({ id }) => id)).toEqual([pane.id, side.id]);
    await session.kill();
    expect(await handles.session('done')).toBeNull();
  });

  test('a session is found by the name it was given, though tmux writes a backslash as two', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const made = async (name: string): Promise<string> =>
      (await handles.engine.run({ argv: ['new-session', '-d', '-P', '-F', '#{session_id}', '-s', name] }))
        .stdout;
    for (const name of ['a\\b', 'a\\\\b', 'a$b {c} é']) {
      const id = (await made(name)).trim();
      expect((await handles.session(name))?.id, name).toBe(id);
    }
    await made('c\\d');
    const listed = (await handles.run(listSessions())).find(({ sessionName }) => sessionName.startsWith('c'));
    expect(await handles.session(listed?.sessionName ?? '')).not.toBeNull();
  });

  test('what a hook prints does not hide what was created', async () => {
    await using server = await demoServer({ tmux });
    for (const name of ['control', 'subprocess', 'imsg'] as const) {
      const engine = server.engine(name);
      for (const hook of ['after-new-window', 'after-new-session', 'after-split-window'])
        await engine.run({ argv: ['set-hook', '-g', hook, 'display-message -p hi'] });
      const session = await new Server(engine, server.connection).newSession({ name: `hooked-${name}` });
      const window = await session.newWindow({ name: 'made' });
      const side = await (await window.pane()).split();
      expect((await window.panes()).map(({ id }) => id)).toContain(side.id);
    }
  });

  test('a refusal of tmux is thrown with its words', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    await expect(handles.newSession({ name: 'demo' })).rejects.toMatchObject({
      code: 'command_failed',
      message: /duplicate session: demo/,
    });
  });

  test('pasted text cannot leave the brackets of a paste, and a dead pane is refused without harm', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const window = await (await handles.session('demo'))?.newWindow({
      shell: 'stty raw -echo; printf "\\033[?2004hready"; exec cat -v',
    });
    const pane = await window?.pane();
    if (!pane) throw new Error('no pane');
    await expect.poll(async () => (await pane.capture())[0]).toContain('ready');
    await pane.paste('one\u001b[20\u001b[201~1~two\u009b201~three');
    await expect
      .poll(async () => (await pane.capture({ joinWrapped: true })).join(''))
      .toContain('^[[200~onetwothree^[[201~');
    // Nothing is left of these, and nothing is pasted.
    await pane.paste(`${'\u001b[20'.repeat(30_000)}${'1~'.repeat(30_000)}`);
    await pane.paste('');
    expect((await handles.run(listBuffers())).map(({ name }) => name)).toEqual(['note']);
    await handles.run(setOption({ target: pane.id, pane: true, option: 'remain-on-exit', value: 'on' }));
    await pane.respawn({ kill: true, shell: 'true' });
    await expect
      .poll(async () => panesOf(await handles.snapshot()).find(({ id }) => id === pane.id)?.dead)
      .toBe(true);
    const pasted = await execute(handles.engine, pasteBuffer({ target: pane.id, bufferName: 'note' }));
    expect(pasted).toMatchObject({ status: 'failed', stderr: ['target pane has exited'] });
    await expect(pane.paste('more')).rejects.toMatchObject({
      hint: expect.stringContaining('respawnPane()'),
    });
    expect(await handles.session('demo')).not.toBeNull();
  });

  test('recorded handles do nothing before the plan runs, and then all of it', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine();
    const lazy = new LazyServer();
    const session = lazy.newSession({ name: 'lazy' });
    session.window
      .rename('first')
      .split({ direction: 'right', shell: 'exec cat' })
      .sendKeys({ keys: ['typed'], literal: true });
    session.newWindow({ name: 'second' }).selectLayout('even-horizontal');
    lazy.ensureSession({ name: 'demo' }).rename('found');
    expect((await takeSnapshot(engine)).sessions.map(({ name }) => name)).toEqual(['demo', 'other']);
    (await lazy.plan.execute(engine)).raiseForStatus();
    const names = (await takeSnapshot(engine)).sessions.map(({ name, windows }) => [
      name,
      ...windows.map((w) => w.name),
    ]);
    expect(names).toEqual([
      ['found', 'editor', 'logs'],
      ['lazy', 'first', 'second'],
      ['other', 'main', 'spare'],
    ]);
  });
});

test('a refusal before anything is there names what is missing', async () => {
  const server = Server.connect({ socketPath: '/nonexistent/socket' });
  await expect(server.sessions()).rejects.toMatchObject({ code: 'no_server' });
  await expect(Server.connect({ tmux: '/nonexistent/tmux' }).sessions()).rejects.toMatchObject({
    code: 'missing_binary',
  });
  expect(() => createEngine('telepathy' as 'control')).toThrow(/control, subprocess, imsg, memory/);
});

test('every handle is statically what it says', () => {
  expectTypeOf<Awaited<ReturnType<Server['newSession']>>>().toEqualTypeOf<Session>();
  expectTypeOf<Awaited<ReturnType<Session['newWindow']>>>().toEqualTypeOf<Window>();
  expectTypeOf<Awaited<ReturnType<Window['split']>>>().toEqualTypeOf<Pane>();
  expectTypeOf<ReturnType<LazyPane['split']>>().toEqualTypeOf<LazyPane>();
  expectTypeOf<Awaited<ReturnType<Server['snapshot']>>>().toEqualTypeOf<ServerSnapshot>();
});
