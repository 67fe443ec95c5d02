import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Engine, execute } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import { atLeast } from '../src/operation/version.ts';
import { killPane } from '../src/operations/kill-pane.ts';
import { killWindow } from '../src/operations/kill-window.ts';
import { renameWindow } from '../src/operations/rename-window.ts';
import { resizePane } from '../src/operations/resize-pane.ts';
import { selectLayout } from '../src/operations/select-layout.ts';
import { selectPane } from '../src/operations/select-pane.ts';
import { selectWindow } from '../src/operations/select-window.ts';
import { splitWindow } from '../src/operations/split-window.ts';
import type { SessionSnapshot } from '../src/snapshot/snapshot.ts';
import { takeSnapshot } from '../src/snapshot/take-snapshot.ts';
import { testBinaries } from '../src/testing/index.ts';
import { confirmWorkspace, freezeWorkspace, parseWorkspace, readWorkspace } from '../src/workspace/index.ts';
import { fixture, workspaceServer } from './workspace-server.ts';

const soon = { timeout: 15_000, interval: 20 };

/** What must be the same after freezing and loading. */
const shapeOf = (session: SessionSnapshot): unknown =>
  session.windows.map(({ index, name, active, layout, panes }) => ({
    index,
    name,
    active,
    layout: layout.replace(/^[0-9a-f]{4},/, '').replaceAll(/(\d+x\d+,\d+,\d+),\d+/g, '$1'),
    panes: panes.map((pane) => [
      pane.active,
      pane.currentPath,
      pane.currentCommand,
      pane.left,
      pane.top,
      pane.width,
      pane.height,
    ]),
  }));

async function run(engine: Engine, ...operations: Operation<object, unknown>[]): Promise<void> {
  for (const operation of operations) (await execute(engine, operation)).unwrap();
}

describe.each(testBinaries())('freezing and confirming on %s', (tmux) => {
  test('a frozen session loads again in the same shape', async () => {
    await using server = await workspaceServer(tmux);
    await mkdir(join(server.work, 'inner'));
    await server.load({
      session_name: 'live',
      dimensions: [132, 43],
      windows: [
        { window_name: 'yes', layout: 'main-vertical', panes: [null, { start_directory: '/usr', focus: true }, { shell: 'exec sleep 1000' }] },
        { window_name: '8', window_index: 4, focus: true, options: { 'remain-on-exit': true, '@note': 'a "b" $NOBODY' }, panes: ['exec cat'] },
        { start_directory: './inner', options: { 'automatic-rename': 'on' }, panes: [null, null] },
      ],
    }, { directory: server.work }); // biome-ignore format: one line for each window
    const pane = (await server.session('live')).windows[0]?.panes[1]?.id ?? '%0';
    await run(server.carrier, resizePane({ target: pane, height: 7 }));
    // A process that has just been started has no folder yet.
    const commands = async (): Promise<string[]> =>
      (await server.session('live')).windows.flatMap(({ panes }) =>
        panes.map((one) => (one.currentPath === '' ? 'starting' : one.currentCommand)),
      );
    await expect.poll(commands, soon).toEqual(['sh', 'sh', 'sleep', 'sh', 'sh', 'cat']);
    // The window that is named after its program gets its name a little later.
    const names = async (): Promise<string[]> =>
      (await server.session('live')).windows.map(({ name }) => name);
    await expect.poll(names, soon).toContain('sh');
    const before = shapeOf(await server.session('live'));

    const { workspace, text, warnings } = await freezeWorkspace(server.carrier, ['live']);
    expect(warnings).toMatchObject([{ code: 'changed_value', path: 'windows[2].options.@note' }]);
    const file = parseWorkspace(text).sessions[0]?.value;
    expect(file).toEqual(workspace);
    expect(file).toMatchObject({
      windows: [{}, {}, { options: { 'remain-on-exit': 'on', '@note': 'a "b" $NOBODY' } }],
    });
    await server.load(workspace, { onExists: 'replace', env: {} });
    await expect.poll(async () => shapeOf(await server.session('live')), soon).toEqual(before);
  });

  test('takes the default command for no command of a pane', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({
      session_name: 'own',
      options: { 'default-command': 'A="b c" exec sh' },
      windows: [{ panes: [null, { shell: 'exec sleep 1000' }] }],
    });
    await expect.poll(() => commandsOf(server, 'own'), soon).toEqual(['sh', 'sleep']);
    const { workspace } = await freezeWorkspace(server.carrier, ['own']);
    expect(workspace).toMatchObject({
      windows: [{ panes: [null, { shell: 'exec sleep 1000' }] }],
    });
    expect(JSON.stringify(workspace)).not.toContain('b c');
  });

  test('freezes every session, each by its exact name, and says which name there is not', async () => {
    await using server = await workspaceServer(tmux);
    await server.load(fixture('two.yaml'));
    const { workspace } = await freezeWorkspace(server.carrier);
    expect(workspace).toMatchObject({ sessions: [{ session_name: 'left' }, { session_name: 'right' }] });
    const { differences } = await server.load(workspace, { onExists: 'replace', confirm: true });
    expect(differences).toEqual([]);
    await expect(freezeWorkspace(server.carrier, ['righ'])).rejects.toMatchObject({
      code: 'invalid_parameters',
    });
  });

  test('freezes floating panes as floats, and none where tmux has none', async () => {
    await using server = await workspaceServer(tmux);
    const hasFloats = atLeast(await server.carrier.version(), '3.7');
    const floats = [{ width: 20, height: 5, x: 3, y: 2 }];
    await server.load({
      session_name: 'f',
      windows: [{ layout: 'even-vertical', panes: [null, null], floats }],
    });
    const panes = hasFloats ? 3 : 2;
    await expect.poll(() => commandsOf(server, 'f'), soon).toEqual(Array(panes).fill('sh'));
    // The automatic name of a window follows its command a moment later.
    await expect.poll(async () => shapeOf(await server.session('f')), soon).toMatchObject([{ name: 'sh' }]);
    const before = shapeOf(await server.session('f'));
    const { workspace } = await freezeWorkspace(server.carrier, ['f']);
    expect(workspace).toMatchObject({ windows: [hasFloats ? { floats } : { panes: [{}, {}] }] });
    await server.load(workspace, { onExists: 'replace' });
    await expect.poll(async () => shapeOf(await server.session('f')), soon).toEqual(before);
  });

  test('finds every difference that was planted', async () => {
    await using server = await workspaceServer(tmux);
    const source = {
      session_name: 'planted',
      windows: [
        { window_name: 'a', layout: 'even-horizontal', focus: true, panes: [{ focus: true }, null, null] },
        { window_name: 'b', start_directory: '/usr', panes: [null, null] },
        { window_name: 'c' },
      ],
    };
    const { workspace } = await readWorkspace(source, { cwd: server.work });
    const look = async (): Promise<readonly string[]> =>
      confirmWorkspace(workspace, await takeSnapshot(server.carrier)).map(({ path }) =>
        path.replace('sessions[0]', ''),
      );
    await server.load({ session_name: 'planted-elsewhere', windows: [{}] });
    expect(await look()).toEqual(['']);
    const { sessions, differences } = await server.load(source, { confirm: true });
    expect(differences).toEqual([]);
    const [a, b, c] = sessions[0]?.windows ?? [];
    if (!a || !b || !c) throw new Error('Three windows were declared.');
    const [first = '%0', second = '%0', third = '%0'] = a.panes;
    const plant = async (
      operation: Operation<object, unknown>,
      wanted: readonly string[],
      undo: Operation<object, unknown>,
    ): Promise<void> => {
      await run(server.carrier, operation);
      expect(await look()).toEqual(wanted);
      await run(server.carrier, undo);
      expect(await look()).toEqual([]);
    };
    const even = selectLayout({ target: a.id, layout: 'even-horizontal' });
    await plant(
      renameWindow({ target: b.id, name: 'x' }),
      ['.windows[1].window_name'],
      renameWindow({ target: b.id, name: 'b' }),
    );
    await plant(selectWindow({ target: c.id }), ['.windows[0].focus'], selectWindow({ target: a.id }));
    await plant(
      selectPane({ target: second }),
      ['.windows[0].panes[0].focus'],
      selectPane({ target: first }),
    );
    await plant(selectLayout({ target: a.id, layout: 'main-vertical' }), ['.windows[0].layout'], even);
    await plant(selectLayout({ target: a.id, layout: 'even-vertical' }), ['.windows[0].layout'], even);
    await plant(resizePane({ target: first, width: 10 }), ['.windows[0].layout'], even);
    const extra = (await execute(server.carrier, splitWindow({ target: third }))).unwrap();
    expect(await look()).toEqual(['.windows[0].panes']);
    await run(server.carrier, killPane({ target: extra.paneId }), even);
    await run(server.carrier, killPane({ target: b.panes[0] ?? '%0' }), killWindow({ target: c.id }));
    expect(await look()).toEqual(['.windows', '.windows[1].panes']);
  });

  test('finds a first pane in another folder', async () => {
    await using server = await workspaceServer(tmux);
    const { workspace } = await readWorkspace({ session_name: 'w', start_directory: '/usr', windows: [{}] });
    await server.load({ session_name: 'w', start_directory: '/', windows: [{}] }, { confirm: true });
    expect(confirmWorkspace(workspace, await takeSnapshot(server.carrier))).toEqual([
      { path: 'sessions[0].windows[0].panes[0].start_directory', declared: '/usr', found: '/' },
    ]);
  });
});

/** What runs in the panes of a session's first window; nothing for one that tmux does not know all about yet. */
async function commandsOf(
  server: Awaited<ReturnType<typeof workspaceServer>>,
  name: string,
): Promise<unknown> {
  const { windows } = await server.session(name);
  return windows[0]?.panes.map((pane) => pane.currentPath !== '' && pane.currentCommand);
}
