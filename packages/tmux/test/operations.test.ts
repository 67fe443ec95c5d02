import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { execute } from '../src/engine.ts';
import { spawnTmux } from '../src/engines/tmux-process.ts';
import type { Builder, Operation } from '../src/operation/operation.ts';
import * as op from '../src/operations/index.ts';
import { operations } from '../src/registry.ts';
import { demoServer, fillDemo, type TestServer, testBinaries } from '../src/testing/index.ts';

const versions = ['3.2', '3.2a', '3.3', '3.3a', '3.4', '3.5', '3.5a', '3.6', '3.7', '3.8'];
const kinds = operations.kinds();
const builderOf = (kind: string): Builder<object, unknown> => operations.get(kind);
const exampleOf = (kind: string): Operation<object, unknown> => builderOf(kind)(builderOf(kind).spec.example);

describe('every operation', () => {
  it.each(kinds)(
    '%s renders its example for every tmux since 3.2, or refuses by naming the version',
    (kind) => {
      for (const version of versions) {
        try {
          expect(exampleOf(kind).render(version)[0]).toMatch(/^[a-z-]+$/);
        } catch (error) {
          expect(error).toMatchObject({
            code: 'version_unsupported',
            message: expect.stringContaining(version),
          });
        }
      }
    },
  );

  it.each(kinds)('%s comes back from JSON as it was', (kind) => {
    const back = operations.parse(JSON.parse(JSON.stringify(exampleOf(kind))));
    expect(back).toEqual(exampleOf(kind));
    expect(back.params).toEqual(exampleOf(kind).params);
    expect(back.render('master')).toEqual(exampleOf(kind).render('master'));
  });

  it.each(kinds)('%s refuses a parameter it does not know', (kind) => {
    const { example } = builderOf(kind).spec;
    expect(() => builderOf(kind)({ ...example, sessionn: 'x' })).toThrow(/unknown parameter sessionn/);
  });

  it.each(kinds)('%s refuses a NUL byte in any text it takes', (kind) => {
    const { example } = builderOf(kind).spec;
    for (const params of variants(example, (text) => `${text}\0`)) {
      expect(() => builderOf(kind)(params)).toThrow(expect.objectContaining({ code: 'invalid_parameters' }));
    }
  });

  it('acts on exact places only: none that depends on what is active', () => {
    const destructive = operations.select(
      ({ effect, scope }) => effect === 'destructive' && scope !== 'server',
    );
    const others = [
      'send_keys',
      'paste_buffer',
      'respawn_pane',
      'resize_pane',
      'rename_window',
      'move_window',
    ];
    for (const { spec, schema } of [...destructive, ...others.map(builderOf)]) {
      const relative = { ...spec.example, target: { special: 'right-of', of: '@1' } };
      expect(schema.safeParse(spec.example).success, spec.kind).toBe(true);
      expect(schema.safeParse(relative).success, spec.kind).toBe(false);
    }
  });
});

/** The value with one of its texts changed, once for each text. */
function variants(value: object, change: (text: string) => string): object[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const changed =
      typeof inner === 'string' ? [change(inner)] : isNested(inner) ? variants(inner, change) : [];
    return changed.map((one) =>
      Array.isArray(value) ? value.with(Number(key), one) : { ...value, [key]: one },
    );
  });
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

describe('the words tmux gets', () => {
  const pane = { session: 'demo', window: 0, pane: 1 } as const;
  const cases: readonly [Operation, string][] = [
    [op.killPane({ target: '%3', others: true }), 'kill-pane -t %3 -a'],
    [op.killWindow({ target: { session: 'a b', window: 'x' } }), 'kill-window -t =a b:=x'],
    [op.newSession({ name: 'n' }), 'new-session -P -F #{session_id} #{window_id} #{pane_id} -s n -d'],
    [
      op.newSession({ groupWith: '$1' }),
      "if-shell -F #{S:#{?#{==:#{session_id},$1},1,}} new-session -P -F '#{session_id} #{window_id} #{pane_id}' -t '$1' -d display-message -p 'can'\\''t find the session to group with'",
    ],
    [
      op.newWindow({ target: '@1', place: 'after', select: true, startDirectory: '/x', name: 'a#S' }),
      'new-window -P -F #{window_id} #{pane_id} -t @1 -a -n a##S -c /x',
    ],
    [
      op.splitWindow({ target: '%1', environment: { A: '1', B: '' }, shell: '-x' }),
      'split-window -P -F #{pane_id} -t %1 -d -c #{session_path} -e A=1 -e B= -- -x',
    ],
    [op.sendKeys({ target: pane, keys: ['-x', 'Up'], enter: true }), 'send-keys -t =demo:0.1 -- -x Up Enter'],
    [op.sendKeys({ target: pane, keys: ['Up'], literal: true }), 'send-keys -t =demo:0.1 -l -- Up'],
    [op.sendKeys({ target: pane, keys: ['ls'], suppressHistory: true }), 'send-keys -t =demo:0.1 --   ls'],
    [op.sendKeys({ target: pane, hex: [0, 10, 255], repeat: 2 }), 'send-keys -t =demo:0.1 -N 2 -H -- 0 a ff'],
    [
      op.sendKeys({ target: pane, copyModeCommand: ['goto-line', '3'] }),
      'send-keys -t =demo:0.1 -X -- goto-line 3',
    ],
    [op.sendKeys({ target: pane, reset: true }), 'send-keys -t =demo:0.1 -R'],
    [op.capturePane({ target: pane, start: -10, end: '-' }), 'capture-pane -t =demo:0.1 -S -10 -E - -p'],
    [op.displayMessage({ message: '-x' }), 'display-message -p -- -x'],
    [op.resizePane({ target: pane, direction: 'left', adjustment: 5 }), 'resize-pane -t =demo:0.1 -L 5'],
    [op.resizePane({ target: pane, width: '30%', height: 9 }), 'resize-pane -t =demo:0.1 -x 30% -y 9'],
    [op.joinPane({ source: '%1', target: '%2', direction: 'above' }), 'join-pane -s %1 -t %2 -v -b -d'],
    [op.swapPane({ target: '%2', direction: 'up' }), 'swap-pane -t %2 -U -d'],
    [op.swapWindow({ source: '@1', target: '@2', select: true }), 'swap-window -s @1 -t @2 -d'],
    [op.moveWindow({ target: { session: 'demo' }, renumber: true }), 'move-window -t =demo: -r -d'],
    [op.selectLayout({ target: '@1', change: 'spread' }), 'select-layout -t @1 -E'],
    [op.pipePane({ target: '%1' }), 'pipe-pane -t %1'],
    [op.pasteBuffer({ target: '%1', separator: '', bracket: true }), 'paste-buffer -t %1 -p -s '],
    [op.setOption({ server: true, option: '@x', value: '-1' }), 'set-option -s -- @x -1'],
    [op.setOption({ target: '%1', pane: true, option: 'x', unset: true }), 'set-option -t %1 -p -u -- x'],
    [op.setEnvironment({ global: true, name: 'A', remove: true }), 'set-environment -g -r -- A'],
    [op.showOptions({ target: '@1', window: true, inherited: true }), 'show-options -t @1 -w -A'],
    [op.showBuffer({}), 'save-buffer -'],
    [op.sourceFile({ path: '/a[1]*.conf' }), 'source-file -- /a\\[1\\]\\*.conf'],
    [op.runShell({ commandLine: 'x', output: 'show', background: true }), 'run-shell -b -- x'],
    [
      op.refreshClient({ target: { client: 'c' }, subscribe: [{ name: 'n', what: '%*', format: '#{x:y}' }] }),
      'refresh-client -t c -B n:%*:#{x:y}',
    ],
    [op.switchClient({ client: { client: 'c' }, target: '$2' }), 'switch-client -c c -t $2'],
  ];

  it.each(cases.map(([operation, words]) => [words, operation] as const))('%s', (words, operation) => {
    expect(operation.render('3.6').join(' ')).toBe(words);
  });

  it('leaves out what this tmux has never heard of only by refusing', () => {
    const trimmed = op.capturePane({ target: '%1', trimTrailing: true });
    expect(trimmed.render('3.4')).toContain('-T');
    expect(() => trimmed.render('3.3a')).toThrow(
      'capture_pane.trimTrailing needs tmux 3.4; this server is 3.3a.',
    );
    expect(op.capturePane({ target: '%1', trimTrailing: false }).render('3.3a')).not.toContain('-T');
    expect(() => op.newPane({ target: '%1' }).render('3.6')).toThrow('new_pane needs tmux 3.7');
  });

  it('has nothing for a tmux older than any it was made for', () => {
    for (const kind of kinds) {
      expect(() => exampleOf(kind).render('3.1c'), kind).toThrow(
        'Every operation needs tmux 3.2; this server is 3.1c.',
      );
    }
  });

  it('refuses a nameless break_pane on 3.7 alone', () => {
    expect(() => op.breakPane({ source: '%1', target: '$1' }).render('3.7')).toThrow(
      /tmux 3\.7 cannot do this without a name/,
    );
    for (const version of ['3.6', '3.7b', '3.8'])
      op.breakPane({ source: '%1', target: '$1' }).render(version);
  });

  it('refuses to show the output of run_shell where tmux would disturb a pane', () => {
    const shown = op.runShell({ commandLine: 'ls', output: 'show' });
    for (const version of ['3.3', '3.3a', '3.4']) expect(() => shown.render(version)).toThrow(/view mode/);
    for (const version of ['3.2a', '3.5', '3.8']) expect(shown.render(version).at(-1)).toBe('ls');
  });
});

describe('what is refused before anything is sent', () => {
  const target = '%1';
  const refused: readonly [string, () => unknown, RegExp][] = [
    [
      'literal text and Enter in one',
      () => op.sendKeys({ target, keys: ['x'], literal: true, enter: true }),
      /second send_keys/,
    ],
    ['no keys at all', () => op.sendKeys({ target }), /give keys/],
    ['an empty list of keys', () => op.sendKeys({ target, keys: [] }), /keys/],
    ['keys and bytes together', () => op.sendKeys({ target, keys: ['x'], hex: [1] }), /exclude each other/],
    ['Enter after bytes', () => op.sendKeys({ target, hex: [1], enter: true }), /exclude each other/],
    [
      'Enter for a mode command',
      () => op.sendKeys({ target, copyModeCommand: ['cancel'], enter: true }),
      /exclude/,
    ],
    ['literal without keys', () => op.sendKeys({ target, hex: [1], literal: true }), /about keys/],
    ['a byte above 255', () => op.sendKeys({ target, hex: [256] }), /hex/],
    ['an empty window name', () => op.renameWindow({ target, name: '' }), /name/],
    ['a window name with a newline', () => op.newWindow({ target, name: 'a\nb' }), /control characters/],
    ['an empty buffer name', () => op.setBuffer({ bufferName: '', data: 'x' }), /bufferName/],
    ['empty data, which tmux ignores', () => op.setBuffer({ data: '' }), /delete_buffer/],
    ['a relative path', () => op.saveBuffer({ path: 'note.txt' }), /absolute/],
    ['a relative folder', () => op.newSession({ startDirectory: 'src' }), /absolute/],
    [
      'a variable with a space',
      () => op.setEnvironment({ global: true, name: 'A B', value: '' }),
      /variable/,
    ],
    ['an option nowhere', () => op.setOption({ option: 'mouse', value: 'on' }), /target, global or server/],
    [
      'an option in two places',
      () => op.setOption({ option: 'x', value: '', target, global: true }),
      /exactly one/,
    ],
    [
      'an option without a value, which tmux toggles',
      () => op.setOption({ option: 'mouse', global: true }),
      /value or unset/,
    ],
    [
      'a value to unset',
      () => op.setOption({ option: 'x', global: true, value: '', unset: true }),
      /value or unset/,
    ],
    ['an option name with a format', () => op.showOptions({ global: true, name: '#(id)' }), /not the name/],
    [
      'keys that would keep tmux busy for ever',
      () => op.sendKeys({ target, keys: ['x'], repeat: 2 ** 40 }),
      /repeat/,
    ],
    ['panes of nowhere', () => op.listPanes({}), /exactly one of all or target/],
    ['panes of one window and of all', () => op.listPanes({ all: true, target }), /exactly one/],
    ['a swap with nothing', () => op.swapPane({ target }), /source or direction/],
    ['an adjustment without direction', () => op.resizePane({ target, adjustment: 2 }), /direction/],
    ['zoom and size at once', () => op.resizePane({ target, zoom: true, width: 20 }), /two operations/],
    [
      'a name without end',
      () => op.renameWindow({ target, name: 'x'.repeat(1001) }),
      /at most 1000 characters/,
    ],
    ['a session of such a name', () => op.newSession({ name: 'x'.repeat(1001) }), /at most 1000 characters/],
    [
      'a group with a window',
      () => op.newSession({ groupWith: { session: 'demo', window: 0 } }),
      /groupWith is a session/,
    ],
    ['a grouped session with a shell', () => op.newSession({ groupWith: '$1', shell: 'top' }), /groupWith/],
    ['a mark set and taken', () => op.selectPane({ target, mark: true, unmark: true }), /exclude each other/],
    [
      'a client flag that is none',
      () => op.refreshClient({ target: { client: 'c' }, flags: ['a,b'] }),
      /client flag/,
    ],
    [
      'a text to find windows by that tmux would run',
      () => op.findWindow({ target, match: '#(touch /tmp/x)' }),
      /match: tmux expands formats/,
    ],
    [
      'a user that tmux would run',
      () => op.serverAccess({ user: '#(touch /tmp/x)', access: 'allow' }),
      /user: not the name of a user/,
    ],
    [
      'a command line with the end mark',
      () => op.runShell({ commandLine: 'a\nEND_OF_COMMAND_LINE\nb' }),
      /END_OF/,
    ],
  ];

  it.each(refused)('%s', (_, build, reason) => {
    expect(build).toThrow(
      expect.objectContaining({ code: 'invalid_parameters', message: expect.stringMatching(reason) }),
    );
  });

  it.each(['', 'a:b', 'a.b', '=a', '$1', '@1', '%1', '-a', '{last}', '!', '+1', 'a\tb'])(
    'the session name %j, which tmux would change or take for something else',
    (name) => {
      expect(() => op.newSession({ name })).toThrow(expect.objectContaining({ code: 'invalid_parameters' }));
      expect(() => op.renameSession({ target: '$1', name })).toThrow(/name/);
    },
  );

  it.each(['', 'a:b', 'a.b', '=a', '@x', '-a', '{last}'])('the target session name %j', (session) => {
    expect(() => op.killSession({ target: { session } })).toThrow(/target/);
  });

  it('a target that is missing', () => {
    for (const kind of [
      'kill_pane',
      'kill_window',
      'kill_session',
      'respawn_pane',
      'send_keys',
      'rename_window',
    ]) {
      expect(() => builderOf(kind)({})).toThrow(/target/);
    }
  });
});

describe.each(testBinaries())('on a real server (%s)', (tmux) => {
  let server: TestServer;
  let engine: Engine;
  let untouched = true;

  beforeAll(async () => {
    server = await demoServer({ tmux });
    engine = server.engine('subprocess');
  });
  afterAll(() => server.stop());

  /** Attaches a control client to the demo, for as long as the operation under test needs one. */
  async function withClient(run: (name: string) => Promise<void>): Promise<void> {
    const child = spawnTmux(server.connection, ['-C', 'attach-session', '-t', '=demo:']);
    const gone = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      const [client] = (await execute(engine, op.listClients({ target: { session: 'demo' } }))).unwrap();
      await run(client?.name ?? 'none');
    } finally {
      child.kill('SIGKILL'); // It may have been suspended, and then hears nothing else.
      await gone;
    }
  }

  // A menu waits for a person, who is in interactive-operations.test.ts.
  const alone = kinds.filter((kind) => kind !== 'kill_server' && kind !== 'display_menu');

  it.each(alone)('%s runs its example, or is refused where tmux is too old for it', async (kind) => {
    const { spec } = builderOf(kind);
    const version = await engine.version();
    if (!supports(exampleOf(kind), version.text)) {
      const refused = { code: 'version_unsupported' };
      await expect(execute(engine, exampleOf(kind))).rejects.toMatchObject(refused);
      return;
    }
    if (!untouched) await fillDemo(engine);
    untouched = spec.effect === 'read';
    const run = async (params: object): Promise<void> => {
      const result = await execute(engine, builderOf(kind)(params));
      expect(result.unwrap()).toEqual(spec.result.schema.parse(result.value));
      if (spec.creates) expect(result.value).toHaveProperty(`${spec.creates}Id`);
    };
    if (!JSON.stringify(spec.example).includes('/dev/pts/0')) await run(spec.example);
    else
      await withClient((name) => run(JSON.parse(JSON.stringify(spec.example).replace('/dev/pts/0', name))));
  });

  it('kill_server runs its example', async () => {
    await using own = await demoServer({ tmux });
    expect((await execute(own.engine('subprocess'), op.killServer())).ok).toBe(true);
  });
});

function supports(operation: Operation, version: string): boolean {
  try {
    operation.render(version);
    return true;
  } catch {
    return false; // Which refusals are right is told above.
  }
}
