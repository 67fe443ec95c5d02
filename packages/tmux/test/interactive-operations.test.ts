import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Engine, execute } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import * as op from '../src/operations/index.ts';
import { demoServer, type TestServer, testBinaries } from '../src/testing/index.ts';
import { TerminalClient } from './terminal-client.ts';

const pane = { session: 'demo', window: 0, pane: 0 } as const;

describe.each(testBinaries())('a person at a terminal (%s)', (tmux) => {
  let server: TestServer;
  let engine: Engine;
  let person: TerminalClient;
  let client: { readonly client: string };

  beforeAll(async () => {
    server = await demoServer({ tmux });
    engine = server.engine();
    person = await TerminalClient.attach(server);
    client = { client: person.name };
  });
  afterAll(async () => {
    await person?.detach();
    await server.stop();
  });

  const run = async <V>(operation: Operation<unknown, V>): Promise<V> =>
    (await execute(engine, operation)).unwrap();
  const buffer = async (bufferName: string): Promise<string | null> => {
    const shown = await execute(engine, op.showBuffer({ bufferName }));
    return shown.ok ? (shown.value?.text ?? null) : null;
  };
  const modeOf = async (): Promise<string> =>
    (await run(op.displayMessage({ target: pane, message: '#{pane_mode}' }))).text;
  /** Resolves once tmux has run commands that end in this. */
  const signalled = (channel: string): Promise<unknown> => run(op.waitFor({ channel }));

  test('confirm_before runs the command on a yes and says so', async () => {
    const asked = run(
      op.confirmBefore({ target: client, prompt: 'Really?', command: 'set-buffer -b yes 1' }),
    );
    await person.sees('Really?');
    person.type('y');
    expect(await asked).toEqual({ confirmed: true });
    expect(await buffer('yes')).toBe('1');
  });

  test('confirm_before leaves the command on a no and says so', async () => {
    const asked = run(op.confirmBefore({ target: client, prompt: 'Truly?', command: 'set-buffer -b no 1' }));
    await person.sees('Truly?');
    person.type('n');
    expect(await asked).toEqual({ confirmed: false });
    expect(await buffer('no')).toBeNull();
  });

  test('confirm_before tells a command that failed from a no', async () => {
    const asked = execute(
      engine,
      op.confirmBefore({ target: client, prompt: 'Kill?', command: 'kill-pane -t %999' }),
    );
    await person.sees('Kill?');
    person.type('y');
    expect((await asked).stderr).toEqual(["can't find pane: %999"]);
  });

  test('command_prompt runs the command with what was typed', async () => {
    const prompts = ['First', 'Second'];
    const asked = run(op.commandPrompt({ target: client, prompts, template: 'set-buffer -b typed "%1-%2"' }));
    await person.sees('First');
    person.type('one\r');
    await person.sees('Second');
    person.type('two\r');
    await asked;
    expect(await buffer('typed')).toBe('one-two');
  });

  test('show_prompt_history tells what was typed, until clear_prompt_history forgets it', async () => {
    const asked = run(
      op.commandPrompt({ target: client, prompts: ['Say'], template: 'set-buffer -b said "%%"' }),
    );
    await person.sees('Say');
    person.type('remember me\r');
    await asked;
    const histories = await run(op.showPromptHistory({ type: 'command' }));
    expect(histories.find(({ type }) => type === 'command')?.entries.at(-1)).toBe('remember me');
    await run(op.clearPromptHistory());
    expect((await run(op.showPromptHistory())).flatMap(({ entries }) => entries)).toEqual([]);
  });

  test('display_menu runs the command of the item whose key is pressed', async () => {
    const chosen = {
      name: 'Second one',
      key: 's',
      command: 'set-buffer -b menu "#{pane_index}" ; wait-for -S menu',
    };
    const items = [{ name: 'First one', key: 'f', command: 'set-buffer -b menu first' }, null, chosen];
    const shown = run(
      op.displayMenu({ client, target: { ...pane, pane: 1 }, title: 'Menu', x: 'centre', y: 5, items }),
    );
    await person.sees('Second one');
    person.type('s');
    await shown;
    await signalled('menu');
    expect(await buffer('menu')).toBe('1');
  });

  test('display_menu runs its example, until the person leaves it', async () => {
    const shown = run(op.displayMenu({ ...op.displayMenu.spec.example, client }));
    await person.sees('Nothing');
    person.type('q');
    await shown;
  });

  test('display_popup tells whether its command succeeded', async () => {
    expect(await run(op.displayPopup({ client, close: 'onExit', shell: 'exit 0' }))).toEqual({
      failed: false,
    });
    expect(await run(op.displayPopup({ client, close: 'onExit', shell: 'exit 3' }))).toEqual({
      failed: true,
    });
  });

  test('display_popup starts its command in the folder and with the variables it was given', async () => {
    const popup = {
      client,
      close: 'onExit',
      width: '50%',
      height: 10,
      x: 0,
      y: 'status',
      title: 'A # title',
    } as const;
    const file = join(server.directory, 'popup');
    await run(
      op.displayPopup({
        ...popup,
        startDirectory: server.directory,
        environment: { FILE: file },
        style: 'bg=blue',
        borderLines: 'rounded',
        shell: 'printf %s "$PWD" > "$FILE"',
      }),
    );
    expect(await readFile(file, 'utf8')).toBe(server.directory);
  });

  test('close_popup ends a popup that waits for a key', async () => {
    const shown = run(op.displayPopup({ client, shell: 'echo popped; exec sleep 60' }));
    await person.sees('popped');
    await run(op.closePopup({ client }));
    expect(await shown).toEqual({ failed: true });
  });

  test('display_panes runs the template for the pane whose number is pressed', async () => {
    const template = 'set-buffer -b picked "%%" ; wait-for -S picked';
    person.forget();
    const shown = run(op.displayPanes({ target: client, milliseconds: 0, template }));
    await person.sees('80x'); // The size of a pane, drawn beside its number.
    person.type('1');
    await shown;
    await signalled('picked');
    const { text } = await run(op.displayMessage({ target: { ...pane, pane: 1 }, message: '#{pane_id}' }));
    expect(await buffer('picked')).toBe(text);
  });

  test.each([
    [
      'choose_tree',
      op.chooseTree({
        target: pane,
        collapsed: 'sessions',
        sort: 'name',
        template: 'set-buffer -b chosen "%%" ; wait-for -S chosen',
      }),
      'tree-mode',
      /^=(demo|other):/,
    ],
    [
      'choose_buffer',
      op.chooseBuffer({
        target: pane,
        sort: 'name',
        filter: '#{==:#{buffer_name},note}',
        template: 'set-buffer -b chosen "%%" ; wait-for -S chosen',
      }),
      'buffer-mode',
      /^note$/,
    ],
    [
      'choose_client',
      op.chooseClient({
        target: pane,
        sort: 'name',
        template: 'set-buffer -b chosen "%%" ; wait-for -S chosen',
      }),
      'client-mode',
      /^(\/dev\/|client-)/,
    ],
  ] as const)('%s runs the template for what is chosen', async (_, choose, mode, expected) => {
    await run(choose);
    expect(await modeOf()).toBe(mode);
    person.type('\r');
    await signalled('chosen');
    expect(await buffer('chosen')).toMatch(expected);
  });

  test.each([
    ['find_window', op.findWindow({ target: pane, match: 'log*', name: true }), 'tree-mode'],
    ['customize_mode', op.customizeMode({ target: pane, withoutPreview: true }), 'options-mode'],
    ['clock_mode', op.clockMode({ target: pane }), 'clock-mode'],
    ['copy_mode', op.copyMode({ target: pane, pageUp: true, hidePosition: true }), 'copy-mode'],
  ] as const)('%s puts the pane into its mode, which copy_mode cancels', async (_, enter, mode) => {
    await run(enter);
    expect(await modeOf()).toBe(mode);
    await run(op.copyMode({ target: pane, cancel: true }));
    expect(await modeOf()).toBe('');
  });

  test('a key that bind_key bound runs its command, and no longer after unbind_key', async () => {
    await run(
      op.bindKey({ table: 'root', key: 'F5', command: 'set-buffer -b pressed yes ; wait-for -S pressed' }),
    );
    person.type('\u001b[15~');
    await signalled('pressed');
    expect(await buffer('pressed')).toBe('yes');
    expect(await run(op.listKeys({ table: 'root', key: 'F5' }))).toHaveLength(1);
    await run(op.unbindKey({ table: 'root', key: 'F5' }));
    expect(await run(op.listKeys({ table: 'root', key: 'F5' }))).toEqual([]);
  });

  test('lock_client runs the lock command on the terminal until it ends', async () => {
    await run(op.setOption({ global: true, option: 'lock-command', value: 'echo locked; read answer' }));
    for (const lock of [
      op.lockClient({ target: client }),
      op.lockSession({ target: { session: 'demo' } }),
      op.lockServer(),
    ]) {
      await run(lock);
      await person.sees('locked');
      person.type('\r');
      await person.sees('[demo]');
    }
  });

  test('refresh_client sets and clears the flags of a client', async () => {
    const flagsOf = async (): Promise<string | undefined> =>
      (await run(op.listClients({}))).find(({ name }) => name === person.name)?.flags;
    await run(op.refreshClient({ target: client, flags: ['ignore-size'], statusOnly: true }));
    expect(await flagsOf()).toContain('ignore-size');
    await run(op.refreshClient({ target: client, flags: ['!ignore-size'] }));
    expect(await flagsOf()).not.toContain('ignore-size');
  });

  test('refresh_client moves the part of a large window that is shown, and back to the cursor', async () => {
    await run(op.resizeWindow({ target: { session: 'demo', window: 0 }, width: 200, height: 80 }));
    await run(op.refreshClient({ target: client, pan: 'down', by: 7 }));
    await run(op.refreshClient({ target: client, followCursor: true }));
  });

  test('show_messages tells what the server did', async () => {
    await run(op.setBuffer({ bufferName: 'logged', data: 'x' }));
    const { lines } = await run(op.showMessages({ target: client }));
    expect(lines.some((line) => line.includes('set-buffer -b logged'))).toBe(true);
  });
});
