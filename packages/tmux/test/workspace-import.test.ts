import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { testBinaries } from '../src/testing/index.ts';
import {
  importTeamocil,
  importTmuxinator,
  parseWorkspace,
  stringifyWorkspace,
} from '../src/workspace/index.ts';
import { fixture, workspaceServer } from './workspace-server.ts';

const soon = { timeout: 15_000, interval: 20 };

describe('importing a project of tmuxinator', () => {
  test('carries over all that a workspace can say', async () => {
    const { workspace } = importTmuxinator(await readFile(fixture('tmuxinator.yml'), 'utf8'));
    expect(workspace).toEqual({
      session_name: 'shop',
      config: '~/my tmux.conf',
      socket_name: 'side',
      start_directory: '$WORK',
      before_script: 'mkdir -p assets; touch pre-ran; touch pre-ran-too',
      shell_command_before: ['echo set-up'],
      windows: [
        {
          window_name: 'code',
          start_directory: 'assets',
          shell_command_before: ['echo one', 'echo two'],
          layout: 'main-vertical',
          options_after: { 'synchronize-panes': 'on' },
          focus: true,
          panes: [
            'touch first',
            { shell_command: ['touch second', 'touch third'], focus: true },
            null,
            'touch fourth',
          ],
        },
        { window_name: 'pull', panes: [['touch fetched', 'touch merged']] },
        { window_name: 'server', panes: ['touch served'] },
        { window_name: 'spare', panes: [null] },
        { window_name: 'grid', layout: 'tiled', panes: [{ shell_command: null, focus: true }, null, null] },
      ],
    });
  });

  test('reports what it had to leave out, and where', async () => {
    const { warnings } = importTmuxinator(await readFile(fixture('tmuxinator.yml'), 'utf8'));
    expect(warnings.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['unsupported_key', 'post', 8],
      ['unsupported_key', 'attach', 12],
      ['unsupported_key', 'windows[0].code.panes[3].tests', 23],
      ['unknown_key', 'windows[4].grid.colour', 27],
      ['unsupported_key', 'tmux_options', 5],
    ]);
  });

  test('reads the old names of keys', () => {
    const old = 'project_name: a\nproject_root: ~/b\ncli_args: -L c\nrbenv: 3.10\ntabs:\n  - d: e\n';
    expect(importTmuxinator(old).workspace).toEqual({
      session_name: 'a',
      start_directory: '~/b',
      socket_name: 'c',
      shell_command_before: ['rbenv shell 3.10'],
      windows: [{ window_name: 'd', panes: ['e'] }],
    });
  });

  test('names a session after its file when it has no name, and points at Ruby it cannot run', () => {
    const text = 'root: <%= ENV["ROOT"] %>\nwindows:\n  - a: top\n';
    const { workspace, warnings } = importTmuxinator(text, { name: '/home/ann/shop.yml' });
    expect(workspace.session_name).toBe('shop');
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('Ruby'),
      expect.stringContaining('after the file'),
    ]);
  });

  test('refuses what is no project', () => {
    for (const text of ['windows: 3', '[]', 'windows: [{ a: { panes: 3.5, layout: [] } }]']) {
      expect(() => importTmuxinator(text), text).toThrow(
        expect.objectContaining({ code: 'invalid_workspace' }),
      );
    }
  });

  test('says which place of the file it cannot read, and what stands there', () => {
    for (const [text, said] of [
      ['name: a\nwindows: 3', 'web.yml:2:10: windows: must be a list, not 3'],
      ['name: {}\nwindows: [{ a: b }]', 'web.yml:1:7: name: cannot be {}'],
      [
        'name: a\nwindows:\n  - a: { panes: { b: c } }',
        "web.yml:3:17: windows[0].a.panes: cannot be { b: 'c' }",
      ],
    ] as const)
      expect(() => importTmuxinator(text, { name: 'web.yml' }), text).toThrow(said);
    expect(() => importTeamocil('windows:\n  - name: a\n    focus: maybe', { name: 'two.yml' })).toThrow(
      'two.yml:3:12: windows[0].focus: must be true or false, not "maybe"',
    );
  });

  test('reports a startup window or pane that does not exist', () => {
    const windows = [{ a: { panes: ['b', 'c'] } }];
    expect(importTmuxinator({ name: 'x', startup_window: 'z', windows }).warnings).toMatchObject([
      { path: 'startup_window' },
    ]);
    expect(importTmuxinator({ name: 'x', startup_pane: 9, windows }).warnings).toMatchObject([
      { path: 'startup_pane' },
    ]);
  });
});

describe('importing a layout of teamocil', () => {
  test('carries over all that a workspace can say, and reports the rest', async () => {
    const { workspace, warnings } = importTeamocil(await readFile(fixture('teamocil.yml'), 'utf8'));
    expect(workspace).toEqual({
      session_name: 'depot',
      start_directory: '$WORK',
      windows: [
        {
          window_name: 'work',
          layout: 'even-vertical',
          clear: true,
          shell_command_before: 'touch before',
          shell_command_after: 'touch after',
          panes: ['touch one', { shell_command: ['touch two', 'touch three'], focus: true }, null],
        },
        {
          window_name: 'watch',
          focus: true,
          options: { 'synchronize-panes': true },
          panes: ['touch four', 'touch five'],
        },
      ],
    });
    expect(warnings.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['unsupported_key', 'session.windows[0].with_env_var', 10],
      ['unsupported_key', 'session.windows[0].splits[1].width', 13],
      ['unsupported_key', 'session.windows[0].splits[1].target', 13],
    ]);
  });

  test('reads layouts without a session', () => {
    const { workspace, warnings } = importTeamocil(
      { windows: [{ name: 'a', panes: ['b'] }] },
      { name: 'two.yml' },
    );
    expect(workspace).toEqual({ session_name: 'two', windows: [{ window_name: 'a', panes: ['b'] }] });
    expect(warnings).toMatchObject([{ code: 'changed_value' }]);
  });
});

describe.each(testBinaries())('an imported workspace on %s', (tmux) => {
  test.each([
    [
      'tmuxinator.yml',
      importTmuxinator,
      'shop',
      ['pre-ran', 'pre-ran-too', 'assets/first', 'assets/third', 'assets/fourth', 'merged', 'served'],
    ],
    ['teamocil.yml', importTeamocil, 'depot', ['before', 'one', 'two', 'three', 'after', 'four', 'five']],
  ] as const)('%s builds and runs', async (name, read, session, files) => {
    await using server = await workspaceServer(tmux);
    const { workspace } = read(await readFile(fixture(name), 'utf8'));
    expect(parseWorkspace(stringifyWorkspace(workspace)).sessions[0]?.value).toEqual(workspace);
    const { differences } = await server.load(workspace, { confirm: true });
    expect(differences).toEqual([]);
    for (const file of files) await expect.poll(() => server.file(file), soon).toBe('');
    expect((await server.session(session)).windows.length).toBe(session === 'shop' ? 5 : 2);
  });
});
