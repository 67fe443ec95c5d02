import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Engine, execute } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import { atLeast } from '../src/operation/version.ts';
import * as op from '../src/operations/index.ts';
import { demoServer, type TestServer, testBinaries } from '../src/testing/index.ts';

const demo = { session: 'demo' } as const;
const window = { session: 'demo', window: 0 } as const;
const engines = ['control', 'subprocess'] as const;

describe.each(testBinaries().flatMap((tmux) => engines.map((name) => [tmux, name] as const)))(
  '%s, %s',
  (tmux, name) => {
    let server: TestServer;
    let engine: Engine;

    beforeAll(async () => {
      server = await demoServer({ tmux });
      engine = server.engine(name);
    });
    afterAll(() => server.stop());

    const run = async <P, V>(operation: Operation<P, V>): Promise<V> =>
      (await execute(engine, operation)).unwrap();
    const format = async (message: string): Promise<string> =>
      (await run(op.displayMessage({ target: window, message }))).text;

    test('list_buffers tells name, size and beginning of each buffer, and picks by a filter', async () => {
      await run(op.setBuffer({ bufferName: 'long', data: 'ä\tb'.repeat(100) }));
      const buffers = await run(op.listBuffers());
      expect(buffers.map(({ name, size }) => ({ name, size }))).toEqual([
        { name: 'long', size: 400 },
        { name: 'note', size: 5 },
      ]);
      expect(await run(op.listBuffers({ filter: '#{==:#{buffer_size},5}' }))).toMatchObject([
        { sample: 'hello' },
      ]);
    });

    test('list_commands knows every command, and the reference speaks of each', async () => {
      const commands = await run(op.listCommands());
      expect(commands.find(({ name }) => name === 'send-keys')).toMatchObject({ alias: 'send' });
      const reference = readFileSync(
        join(import.meta.dirname, '../../../docs/reference/operations.md'),
        'utf8',
      );
      expect(
        commands.map(({ name }) => name).filter((command) => !reference.includes(`\`${command}\``)),
      ).toEqual([]);
    });

    test('list_keys tells what bind_key bound, whatever the key', async () => {
      const keys = ['"', "'", '\\', '#', ';', '~', '{', '$', 'é', 'Space', 'C-x', 'M-Up', 'F12'];
      for (const key of keys)
        await run(op.bindKey({ table: 'mine', key, command: 'display-message "a  b"', repeat: true }));
      const bound = await run(op.listKeys({ table: 'mine' }));
      expect(bound.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
      for (const row of bound) expect(row).toMatchObject({ repeat: true, command: 'display-message "a  b"' });
      await run(op.unbindKey({ table: 'mine', all: true }));
      expect(await run(op.listKeys({ table: 'mine' }))).toEqual([]);
      expect((await run(op.listKeys({ table: 'prefix', key: 'd' })))[0]?.command).toBe('detach-client');
    });

    test('show_hooks tells what set_hook set', async () => {
      const command = 'display-message "x | y" ; display-message z';
      await run(op.setHook({ target: demo, name: 'alert-bell[3]', command }));
      expect(await run(op.showHooks({ target: demo }))).toEqual([{ name: 'alert-bell', index: 3, command }]);
      expect(await run(op.showHooks({ target: demo, name: 'alert-silence' }))).toEqual([]);
      expect(await run(op.showHooks({ target: window, window: true }))).toEqual([]);
      expect(await run(op.showHooks({ global: true, window: true }))).toEqual([]);
    });

    test('show_environment tells what set_environment set, and what is removed', async () => {
      const values = {
        A: 'x"y$HOME`w\\v\\$Z',
        B: 'one\ntwo="; export B;\n',
        C: '',
        D: 'é \u001b[1m\t\u0001',
        E: '\\n\\033',
      };
      for (const [key, value] of Object.entries(values))
        await run(op.setEnvironment({ target: demo, name: key, value }));
      await run(op.setEnvironment({ target: demo, name: 'GONE', remove: true }));
      await run(op.setEnvironment({ target: demo, name: 'SECRET', value: 'x', hidden: true }));
      const { variables } = await run(op.showEnvironment({ target: demo }));
      expect(variables).toMatchObject({ ...values, GONE: null });
      expect(variables).not.toHaveProperty('SECRET');
      expect(await run(op.showEnvironment({ target: demo, hidden: true }))).toEqual({
        variables: { SECRET: 'x' },
      });
      expect(await run(op.showEnvironment({ target: demo, name: 'C' }))).toEqual({ variables: { C: '' } });
      expect(await run(op.showEnvironment({ global: true, name: 'NO_SUCH' }))).toEqual({ variables: {} });
    });

    test('wait_for holds nobody up, and ends when signal_channel is called', async () => {
      const order: string[] = [];
      const waiting = run(op.waitFor({ channel: 'ready' })).then(() => order.push('woken'));
      await format('#{session_name}');
      order.push('answered');
      await run(op.signalChannel({ channel: 'ready' }));
      await waiting;
      expect(order).toEqual(['answered', 'woken']);
    });

    test('a channel is locked once, and handed on when it is unlocked', async () => {
      await run(op.waitFor({ channel: 'mutex', lock: true }));
      const second = run(op.waitFor({ channel: 'mutex', lock: true }));
      await run(op.signalChannel({ channel: 'mutex', unlock: true }));
      await second;
      await run(op.signalChannel({ channel: 'mutex', unlock: true }));
      const again = await execute(engine, op.signalChannel({ channel: 'mutex', unlock: true }));
      expect(again.stderr.join()).toContain('not locked');
    });

    test('if_format and if_shell run the one command or the other', async () => {
      const said = async (): Promise<string> => (await run(op.showBuffer({ bufferName: 'said' }))).text;
      const branches = { command: 'set-buffer -b said yes', otherwise: 'set-buffer -b said no' };
      const target = { ...window, pane: 0 };
      for (const [condition, answer] of [
        ['#{==:#{window_name},editor}', 'yes'],
        ['#{pane_in_mode}', 'no'],
      ] as const) {
        await run(op.ifFormat({ target, condition, ...branches }));
        expect(await said()).toBe(answer);
      }
      for (const [condition, answer] of [
        ['test "#{window_name}" = editor', 'yes'],
        ['exit 3', 'no'],
      ] as const) {
        await run(op.ifShell({ target, condition, ...branches }));
        expect(await said()).toBe(answer);
      }
    });

    test('a command that answers is not mistaken for the answer of the next', async () => {
      const answers = await Promise.all([
        execute(engine, op.ifFormat({ condition: '1', command: 'display-message -p forged ; list-buffers' })),
        execute(engine, op.displayMessage({ target: window, message: '#{window_name}' })),
      ]);
      expect(answers[1].value).toEqual({ text: 'editor' });
    });

    test('select_layout arranges by name and by what tmux wrote, steps, spreads and undoes', async () => {
      await run(op.selectLayout({ target: window, layout: 'even-horizontal' }));
      const horizontal = await format('#{window_layout}');
      await run(op.selectLayout({ target: window, change: 'next' }));
      const vertical = await format('#{window_layout}');
      expect(vertical).not.toBe(horizontal);
      await run(op.selectLayout({ target: window, layout: horizontal }));
      expect(await format('#{window_layout}')).toBe(horizontal);
      await run(op.selectLayout({ target: window, change: 'undo' }));
      expect(await format('#{window_layout}')).toBe(vertical);
      await run(op.resizePane({ target: { ...window, pane: 0 }, height: 3 }));
      await run(op.selectLayout({ target: { ...window, pane: 0 }, change: 'spread' }));
      expect(await format('#{window_layout}')).toBe(vertical);
    });

    test('a well-formed layout that does not fit is refused by tmux, which stays up', async () => {
      for (const layout of [
        'dead,80x24,0,0,0',
        'b25d,80x24,0,0,0',
        '39aa,80x24,0,0[80x12,0,0,0',
        'c4c8,1x1,garbage',
      ]) {
        expect((await execute(engine, op.selectLayout({ target: window, layout }))).status).toBe('failed');
      }
      expect(await format('#{window_name}')).toBe('editor');
    });

    test('send_prefix types the prefix key', async () => {
      const target = { session: 'demo', window: 1, pane: 0 } as const;
      await run(
        op.respawnPane({
          target,
          kill: true,
          shell: 'stty raw; echo ready; head -c 1 | od -An -tx1; exec cat',
        }),
      );
      const shows = async (text: string): Promise<void> => {
        while (!(await run(op.capturePane({ target }))).lines.join('\n').includes(text)) {}
      };
      await shows('ready');
      await run(op.sendPrefix({ target }));
      await shows('02');
    });

    test('list_server_access tells who server_access lets in', async () => {
      await run(op.serverAccess({ user: 'nobody', access: 'allow' }));
      await run(op.serverAccess({ user: 'nobody', access: 'readOnly' }));
      expect(await run(op.listServerAccess())).toEqual([{ name: 'nobody', group: false, readOnly: true }]);
      await run(op.serverAccess({ user: 'nobody', access: 'deny' }));
      expect(await run(op.listServerAccess())).toEqual([]);
    });

    test('set_hook_monitor runs a command when a format changes, until set_hook removes it', async () => {
      const monitor = { name: '@titles', what: '%*', format: '#{pane_title}' } as const;
      const command = 'set-buffer -b title "#{hook_value}" ; wait-for -S changed';
      const watch = op.setHookMonitor({ target: demo, monitor, command });
      if (!atLeast(await engine.version(), '3.8')) {
        await expect(execute(engine, watch)).rejects.toMatchObject({ code: 'version_unsupported' });
        return;
      }
      await run(watch);
      let changed = false;
      const woken = run(op.waitFor({ channel: 'changed' })).then(() => {
        changed = true;
      });
      // Looked at once a second: a change before the first look is none.
      for (let n = 0; !changed; n++)
        await run(op.selectPane({ target: { ...window, pane: 0 }, title: `title ${n}` }));
      await woken;
      expect((await run(op.showBuffer({ bufferName: 'title' }))).text).toMatch(/^title \d+$/);
      await run(op.setHook({ target: demo, name: '@titles', unset: true }));
    });
  },
);
