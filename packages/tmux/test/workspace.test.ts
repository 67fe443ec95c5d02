import { copyFile, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { execute } from '../src/engine.ts';
import { atLeast } from '../src/operation/version.ts';
import { showOptions } from '../src/operations/show-options.ts';
import { testBinaries } from '../src/testing/index.ts';
import { isWindowOption } from '../src/workspace/window-options.ts';
import { fixture, workspaceServer } from './workspace-server.ts';

const soon = { timeout: 15_000, interval: 20 };

describe.each(testBinaries())('a workspace on %s', (tmux) => {
  test('types the commands of session, window and pane in this order', async () => {
    await using server = await workspaceServer(tmux);
    await server.load(fixture('commands.yaml'));
    const order = 'session window with-a-mapping pane first second after'.split(' ').join('\n');
    await expect.poll(() => server.file('order'), soon).toBe(`${order}\n`);
  });

  test('presses Enter after a command unless that command or its pane says no, and types no key by its name', async () => {
    await using server = await workspaceServer(tmux);
    const { sessions } = await server.load(fixture('typing.yaml'));
    const [enter, history] = sessions[0]?.windows ?? [];
    const screens = ['one\ntwothree', 'fourfive', 'sixseven', 'Enter\nC-c\n-l'];
    for (const [i, wanted] of screens.entries())
      await expect.poll(() => server.screen(enter?.panes[i] ?? '%0'), soon).toBe(wanted);
    await expect.poll(() => server.screen(history?.panes[0] ?? '%0'), soon).toBe(' hidden');
    await expect.poll(() => server.screen(history?.panes[1] ?? '%0'), soon).toBe('shown');
  });

  test('types a command of several lines as it is, with quotes, marks and semicolons', async () => {
    await using server = await workspaceServer(tmux);
    const lines = ['for each in one two; do', `  echo "$each; it's #{done} é" >> lines`, 'done', ''];
    await server.load({
      session_name: 'lines',
      windows: [{ panes: [lines.join('\n'), 'echo tail > tail;'] }],
    });
    await expect.poll(() => server.file('lines'), soon).toBe("one; it's #{done} é\ntwo; it's #{done} é\n");
    await expect.poll(() => server.file('tail'), soon).toBe('tail\n');
  });

  test('starts processes in their folders and with their variables', async () => {
    await using server = await workspaceServer(tmux);
    await mkdir(join(server.work, 'inner', 'deep'), { recursive: true });
    await copyFile(fixture('places.yaml'), join(server.work, '.tmuxp.yaml'));
    const { sessions, warnings, differences } = await server.load(server.work, { confirm: true });
    expect([warnings, differences]).toEqual([[], []]);
    expect(sessions[0]?.name).toBe('places of ann');
    await expect.poll(() => server.file('level-of-the-session'), soon).toBe('session\n');
    await expect.poll(() => server.file('where'), soon).toBe(`${server.work}/data\n`);
    await expect.poll(() => server.file('inner/level'), soon).toBe('window\nwindow\n');
    await expect.poll(() => server.file('inner/deep/level'), soon).toBe('pane\n');
    await expect.poll(() => server.file('inner/deep/only'), soon).toBe('unset\n');
    const outside = async (): Promise<unknown> =>
      (await server.session('places of ann')).windows[2]?.panes.map((pane) => pane.currentPath);
    await expect.poll(outside, soon).toEqual(['/usr', await realpath(server.work)]);
  });

  test('gives windows their names, indexes, layouts, options and focus', async () => {
    await using server = await workspaceServer(tmux);
    const { sessions, differences } = await server.load(fixture('shape.yaml'), { confirm: true });
    expect(differences).toEqual([]);
    const session = await server.session('shape');
    expect(session.windows.map(({ index, name, active }) => [index, name, active])).toEqual([
      [0, 'top', false],
      [1, 'next', true],
      [7, 'far', false],
    ]);
    expect(session.windows.map(({ panes }) => panes.findIndex((pane) => pane.active))).toEqual([2, 0, 2]);
    const [top, next, far] = session.windows;
    expect(top?.panes[0]).toMatchObject({ left: 0, top: 0, width: 120, height: 12 });
    expect(new Set(far?.panes.map((pane) => pane.left))).toEqual(new Set([0]));
    expect(next?.panes.length).toBe(7);
    expect(top?.panes.map((pane) => pane.synchronized)).toEqual([true, true, true, true]);
    const { id } = session;
    expect(await server.ask(id, '#{status-left} #{@mine} #{display-time}')).toBe('[ann] yes 1234');
    expect(await server.ask(top?.id ?? '@0', '#{main-pane-height} #{@before}')).toBe('12 1');
    expect(await server.ask(far?.id ?? '@0', '#{main-pane-height}')).toBe('9');
    expect(sessions[0]?.windows.map((window) => window.id)).toEqual([top?.id, far?.id, next?.id]);
  });

  test('makes the last pane active where none has the focus, and the first window current', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({ session_name: 'plain', windows: [{ panes: [null, null] }, { panes: [null, null] }] });
    const { windows } = await server.session('plain');
    expect(windows.map((window) => window.active)).toEqual([true, false]);
    expect(windows.map(({ panes }) => panes.map((pane) => pane.active))).toEqual([
      [false, true],
      [false, true],
    ]);
  });

  test('starts with the base index the file sets, and lets the first window have any index', async () => {
    await using server = await workspaceServer(tmux);
    const windows = [{ window_name: 'a' }, { window_name: 'b' }];
    await server.load({ session_name: 'based', options: { 'base-index': 3 }, windows });
    await server.load({
      session_name: 'moved',
      windows: [{ window_name: 'z', window_index: 9 }, ...windows],
    });
    const indexes = async (name: string): Promise<unknown> =>
      (await server.session(name)).windows.map((window) => [window.index, window.name]);
    expect(await indexes('based')).toEqual([
      [3, 'a'],
      [4, 'b'],
    ]);
    expect(await indexes('moved')).toEqual([
      [0, 'a'],
      [1, 'b'],
      [9, 'z'],
    ]);
  });

  test('runs the shell of the first pane instead of the window’s, under the shell the file sets', async () => {
    await using server = await workspaceServer(tmux);
    const { sessions } = await server.load({
      session_name: 'shells',
      options: { 'default-command': 'exec tail -f /dev/null' },
      windows: [{ window_shell: 'exec cat', panes: [{ shell: 'exec sleep 1000' }, null] }, { panes: [null] }],
    });
    const commands = async (): Promise<string[]> =>
      (await server.session('shells')).windows.flatMap(({ panes }) =>
        panes.map((pane) => pane.currentCommand),
      );
    await expect.poll(commands, soon).toEqual(['sleep', 'cat', 'tail']);
    expect(sessions[0]?.windows[0]?.panes.length).toBe(2);
  });

  test('builds more panes than halving a small window would leave room for', async () => {
    await using server = await workspaceServer(tmux);
    const panes = Array.from({ length: 12 }, () => null);
    const windows = ['main-vertical', 'even-horizontal', 'tiled'].map((layout) => ({ layout, panes }));
    const { differences } = await server.load({ session_name: 'many', windows }, { confirm: true });
    expect(differences).toEqual([]);
    expect((await server.session('many')).windows.map((window) => window.panes.length)).toEqual([12, 12, 12]);
  });

  test('keeps what a first window declares out of the session', async () => {
    await using server = await workspaceServer(tmux);
    const windows = [
      { environment: { MARK: 'first' }, start_directory: '/usr' },
      { panes: ['printenv MARK > mark || echo unset > mark'] },
    ];
    await server.load({ session_name: 'apart', windows });
    await expect.poll(() => server.file('mark'), soon).toBe('unset\n');
    expect(await server.ask((await server.session('apart')).id, '#{session_path}')).toBe(server.work);
  });

  test('takes names and folders with marks of tmux’s formats as they are', async () => {
    await using server = await workspaceServer(tmux);
    const folder = join(server.work, 'a #{pid} b');
    await mkdir(folder);
    const { differences } = await server.load(
      {
        session_name: 'C# #S',
        start_directory: folder,
        windows: [{ window_name: '#W %H ~', window_index: 4 }],
      },
      { confirm: true },
    );
    expect(differences).toEqual([]);
    expect((await server.session('C# #S')).windows[0]?.name).toBe('#W %H ~');
  });

  test('waits until the prompt is there before it types, when told to', async () => {
    await using server = await workspaceServer(tmux);
    const { result } = await server.load({
      session_name: 'wait',
      wait_pane: true,
      windows: [{ panes: ['echo ready > ready', null] }],
    });
    expect(
      result.steps.flatMap((step) => (step.type === 'host' ? [[step.host.type, step.value]] : [])),
    ).toEqual([['wait_pane', { ready: true }]]);
    await expect.poll(() => server.file('ready'), soon).toBe('ready\n');
  });

  test('clears the screen between what prepares a pane and its own commands', async () => {
    await using server = await workspaceServer(tmux);
    const { sessions } = await server.load({
      session_name: 'clear',
      windows: [{ clear: true, shell_command_before: 'echo noise', panes: ['echo kept'] }],
    });
    const pane = sessions[0]?.windows[0]?.panes[0] ?? '%0';
    await expect.poll(() => server.screen(pane), soon).toMatch(/^(?!.*noise).*kept/s);
  });

  test('opens floating panes where tmux has them, and reports them where it has not', async () => {
    await using server = await workspaceServer(tmux);
    const { sessions, warnings } = await server.load({
      session_name: 'floats',
      windows: [
        {
          window_name: 'a',
          floats: [
            {
              width: 20,
              height: 5,
              x: 3,
              y: 2,
              shell: 'exec cat > /dev/null',
              shell_command: 'hi',
              attach_to: 'b',
            },
          ],
        },
        { window_name: 'b' },
      ],
    });
    const panes = (await server.session('floats')).windows[1]?.panes ?? [];
    if (atLeast(await server.carrier.version(), '3.7')) {
      expect(warnings).toEqual([]);
      expect(panes.map((pane) => pane.floating)).toEqual([false, true]);
      await expect.poll(() => server.screen(sessions[0]?.windows[1]?.panes[1] ?? '%0'), soon).toBe(' hi');
    } else {
      expect(warnings).toMatchObject([{ code: 'unsupported_key', path: 'windows[0].floats[0]' }]);
      expect(panes.length).toBe(1);
    }
  });

  test('reports every key that had no effect, and builds the rest', async () => {
    await using server = await workspaceServer(tmux);
    const { warnings } = await server.load(fixture('everything.json'));
    expect(warnings.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['unsupported_key', 'plugins', 3],
      ['unsupported_key', 'workspace_builder', 4],
      ['unknown_key', 'workspace_builder_options.parallel', 5],
      ['unsupported_key', 'config', 6],
      ['unknown_key', 'windows[0].if', 10],
      ['unknown_key', 'windows[0].panes[0].title', 11],
    ]);
    expect(await server.names()).toEqual(['everything']);
  });

  test('warns of a folder that does not exist', async () => {
    await using server = await workspaceServer(tmux);
    const { warnings } = await server.load(
      { session_name: 'lost', start_directory: 'nowhere', windows: [{}, {}] },
      { directory: server.work },
    );
    expect(warnings).toMatchObject([
      { code: 'missing_directory', path: 'windows[0].panes[0].start_directory' },
    ]);
  });

  test('builds every session of a file, and tells of each part as it comes', async () => {
    await using server = await workspaceServer(tmux);
    const told: string[] = [];
    const { sessions } = await server.load(fixture('two.yaml'), {
      onEvent: (event) =>
        told.push(
          event.type === 'built'
            ? 'built'
            : `${event.type} ${event.session} ${'window' in event ? event.window : ''}`.trim(),
        ),
    });
    expect(told).toEqual([
      'sessionCreated left', 'windowCreated left 0', 'paneCreated left 0', 'paneCreated left 0',
      'sessionCreated right', 'windowCreated right 0', 'paneCreated right 0', 'windowCreated right 1', 'paneCreated right 1',
      'built',
    ]); // biome-ignore format: one line for each session
    expect(
      sessions.map(({ name, action, windows }) => [name, action, windows.map(({ panes }) => panes.length)]),
    ).toEqual([
      ['left', 'create', [2]],
      ['right', 'create', [1, 1]],
    ]);
    const live = await server.session('right');
    expect(sessions[1]).toMatchObject({
      id: live.id,
      windows: live.windows.map(({ id, name, panes }) => ({ id, name, panes: panes.map((pane) => pane.id) })),
    });
  });

  test('builds the example that comes with this repository', async () => {
    await using server = await workspaceServer(tmux);
    const example = join(import.meta.dirname, '../../../examples/workspaces/dev.yaml');
    const { sessions, warnings, differences } = await server.load(example, { confirm: true });
    expect([warnings, differences]).toEqual([[], []]);
    expect(sessions[0]?.windows.map(({ name, panes }) => [name, panes.length])).toEqual([
      ['code', 3],
      ['machine', 1],
    ]);
    await expect
      .poll(() => server.screen(sessions[0]?.windows[0]?.panes[0] ?? '%0'), soon)
      .toMatch(/Welcome.*packages/s);
  });

  test('writes no window option into the session, and knows the window options of this tmux', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({ session_name: 'options', windows: [{}] });
    const { options } = (await execute(server.carrier, showOptions({ global: true, window: true }))).unwrap();
    const unknown = Object.keys(options).filter(
      (name) => !isWindowOption(name) && !name.startsWith('display-panes-'),
    );
    expect(unknown).toEqual([]);
    const session = (await execute(server.carrier, showOptions({ global: true }))).unwrap().options;
    expect(Object.keys(session).filter(isWindowOption)).toEqual([]);
  });
});
