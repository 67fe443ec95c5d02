import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Command, type Engine, execute } from '../src/engine.ts';
import { createEngine } from '../src/engines/index.ts';
import type { TmuxError } from '../src/errors.ts';
import { quoteToken } from '../src/operation/quote.ts';
import { killSession } from '../src/operations/kill-session.ts';
import { takeSnapshot } from '../src/snapshot/take-snapshot.ts';
import { testBinaries } from '../src/testing/index.ts';
import {
  loadWorkspace,
  planWorkspace,
  type WorkspaceEvent,
  type WorkspacePlan,
} from '../src/workspace/index.ts';
import { fixture, workspaceServer } from './workspace-server.ts';

const soon = { timeout: 15_000, interval: 20 };

const shown = (argv: readonly string[]): string => `tmux ${argv.map(quoteToken).join(' ')}`;

/** What the dry run printed, with the ids that came of the slots. */
function substituted({ text }: WorkspacePlan, bindings: Readonly<Record<string, string>>): readonly string[] {
  const full = text.replaceAll(/\{slot (\d+) ([a-z]+)\}/g, (_, slot, part) =>
    quoteToken(bindings[`${slot}:${part}`] ?? 'unbound'),
  );
  return full.trimEnd().split('\n');
}

/** The same engine, writing down every command that changes something. */
function recording(engine: Engine, sent: string[]): Engine {
  const note = <T extends readonly Command[]>(commands: T): T => {
    sent.push(...commands.filter(({ effect }) => effect !== 'read').map(({ argv }) => shown(argv)));
    return commands;
  };
  return {
    name: engine.name,
    ordered: engine.ordered,
    version: () => engine.version(),
    run: (command, options) => engine.run(note([command] as const)[0], options),
    runChain: (commands, options) => engine.runChain(note(commands), options),
    close: () => engine.close(),
  };
}

describe.each(testBinaries())('loading a workspace on %s', (tmux) => {
  test.each([
    ['subprocess', 'sequential'],
    ['subprocess', 'folding'],
    ['control', 'folding'],
    ['control', 'pipelined'],
  ] as const)('the dry run prints exactly the commands later executed: %s, %s', async (engine, planner) => {
    await using server = await workspaceServer(tmux, engine);
    const env = { ...process.env, SHELL: '/bin/sh', WORK: server.work, WHO: 'ann' };
    const options = { env, home: server.work, cwd: server.work, planner, onExists: 'replace' } as const;
    for (const name of ['commands.yaml', 'shape.yaml', 'two.yaml', 'two.yaml']) {
      const dry = await planWorkspace(server.carrier, fixture(name), options);
      const sent: string[] = [];
      const { result } = await loadWorkspace(recording(server.carrier, sent), fixture(name), options);
      const commands = substituted(dry, result.bindings).filter((line) => !line.startsWith('#'));
      expect(sent).toEqual(commands);
      // The sessions that were replaced are killed after the plan.
      const built = commands.filter((line) => !line.startsWith('tmux kill-session'));
      expect(
        result.steps.flatMap((step) => (step.type === 'operation' ? [shown(step.result.argv ?? [])] : [])),
      ).toEqual(built);
      expect(dry.text.match(/^# sleep 50 ms$/gm)?.length ?? 0).toBe(name === 'commands.yaml' ? 2 : 0);
    }
  });

  test('the dry run changes nothing, with and without a server', async () => {
    await using server = await workspaceServer(tmux);
    const { text } = await planWorkspace(server.carrier, fixture('two.yaml'));
    expect(text.match(/^tmux new-session .* -s left/m)).toBeTruthy();
    expect(await server.pid()).toBeNull();
    await server.load({ session_name: 'left', windows: [{}] });
    const again = await planWorkspace(server.carrier, fixture('two.yaml'), { onExists: 'replace' });
    expect(again.sessions.map(({ action }) => action)).toEqual(['replace', 'create']);
    expect(await server.names()).toEqual(['left']);
  });

  test('builds the same on every engine and with every planner', async () => {
    const shapes = [];
    for (const [engine, planner] of [
      ['subprocess', 'sequential'],
      ['control', 'pipelined'],
      ['control', 'folding'],
      ['imsg', 'folding'],
    ] as const) {
      await using server = await workspaceServer(tmux, engine);
      const { differences } = await server.load(fixture('shape.yaml'), { planner, confirm: true });
      expect(differences).toEqual([]);
      const { windows } = await server.session('shape');
      shapes.push(
        windows.map(({ id, index, name, layout, panes }) => [
          id,
          index,
          name,
          layout,
          panes.map((pane) => [pane.id, pane.active]),
        ]),
      );
    }
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  });

  test('refuses a session that exists, unless it is to be replaced or reused', async () => {
    await using server = await workspaceServer(tmux);
    const one = { session_name: 'foo', windows: [{ window_name: 'one' }] };
    const two = { session_name: 'foo', windows: [{ window_name: 'two' }, { window_name: 'three' }] };
    const first = await server.load(one);
    await expect(server.load(two)).rejects.toMatchObject({ code: 'workspace_exists' });
    const reused = await server.load({ ...two, on_exists: 'reuse' });
    expect(reused.sessions).toEqual([{ ...first.sessions[0], action: 'reuse' }]);
    expect(reused.result.steps).toEqual([]);
    await expect(server.load({ ...two, on_exists: 'reuse' }, { onExists: 'error' })).rejects.toMatchObject({
      code: 'workspace_exists',
    });
    const replaced = await server.load(two, { onExists: 'replace' });
    expect(replaced.sessions[0]).toMatchObject({ name: 'foo', action: 'replace' });
    expect(replaced.sessions[0]?.id).not.toBe(first.sessions[0]?.id);
    expect((await server.session('foo')).windows.map((window) => window.name)).toEqual(['two', 'three']);
    expect(await server.names()).toEqual(['foo']);
  });

  test('is built once when several load it at the same moment, and the others hear that it exists', async () => {
    await using server = await workspaceServer(tmux);
    const loads = Array.from({ length: 4 }, () =>
      server.load({ session_name: 'foo', windows: [{ window_name: 'one', panes: [null, null] }] }).then(
        () => 'built',
        (error: TmuxError) => error.code,
      ),
    );
    expect((await Promise.all(loads)).toSorted()).toEqual(['built', ...Array(3).fill('workspace_exists')]);
    expect((await server.session('foo')).windows.map(({ panes }) => panes.length)).toEqual([2]);
  });

  test('takes only the exact name for the same session: foo is not foobar', async () => {
    await using server = await workspaceServer(tmux);
    const other = await server.load({ session_name: 'foobar', windows: [{ window_name: 'kept' }] });
    const { sessions } = await server.load({ session_name: 'foo', on_exists: 'replace', windows: [{}] });
    expect(sessions[0]?.action).toBe('create');
    await server.load({ session_name: 'foo', on_exists: 'replace', windows: [{}] });
    expect((await server.names()).toSorted()).toEqual(['foo', 'foobar']);
    expect((await server.session('foobar')).id).toBe(other.sessions[0]?.id);
    expect(
      (await server.load({ session_name: 'fo', on_exists: 'reuse', windows: [{}] })).sessions[0]?.action,
    ).toBe('create');
  });

  test('runs before_script first, in the folder of the session', async () => {
    await using server = await workspaceServer(tmux);
    await writeFile(
      join(server.work, 'prepare.sh'),
      '#!/bin/sh\npwd > prepared-in\necho "$1" >> prepared-in\n',
    );
    await chmod(join(server.work, 'prepare.sh'), 0o755);
    const windows = [{ panes: ['cp ../work/prepared-in seen'] }];
    await server.load(
      { session_name: 'ready', before_script: './prepare.sh $WHO', windows },
      { directory: server.work },
    );
    expect(await server.file('prepared-in')).toBe(`${server.work}\nann\n`);
    await expect.poll(() => server.file('seen'), soon).toBe(`${server.work}\nann\n`);
  });

  test('a script that fails stops everything: nothing is built, nothing is replaced', async () => {
    await using server = await workspaceServer(tmux);
    const old = await server.load({ session_name: 'second', windows: [{}] });
    const sessions = [
      { session_name: 'first', windows: [{}] },
      { session_name: 'second', before_script: 'echo no luck >&2; exit 3', windows: [{}] },
    ];
    await expect(server.load({ sessions }, { onExists: 'replace' })).rejects.toMatchObject({
      code: 'script_failed',
      message: expect.stringContaining('no luck'),
    });
    expect(await server.names()).toEqual(['second']);
    expect((await server.session('second')).id).toBe(old.sessions[0]?.id);
  });

  test('a script that does not exist is an error of the file', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({ session_name: 'other', windows: [{}] });
    const missing = ['./nowhere.sh', '/no/such/script --now', 'no-such-command-at-all'];
    for (const before_script of missing) {
      await expect(server.load({ session_name: 'a', before_script, windows: [{}] })).rejects.toMatchObject({
        code: 'invalid_workspace',
      });
    }
    const dry = planWorkspace(server.carrier, {
      session_name: 'a',
      before_script: './nowhere.sh',
      windows: [{}],
    });
    await expect(dry).rejects.toMatchObject({ code: 'invalid_workspace' });
    expect(await server.names()).toEqual(['other']);
  });

  test('kills the sessions it made when a later step fails, and names the window', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({ session_name: 'kept', windows: [{}] });
    const sessions = [
      { session_name: 'good', windows: [{}] },
      { session_name: 'bad', windows: [{}, { options: { 'no-such-option': 1 } }] },
    ];
    await expect(server.load({ sessions })).rejects.toMatchObject({
      code: 'command_failed',
      message: expect.stringMatching(/^Session "bad", windows\[1\]: .*no-such-option/),
      details: { session: 'bad', window: 1 },
    });
    expect(await server.names()).toEqual(['kept']);
  });

  test('kills what it made when it is aborted', async () => {
    await using server = await workspaceServer(tmux);
    await server.load({ session_name: 'kept', windows: [{}] });
    const stop = new AbortController();
    const loading = server.load(
      { session_name: 'slow', windows: [{ panes: [{ shell_command: ['a'], sleep_before: 1000 }] }] },
      { signal: stop.signal, onEvent: (event) => event.type === 'paneCreated' && stop.abort() },
    );
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    expect(await server.names()).toEqual(['kept']);
  });

  test.each(['control', 'subprocess'] as const)(
    'a session whose replacement fails is there as it was: %s',
    async (engine) => {
      await using server = await workspaceServer(tmux, engine);
      const windows = [{ window_name: 'kept' }];
      const old = await server.load({
        sessions: ['a', 'b'].map((session_name) => ({ session_name, windows })),
      });
      const sessions = [
        { session_name: 'a', windows: [{}] },
        { session_name: 'b', windows: [{}, { options: { 'no-such-option': 1 } }] },
      ];
      await expect(server.load({ sessions }, { onExists: 'replace' })).rejects.toThrow('no-such-option');
      const stop = new AbortController();
      const slow = {
        session_name: 'b',
        windows: [{ panes: [{ shell_command: ['a'], sleep_before: 1000 }] }],
      };
      const seen: string[][] = [];
      const onEvent = (event: WorkspaceEvent): void => {
        if (event.type === 'paneCreated')
          void server.names().then((names) => {
            seen.push([...names]);
            stop.abort();
          });
      };
      const aborted = server.load(slow, { onExists: 'replace', signal: stop.signal, onEvent });
      await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
      expect(seen).toEqual([['a', 'b', 'b-replaced-1']]);
      const left = (await takeSnapshot(server.carrier)).sessions;
      expect(left.map(({ id, name }) => [name, id])).toEqual(old.sessions.map(({ id, name }) => [name, id]));
      expect(left.map((session) => session.windows.map(({ name }) => name))).toEqual([['kept'], ['kept']]);
    },
  );

  test('a session that ends while it is replaced does not take the new one with it', async () => {
    await using server = await workspaceServer(tmux);
    const old = await server.load({ session_name: 'a', windows: [{}] });
    const target = old.sessions[0]?.id ?? '$0';
    const windows = [{ panes: [{ shell_command: ['a'], sleep_before: 0.05 }] }];
    const onEvent = (event: WorkspaceEvent): void => {
      if (event.type === 'paneCreated') void execute(server.carrier, killSession({ target }));
    };
    const { sessions } = await server.load({ session_name: 'a', windows }, { onExists: 'replace', onEvent });
    expect((await takeSnapshot(server.carrier)).sessions.map(({ id }) => id)).toEqual([sessions[0]?.id]);
  });

  test('kills a session made by a client that was ended before it could tell', async () => {
    await using server = await workspaceServer(tmux, 'subprocess');
    const kept = { session_name: 'kept', windows: [{}] };
    const old = await server.load(kept);
    const mute = join(server.directory, 'mute');
    const script = `#!/bin/sh\ncase " $* " in *' new-session '*) '${tmux}' "$@" >/dev/null; exec sleep 60;; esac\nexec '${tmux}' "$@"\n`;
    await writeFile(mute, script);
    await chmod(mute, 0o755);
    const engine = createEngine('subprocess', { ...server.connection, tmux: mute });
    const signal = AbortSignal.timeout(1000);
    for (const source of [{ session_name: 'lost', windows: [{}] }, kept])
      await expect(
        loadWorkspace(engine, source, { cwd: server.work, onExists: 'replace', signal }),
      ).rejects.toThrow();
    await engine.close();
    const left = (await takeSnapshot(server.carrier)).sessions;
    expect(left.map(({ id, name }) => [name, id])).toEqual([['kept', old.sessions[0]?.id]]);
  });

  test('starts the server when none runs, and leaves none when the first load fails', async () => {
    await using server = await workspaceServer(tmux);
    await expect(server.load({ session_name: 'a', windows: [{ options: { nothing: 1 } }] })).rejects.toThrow(
      'nothing',
    );
    await expect.poll(() => server.pid(), soon).toBeNull();
    await server.load({ session_name: 'a', windows: [{}] });
    expect(await server.names()).toEqual(['a']);
  });

  test('says which file cannot be read', async () => {
    await using server = await workspaceServer(tmux);
    await expect(server.load('nothing.yaml')).rejects.toMatchObject({
      code: 'invalid_workspace',
      message: `There is no file ${server.work}/nothing.yaml.`,
    });
    await expect(server.load(server.work)).rejects.toThrow('.tmuxp.yaml');
  });
});

test('the memory engine builds a workspace too', async () => {
  await using server = await workspaceServer('tmux', 'memory');
  const { sessions } = await server.load(fixture('shape.yaml'));
  expect(sessions[0]?.windows.map(({ name, panes }) => [name, panes.length])).toEqual([
    ['top', 4],
    ['far', 3],
    ['next', 7],
  ]);
});
