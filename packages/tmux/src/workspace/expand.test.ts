import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandWorkspace } from './expand.ts';
import { expandText } from './expand-text.ts';
import { parseWorkspace } from './parse.ts';
import type { WorkspacePane, WorkspaceSession, WorkspaceWarning } from './workspace.ts';

const place = {
  env: { USER: 'ann', ROOT: '/srv', EMPTY: '', 'odd name': 'odd' },
  home: '/home/ann',
  directory: '/srv',
  cwd: '/here',
};

function expand(text: string): { session: WorkspaceSession; warnings: readonly WorkspaceWarning[] } {
  const { workspace, warnings } = expandWorkspace(parseWorkspace(text, 'dev.yaml'), place);
  return { session: workspace.sessions[0] as WorkspaceSession, warnings };
}

function panes(text: string): readonly WorkspacePane[] {
  return expand(text).session.windows.flatMap((window) => window.panes);
}

const typed = (pane: WorkspacePane | undefined): string[] => pane?.commands.map(({ text }) => text) ?? [];

describe('expandText', () => {
  it('replaces a leading ~ and the variables that are set, and leaves the others as written', () => {
    const unset = ['$NOBODY', '$', '{NOBODY} $1 $$ $(id) $((1 + 2))'].join('');
    const cases: [given: string, wanted: string][] = [
      ['~', '/home/ann'],
      ['~/a', '/home/ann/a'],
      ['a ~ b', 'a ~ b'],
      ['~bob/x', '~bob/x'],
      ['$USER-$' + '{ROOT}', 'ann-/srv'],
      [unset, unset],
      ['$constructor $toString', '$constructor $toString'],
      ['[$' + '{EMPTY}]$' + '{odd name}', '[]odd'],
    ];
    for (const [given, wanted] of cases) expect(expandText(given, place)).toBe(wanted);
  });

  it('changes nothing in a text without ~ and $', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.includes('$') && !text.startsWith('~'));
        expect(expandText(text, place)).toBe(text);
      }),
    );
  });
});

describe('expandWorkspace', () => {
  it('expands every kind of text a file holds', () => {
    const { session } = expand(`
      session_name: work of $USER
      start_directory: \${ROOT}/code
      before_script: $ROOT/prepare.sh --for $USER
      environment: { WHO: $USER, NEAR: ./bin, HIDDEN: .config }
      options: { status-left: $USER, default-command: ./shell }
      global_options: { status-right: $USER }
      windows:
        - window_name: $USER
          window_shell: $ROOT/sh
          options: { '@who': $USER }
          options_after: { '@path': ./later }
          environment: { LOG: ./log }
          panes: [{ shell_command: [echo $USER, { cmd: ~/run }], shell: ~/sh }, null]
    `);
    expect(session).toMatchObject({
      name: 'work of ann',
      startDirectory: '/srv/code',
      beforeScript: { command: '/srv/prepare.sh --for ann', file: '/srv/prepare.sh', cwd: '/srv/code' },
      environment: { WHO: 'ann', NEAR: '/srv/bin', HIDDEN: '/srv/.config' },
      options: { 'status-left': 'ann', 'default-command': '/srv/shell' },
      globalOptions: { 'status-right': 'ann' },
    });
    const [window] = session.windows;
    expect(window).toMatchObject({
      name: 'ann',
      options: { '@who': 'ann' },
      optionsAfter: { '@path': '/srv/later' },
    });
    expect(typed(window?.panes[0])).toEqual(['echo ann', '/home/ann/run']);
    expect(window?.panes.map(({ shell }) => shell)).toEqual(['/home/ann/sh', '/srv/sh']);
    expect(window?.panes.map(({ environment }) => environment)).toEqual([
      { LOG: '/srv/log' },
      { LOG: '/srv/log' },
    ]);
  });

  it('finds a relative folder from the parent’s, and the outermost from the file’s', () => {
    const found = panes(`
      session_name: a
      start_directory: code
      windows:
        - panes: [null]
        - start_directory: ./src
          panes: [null, { start_directory: lib }, { start_directory: ../docs }, { start_directory: ~ }]
        - start_directory: /var
          panes: [{ start_directory: log }, { start_directory: '~' }]
    `).map(({ startDirectory }) => startDirectory);
    expect(found).toEqual([
      '/srv/code',
      '/srv/code/src', '/srv/code/src/lib', '/srv/code/docs', '/srv/code/src',
      '/var/log', '/home/ann',
    ]); // biome-ignore format: one line for each window
    const lonely = panes('session_name: a\nwindows: [{ start_directory: ./x }, {}]');
    expect(lonely.map(({ startDirectory }) => startDirectory)).toEqual(['/srv/x', '/here']);
  });

  it('reads every short form of a pane', () => {
    const found = panes(`
      session_name: a
      windows:
        - panes:
            -
            - pane
            - blank
            - shell_command:
            - shell_command: [null]
            - shell_command: blank
            - focus: yes
            - ''
            - shell_command: ['']
            - top
            - [a, { cmd: b }]
            - cmd: c
            - { shell_command: [pane, d] }
            - { shell_command: [{ cmd: pane }] }
            - 5
            - true
            - |
              if true; then
                echo yes
              fi
    `);
    expect(found.map(typed)).toEqual([
      [], [], [], [], [], [], [], [''], [''], ['top'], ['a', 'b'], ['c'], ['pane', 'd'], ['pane'], ['5'], ['true'],
      ['if true; then\n  echo yes\nfi'],
    ]); // biome-ignore format: in the order of the file
    expect(found[6]?.focus).toBe(true);
  });

  it('types the commands of the session, the window and the pane in this order, around what the pane says', () => {
    const [first, blank] = panes(`
      session_name: a
      shell_command_before: s
      windows:
        - shell_command_before: [w1, { cmd: w2 }]
          shell_command_after: { shell_command: [done] }
          clear: true
          panes: [{ shell_command_before: { cmd: p }, shell_command: [own] }, null]
    `);
    expect(typed(first)).toEqual(['s', 'w1', 'w2', 'p', 'clear', 'own', 'done']);
    expect(typed(blank)).toEqual(['s', 'w1', 'w2', 'clear', 'done']);
  });

  it('keeps enter and the sleeps of a group of commands with that group', () => {
    const [pane] = panes(`
      session_name: a
      shell_command_before: { shell_command: [a, { cmd: b, enter: yes, sleep_after: 1 }], enter: no, sleep_before: 2, sleep_after: 3 }
      windows: [{ panes: [own] }]
    `);
    expect(pane?.commands).toEqual([
      { text: 'a', enter: false, sleepBeforeMs: 2000, sleepAfterMs: 0 },
      { text: 'b', enter: true, sleepBeforeMs: 0, sleepAfterMs: 4000 },
      { text: 'own', enter: true, sleepBeforeMs: 0, sleepAfterMs: 0 },
    ]);
  });

  it('refuses an empty float that is to run something, with its place', () => {
    for (const key of ['shell_command', 'cmd', 'shell'])
      expect(() => expand(`session_name: a\nwindows: [{ floats: [{ empty: yes, ${key}: top }] }]`)).toThrow(
        /dev.yaml:2:\d+: windows\[0\].floats\[0\]: an empty float runs nothing/,
      );
  });

  it('keeps enter and the sleeps of a command with that command, and the pane’s enter with its own commands', () => {
    const [mixed, still] = panes(`
      session_name: a
      shell_command_before: { cmd: s, sleep_after: 0.5 }
      windows:
        - panes:
            - [{ cmd: a, enter: false, sleep_before: 1, sleep_after: 0.25 }, b]
            - { enter: no, sleep_before: 2, shell_command: [c, { cmd: d, enter: on }] }
    `);
    expect(mixed?.commands.slice(1)).toEqual([
      { text: 'a', enter: false, sleepBeforeMs: 1000, sleepAfterMs: 250 },
      { text: 'b', enter: true, sleepBeforeMs: 0, sleepAfterMs: 0 },
    ]);
    expect(still?.commands.map(({ text, enter, sleepAfterMs }) => [text, enter, sleepAfterMs])).toEqual([
      ['s', true, 500],
      ['c', false, 0],
      ['d', true, 0],
    ]);
    expect(still?.sleepBeforeMs).toBe(2000);
  });

  it('hands suppress_history down from session to window to pane, true unless told', () => {
    const text = (session: string): string => `
      session_name: a
      ${session}
      windows: [{ panes: [a, { cmd: b, suppress_history: false }] }, { suppress_history: off, panes: [c, { cmd: d, suppress_history: on }] }]
    `;
    const found = (session: string): boolean[] =>
      panes(text(session)).map(({ suppressHistory }) => suppressHistory);
    expect(found('')).toEqual([true, false, false, true]);
    expect(found('suppress_history: false')).toEqual([false, false, false, true]);
  });

  it('lets the environment of a pane replace that of its window', () => {
    const found = panes(`
      session_name: a
      windows: [{ environment: { A: 1, B: 1.10 }, panes: [a, { cmd: b, environment: { C: true } }, { cmd: c, environment: {} }] }]
    `);
    expect(found.map(({ environment }) => environment)).toEqual([{ A: '1', B: '1.10' }, { C: 'true' }, {}]);
  });

  it('writes options as tmux does, and sizes in both forms', () => {
    const text =
      'options: { mouse: true, status: False, history-limit: 5000 }\nwindows: [{}]\nsession_name: a\n';
    expect(expand(`${text}dimensions: [100, 30]`).session).toMatchObject({
      options: { mouse: 'on', status: 'off', 'history-limit': '5000' },
      size: { width: 100, height: 30 },
    });
    expect(expand(`${text}dimensions: { width: 90, height: 20 }`).session.size).toEqual({
      width: 90,
      height: 20,
    });
  });

  it('waits for the prompt of zsh, and otherwise when the file says so', () => {
    const waits = (more: string, SHELL = '/bin/sh'): boolean | undefined =>
      expandWorkspace(parseWorkspace(`session_name: a\nwindows: [{}]\n${more}`), { ...place, env: { SHELL } })
        .workspace.sessions[0]?.waitPane;
    expect([waits(''), waits('', '/usr/bin/zsh'), waits('wait_pane: no', '/bin/zsh')]).toEqual([
      false,
      true,
      false,
    ]);
    expect(waits('options: { default-shell: /bin/zsh }')).toBe(true);
    expect(waits('workspace_builder_options: { pane_readiness: always }')).toBe(true);
    expect(waits('workspace_builder_options: { pane_readiness: off }', '/bin/zsh')).toBe(false);
  });

  it('gives floats what a pane inherits, and their own keys', () => {
    const { session } = expand(`
      session_name: a
      windows:
        - start_directory: /srv
          window_shell: top
          floats: [{ shell_command: a, width: 50%, height: 10, x: 2, y: 3, zoom: no, attach_to: w2, message: $USER }, { empty: yes }]
          shell_command_before: b
    `);
    const [float, empty] = session.windows[0]?.floats ?? [];
    expect(float).toMatchObject({
      startDirectory: '/srv',
      attachTo: 'w2',
      shape: { width: '50%', height: 10, x: 2, y: 3, zoom: false, message: 'ann' },
    });
    expect(float?.shell).toBeUndefined();
    expect(typed(float)).toEqual(['b', 'a']);
    expect(empty?.commands).toEqual([]);
  });

  it('reports keys that have no effect, with a guess and the place', () => {
    const { warnings } = expand(`
session_name: a
plugins: [x]
constructor: x
windows:
  - window_nam: b
    panes:
      - shell_commands: c
      - shell_command: [{ cmd: d, entr: no }]
        title: e
      - f
    floats: [{ widht: 3 }]
workspace_builder_options: { pane_readyness: auto }
socket_name: s
    `);
    expect(warnings.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['unsupported_key', 'plugins', 3],
      ['unknown_key', 'constructor', 4],
      ['unknown_key', 'windows[0].window_nam', 6],
      ['unknown_key', 'windows[0].panes[0].shell_commands', 8],
      ['unknown_key', 'windows[0].panes[1].shell_command[0].entr', 9],
      ['unknown_key', 'windows[0].panes[1].title', 10],
      ['unknown_key', 'windows[0].floats[0].widht', 12],
      ['unknown_key', 'workspace_builder_options.pane_readyness', 13],
      ['unsupported_key', 'socket_name', 14],
    ]);
    const said = warnings.map(({ message }) => message);
    expect(said[2]).toContain('Did you mean window_name?');
    expect(said[3]).toContain('Did you mean shell_command?');
    expect(said[4]).toContain('Did you mean enter?');
    expect(said[6]).toContain('Did you mean width?');
    expect(said[8]).toContain('socketName');
  });

  it('names the file, the line, the key and the problem of a wrong value', () => {
    const cases: [text: string, said: string][] = [
      ['windows: [{}]', 'dev.yaml:1:1: session_name: is missing'],
      ['session_name: a', 'dev.yaml:1:1: windows: is missing'],
      ['session_name: a\nwindows: []', 'dev.yaml:2:10: windows: must declare at least one window'],
      ['session_name: a\nwindows:\n  panes: [b]', 'dev.yaml:3:3: windows: must be a list of windows'],
      [
        'session_name: a\nwindows: [{ focus: maybe }]',
        'dev.yaml:2:20: windows[0].focus: must be true or false',
      ],
      [
        'session_name: a\nwindows: [{ panes: [{ sleep_before: soon }] }]',
        'windows[0].panes[0].sleep_before: must be a number',
      ],
      ['session_name: a\nwindows: [{ panes: [[{ enter: no }]] }]', 'windows[0].panes[0][0].cmd: is missing'],
      [
        'session_name: a\nwindows: [{ panes: [{ cmd: a, shell_command: b }] }]',
        'windows[0].panes[0]: give shell_command or cmd, not both',
      ],
      [
        'session_name: a\nwindows: [{}]\nenvironment: { 1A: b }',
        'environment.1A: is not the name of a variable',
      ],
      ['session_name: a\nwindows: [{}]\non_exists: ask', 'on_exists: must be error, replace or reuse'],
      ['session_name: a\nwindows: [{}]\ndimensions: 80', 'dimensions: must be [width, height]'],
      ['session_name: "a\\tb"\nwindows: [{}]', 'session_name: a name cannot hold control characters'],
      ['session_name: "-a"\nwindows: [{}]', 'session_name: a session name here cannot start with'],
      [
        'session_name: a\nwindows: [{ layout: sideways }]',
        'windows[0].layout: must be one of even-horizontal',
      ],
      ['just a text', 'dev.yaml:1:1: the session: '],
      ['42', 'dev.yaml:1:1: the session: must be a mapping, not 42'],
      ['session_name: a\nwindows: [3]', 'dev.yaml:2:11: windows[0]: must be a mapping, not 3'],
      ['session_name: a\nwindows: [{}]\nenvironment: b', 'environment: must be a mapping, not "b"'],
      ['session_name: a\nwindows: [{ options: { "": 1 } }]', 'windows[0].options.: cannot be empty'],
      ['session_name: a\nwindows: [{ floats: [[]] }]', 'windows[0].floats[0]: must be a mapping, not []'],
      [
        'session_name: a\nwindows: [{ window_index: 2147483647 }]',
        'windows[0].window_index: must be at most 2147483646',
      ],
      ['session_name: a\nwindows: [{}]\ndimensions: [70000, 9]', 'dimensions[0]: must be at most 65535'],
      [
        'session_name: a\nwindows: [{ panes: [{ sleep_after: 1e308 }] }]',
        'windows[0].panes[0].sleep_after: must be at most 2000000 seconds',
      ],
    ];
    for (const [text, said] of cases) expect(() => expand(text), text).toThrow(said);
    expect(() => expand('windows: [{}]')).toThrow(expect.objectContaining({ code: 'invalid_workspace' }));
  });

  it('refuses two windows with one index and two sessions with one name', () => {
    expect(() => expand('session_name: a\nwindows: [{ window_index: 3 }, {}, { window_index: 3 }]')).toThrow(
      'windows[0] and windows[2] both ask for window_index 3',
    );
    expect(() => expand('session_name: a.b\nwindows: [{}]\n---\nsession_name: a_b\nwindows: [{}]')).toThrow(
      '"a_b"',
    );
  });

  it('says when tmux will name a session otherwise', () => {
    const { session, warnings } = expand('session_name: web.dev:1\nwindows: [{}]');
    expect(session.name).toBe('web_dev_1');
    expect(warnings).toMatchObject([{ code: 'changed_value', path: 'session_name' }]);
  });

  it('keeps a script in a folder with a space one word', () => {
    const { workspace } = expandWorkspace(
      parseWorkspace('session_name: a\nwindows: [{}]\nbefore_script: ./a.sh b'),
      {
        ...place,
        directory: '/my work',
      },
    );
    expect(workspace.sessions[0]?.beforeScript).toEqual({
      command: "'/my work/a.sh' b",
      file: '/my work/a.sh',
      cwd: '/here',
    });
  });
});
