import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { linkWindow, panesOf, Server } from '../src/index.ts';
import { demoServer, startTestServer, testBinaries } from '../src/testing/index.ts';

describe.each(testBinaries())('finding things on %s', (tmux) => {
  test('a server lists every window and pane once, and gives handles by their ids', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    await handles.run(
      linkWindow({ source: { session: 'demo', window: 1 }, target: { session: 'other', window: 9 } }),
    );
    const snapshot = await handles.snapshot();
    const windows = [...new Set(snapshot.sessions.flatMap((session) => session.windows.map(({ id }) => id)))];
    expect((await handles.windows()).map(({ id }) => id)).toEqual(windows);
    expect((await handles.panes()).map(({ id }) => id)).toEqual(panesOf(snapshot).map(({ id }) => id));
    const [session] = snapshot.sessions;
    const [window] = session?.windows ?? [];
    const [pane] = window?.panes ?? [];
    if (!session || !window || !pane) throw new Error('The demo has a session with a window with a pane.');
    expect([window.width, window.height]).toEqual([80, 24]);
    await handles.handle(session.id).rename('found');
    await handles.handle(window.id).rename('seen');
    await handles.handle(pane.id).resize({ zoom: true });
    expect((await handles.snapshot()).sessions[0]).toMatchObject({
      name: 'found',
      windows: [{ name: 'seen', zoomed: true }, {}],
    });
    expect(() => handles.handle('demo' as '%0')).toThrow('"demo" is no id');
  });

  test('the window and pane of a session are those it shows at the moment', async () => {
    await using server = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const session = await handles.newSession({ name: 'moving' });
    const [first] = await session.windows();
    const made = await session.newWindow({ name: 'second', select: true });
    expect((await session.window()).id).toBe(made.id);
    const side = await made.split({ select: true });
    expect([(await session.pane()).id, (await made.pane()).id]).toEqual([side.id, side.id]);
    await first?.select();
    expect((await session.window()).id).toBe(first?.id);
  });

  test('a process finds the pane it runs in, on the server it runs in', async () => {
    await using server = await demoServer({ tmux });
    await using elsewhere = await demoServer({ tmux });
    const handles = new Server(server.engine(), server.connection);
    const { id } = (await (await handles.session('other'))?.pane()) ?? { id: '%0' };
    const file = join(server.directory, 'env');
    await handles.handle(id).sendText(`echo "$TMUX $TMUX_PANE" > '${file}.new'; mv '${file}.new' '${file}'`, {
      enter: true,
    });
    const read = (): Promise<string> => readFile(file, 'utf8').catch(() => '');
    await expect.poll(read, { timeout: 15_000 }).not.toBe('');
    const [TMUX, TMUX_PANE] = (await read()).trim().split(' ');
    const here = await handles.current({ TMUX, TMUX_PANE });
    expect(here?.pane.id).toBe(id);
    expect(here?.session.id).toBe((await handles.session('other'))?.id);
    expect((await here?.window.panes())?.map((pane) => pane.id)).toContain(id);
    expect(await handles.current({})).toBeNull();
    expect(await handles.current({ TMUX, TMUX_PANE: '%999' })).toBeNull();
    const other = new Server(elsewhere.engine(), elsewhere.connection);
    expect(await other.current({ TMUX, TMUX_PANE })).toBeNull();
  });
});

test('without arguments a connection goes to the server it runs in', async () => {
  await using server = await startTestServer();
  const handles = new Server(server.engine(), server.connection);
  const { socketPath } = server.connection;
  const index = join(import.meta.dirname, '..', 'src', 'index.ts');
  const code = `import { Server } from ${JSON.stringify(index)};
await using server = Server.connect();
const here = await server.current();
console.log(here?.session.id, here?.window.id, here?.pane.id);`;
  const session = await handles.newSession({ name: 'inside', shell: 'exec cat' });
  const pid = await server.pid();
  const env = { ...process.env, TMUX: `${socketPath},${pid},0`, TMUX_PANE: (await session.pane()).id };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    env,
  });
  expect(stdout).toBe('$0 @0 %0\n');
});
