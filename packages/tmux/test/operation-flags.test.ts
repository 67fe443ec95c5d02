import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Engine, execute } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import { atLeast } from '../src/operation/version.ts';
import * as op from '../src/operations/index.ts';
import { demoServer, testBinaries } from '../src/testing/index.ts';
import { TerminalClient } from './terminal-client.ts';

const demo = { session: 'demo' } as const;
const editor = { session: 'demo', window: 0 } as const;

const on =
  (engine: Engine) =>
  async <V>(operation: Operation<unknown, V>): Promise<V> =>
    (await execute(engine, operation)).unwrap();

describe.each(testBinaries())('flags of operations on %s', (tmux) => {
  test('kill_session keeps one session and kills the others, or kills a whole group', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine('subprocess');
    const run = on(engine);
    const names = async (): Promise<readonly string[]> =>
      (await run(op.listSessions())).map(({ sessionName }) => sessionName);
    await run(op.killSession({ target: { session: 'other' }, others: true }));
    expect(await names()).toEqual(['other']);
    await run(op.newSession({ name: 'one' }));
    await run(op.newSession({ name: 'twin', groupWith: { session: 'one' } }));
    const both = run(op.killSession({ target: { session: 'twin' }, group: true }));
    if (atLeast(await engine.version(), '3.7')) {
      await both;
      expect(await names()).toEqual(['other']);
    } else await expect(both).rejects.toMatchObject({ code: 'version_unsupported' });
    expect(() => op.killSession({ target: demo, others: true, group: true })).toThrow('others and group');
  });

  test('a client goes to the next, the previous and the last session, and shows a message', async () => {
    await using server = await demoServer({ tmux });
    const run = on(server.engine('subprocess'));
    const person = await TerminalClient.attach(server);
    const client = { client: person.name };
    const shown = async (): Promise<string | undefined> =>
      (await run(op.listClients())).find(({ name }) => name === person.name)?.sessionName;
    for (const [change, session] of [
      ['next', 'other'],
      ['previous', 'demo'],
      ['last', 'other'],
    ] as const) {
      await run(op.switchClient({ client, change }));
      expect(await shown(), change).toBe(session);
    }
    await run(op.bindKey({ table: 'own', key: 'x', command: 'wait-for -S pressed' }));
    await run(op.switchClient({ client, keyTable: 'own' }));
    person.type('x');
    await run(op.waitFor({ channel: 'pressed' }));
    const target = { session: 'demo', window: 1, pane: 0 };
    const message = 'look at #{session_name}:#{window_name}';
    expect(await run(op.displayMessage({ target, message, client, durationMs: 0 }))).toEqual({ text: '' });
    await person.sees('look at demo:logs');
    person.type('q');
    expect(() => op.switchClient({ client, change: 'next', target: demo })).toThrow('exactly one');
    expect(() => op.displayMessage({ message, durationMs: 5 })).toThrow('shown to a client');
    const gone = run(op.waitFor({ channel: 'gone' }));
    await run(op.setHook({ global: true, name: 'client-detached', command: 'wait-for -S gone' }));
    await run(op.detachClient({ session: { session: 'other' } }));
    await gone;
    expect(await run(op.listClients())).toEqual([]);
    await person.detach();
  });

  test('split_window can leave the new pane zoomed, and select_window go back and forth', async () => {
    await using server = await demoServer({ tmux });
    const run = on(server.engine('subprocess'));
    const { paneId } = await run(op.splitWindow({ target: editor, zoom: true, select: true }));
    const [window] = await run(op.listWindows({ target: demo }));
    expect(window?.zoomed).toBe(true);
    expect((await run(op.displayMessage({ target: editor, message: '#{pane_id}' }))).text).toBe(paneId);
    const current = async (): Promise<string> =>
      (await run(op.displayMessage({ target: demo, message: '#{window_name}' }))).text;
    await run(op.selectWindow({ target: { session: 'demo', window: 1 } }));
    await run(op.selectWindow({ target: { session: 'demo', window: 1 }, toggle: true }));
    expect(await current()).toBe('editor');
  });

  test('options and variables are set with formats expanded, only where unset, and without complaint', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine('subprocess');
    const run = on(engine);
    const set = { target: editor, option: '@where' };
    await run(
      op.setWindowOption({ ...set, value: '#{window_name}', expandFormats: true, onlyIfUnset: true }),
    );
    const again = await execute(engine, op.setWindowOption({ ...set, value: 'x', onlyIfUnset: true }));
    expect(again.status).toBe('failed');
    expect((await run(op.showOptions({ target: editor, window: true, name: '@where' }))).options).toEqual({
      '@where': 'editor',
    });
    await run(op.setWindowOption({ ...set, option: 'no-such-option', value: 'x', quiet: true }));
    await run(
      op.setEnvironment({ target: demo, name: 'WHERE', value: '#{session_name}', expandFormats: true }),
    );
    const { variables } = await run(op.showEnvironment({ target: demo, name: 'WHERE' }));
    expect(JSON.stringify(variables)).toContain('demo');
  });

  test('source_file runs a file for one pane', async () => {
    await using server = await demoServer({ tmux });
    const engine = server.engine('subprocess');
    const path = join(server.directory, 'commands');
    await writeFile(path, 'set-option -gF @seen "#{window_name}"\n');
    const sourced = op.sourceFile({ path, target: { session: 'demo', window: 1, pane: 0 } });
    if (!atLeast(await engine.version(), '3.4')) {
      await expect(execute(engine, sourced)).rejects.toMatchObject({ code: 'version_unsupported' });
      return;
    }
    await on(engine)(sourced);
    const seen = await on(engine)(op.showOptions({ global: true, name: '@seen' }));
    expect(seen.options).toEqual({ '@seen': 'logs' });
  });
});
