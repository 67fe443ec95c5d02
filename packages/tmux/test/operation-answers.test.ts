import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, execute, executeChain } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import * as op from '../src/operations/index.ts';
import { demoServer, type TestServer, testBinaries } from '../src/testing/index.ts';

/** Everything that quoting, formats and escapes stumble over. */
const awkward = [
  ...'$\\"\'#{}%;~[]()=*&|<>`!^-_ aH05é→😀',
  '\t',
  '\n',
  '\r',
  '\x01',
  '\x1b',
  '\x7f',
  '\u0085',
];
const printable = awkward.filter((character) => !/[\p{Cc}\\$]/u.test(character));

describe.each(testBinaries())('on a real server (%s)', (tmux) => {
  let server: TestServer;
  let engine: Engine;

  beforeAll(async () => {
    server = await demoServer({ tmux });
    engine = server.engine('subprocess');
  });
  afterAll(() => server.stop());

  const run = async <P, V>(operation: Operation<P, V>): Promise<V> =>
    (await execute(engine, operation)).unwrap();
  /** A shell command that tells our tmux something; the test waits for it with `reached`. */
  const tell = (channel: string): string =>
    `'${tmux}' -S '${server.connection.socketPath}' wait-for -S ${channel}`;
  const reached = (channel: string): Promise<unknown> =>
    engine.run({ argv: ['wait-for', channel], ownProcess: true });

  it('lists panes whose folder and title hold tabs, newlines, formats and separators as they are', async () => {
    const folder = join(server.directory, 'a\tb\nc;guard,#{pane_id} "d" \'e\' $HOME \\ é\n');
    await mkdir(folder);
    const { paneId } = await run(
      op.newWindow({ target: { session: 'demo' }, startDirectory: folder, shell: `${tell('in')}; exec cat` }),
    );
    await reached('in');
    const before = await run(op.listPanes({ all: true }));
    for (const title of ['#{pane_id};guard,', '#(false)#S ,;', '"\' %H →', '; x ;']) {
      await run(op.selectPane({ target: paneId, title }));
      const rows = await run(op.listPanes({ all: true }));
      expect(rows.map((row) => row.paneId)).toEqual(before.map((row) => row.paneId));
      expect(rows.find((row) => row.paneId === paneId)).toMatchObject({
        title,
        currentPath: folder,
        sessionName: 'demo',
        dead: false,
        deadStatus: null,
        pid: expect.any(Number),
      });
    }
    await run(op.killPane({ target: paneId }));
  });

  it('starts what it creates in the folder of the session, not in that of this process', async () => {
    const created = await run(op.newSession({ startDirectory: server.directory }));
    const window = await run(op.newWindow({ target: created.sessionId, shell: `${tell('w')}; exec cat` }));
    await reached('w');
    const pane = await run(op.splitWindow({ target: window.paneId, shell: `${tell('p')}; exec cat` }));
    await reached('p');
    const rows = await run(op.listPanes({ target: created.sessionId, wholeSession: true }));
    for (const { paneId } of [window, pane]) {
      expect(rows.find((row) => row.paneId === paneId)?.currentPath).toBe(server.directory);
    }
    await run(op.killSession({ target: created.sessionId }));
  });

  it('says how a pane ended', async () => {
    const { paneId } = await run(
      op.newWindow({ target: { session: 'demo' }, shell: `${tell('up')}; read x; exit 7` }),
    );
    await reached('up');
    await run(op.setOption({ target: paneId, pane: true, option: 'remain-on-exit', value: 'on' }));
    await run(op.sendKeys({ target: paneId, enter: true }));
    // 3.3a sometimes learns how a process ended only when another child of its own ends: it is given one.
    const ended = async () => {
      await engine.run({ argv: ['run-shell', '-b', ':'] });
      return (await run(op.listPanes({ target: paneId })))[0];
    };
    const soon = { timeout: 20_000 };
    await expect.poll(ended, soon).toMatchObject({ dead: true, deadStatus: 7, deadSignal: null });
    await run(op.respawnPane({ target: paneId, shell: 'kill -9 $$' }));
    const { text: version } = await engine.version();
    await expect.poll(ended, soon).toMatchObject({
      dead: true,
      deadStatus: null,
      deadSignal: /^3\.2/.test(version) ? null : 9,
    });
    await run(op.killPane({ target: paneId }));
  });

  it('gives names exactly, formats and all', async () => {
    const name = fc.string({ unit: fc.constantFrom(...printable), minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(name, async (wanted) => {
        await run(op.renameWindow({ target: { session: 'demo', window: 1 }, name: wanted }));
        const [, window] = await run(op.listWindows({ target: { session: 'demo' } }));
        expect(window?.windowName).toBe(wanted);
      }),
      { numRuns: 15, examples: [['#(touch /never)'], ['##[x'], ['#'], ['a#[b#S']] },
    );
  });

  it.each(['subprocess', 'control'] as const)(
    'shows options as they were set, through the %s engine',
    async (name) => {
      const over = server.engine(name);
      const value = fc.string({ unit: fc.constantFrom(...awkward), maxLength: 10 });
      await fc.assert(
        fc.asyncProperty(fc.array(value, { minLength: 30, maxLength: 30 }), async (values) => {
          const set = values.map((one, i) => op.setOption({ server: true, option: `@o${i}`, value: one }));
          for (const result of await executeChain(engine, set as unknown as Operation[]))
            result.raiseForStatus();
          const { options } = (await execute(over, op.showOptions({ server: true }))).unwrap();
          expect(values.map((_, i) => options[`@o${i}`])).toEqual(values);
        }),
        { numRuns: 15 },
      );
    },
  );

  it('shows array options by index, empty ones as empty, and says which are inherited', async () => {
    await run(op.setOption({ server: true, option: 'user-keys[7]', value: 'a b' }));
    const own = await run(op.showOptions({ server: true, name: 'user-keys' }));
    expect(own).toEqual({ options: { 'user-keys': { 7: 'a b' } }, inherited: [] });
    await run(op.setOption({ server: true, option: 'user-keys', unset: true }));
    expect((await run(op.showOptions({ server: true, name: 'user-keys' }))).options).toEqual({
      'user-keys': {},
    });
    const all = await run(op.showOptions({ target: { session: 'demo' }, inherited: true }));
    expect(all.options).toMatchObject({ prefix: 'C-b', 'update-environment': { 0: 'DISPLAY' } });
    expect(all.inherited).toEqual(expect.arrayContaining(['prefix', 'update-environment']));
    expect((await run(op.showOptions({ target: { session: 'demo' }, name: 'prefix' }))).options).toEqual({});
  });

  it('keeps buffers byte for byte', async () => {
    const data = `${awkward.join('')};\n\n`;
    await run(op.setBuffer({ bufferName: 'bytes', data }));
    expect((await run(op.showBuffer({ bufferName: 'bytes' }))).text).toBe(data);
    const path = join(server.directory, 'saved #S %H\n');
    await run(op.saveBuffer({ bufferName: 'bytes', path }));
    await run(op.saveBuffer({ bufferName: 'bytes', path, append: true }));
    expect(await readFile(path, 'utf8')).toBe(data + data);
    await run(op.loadBuffer({ bufferName: 'twice', path }));
    expect((await run(op.showBuffer({ bufferName: 'twice' }))).text).toBe(data + data);
  });

  it.each(['subprocess', 'control'] as const)(
    'tells through the %s engine when a file cannot be used',
    async (name) => {
      const over = server.engine(name);
      const path = join(server.directory, 'missing', 'file');
      for (const operation of [
        op.loadBuffer({ path }),
        op.saveBuffer({ path, bufferName: 'note' }),
        op.sourceFile({ path }),
      ]) {
        expect(await execute(over, operation as Operation), operation.kind).toMatchObject({
          status: 'failed',
        });
      }
    },
  );

  it('sources the one file named, whatever its name', async () => {
    const path = join(server.directory, 'a[b]*?\\ #S.conf');
    await writeFile(path, 'set-option -s @sourced yes\n');
    await writeFile(join(server.directory, 'ab.conf'), 'set-option -s @sourced no\n');
    await run(op.sourceFile({ path }));
    expect((await run(op.showOptions({ server: true, name: '@sourced' }))).options).toEqual({
      '@sourced': 'yes',
    });
  });

  it('types every byte, literal text and keys', async () => {
    const path = join(server.directory, 'typed');
    const bytes = Array.from({ length: 256 }, (_, i) => i);
    const shell = `stty raw -echo; ${tell('ready')}; head -c 280 > '${path}'; ${tell('typed')}; exec cat`;
    const { paneId: target } = await run(op.newWindow({ target: { session: 'demo' }, shell }));
    await reached('ready');
    await run(op.sendKeys({ target, hex: bytes }));
    await run(op.sendKeys({ target, keys: ['Enter', '-é;'], literal: true }));
    await run(op.sendKeys({ target, keys: ['ls'], suppressHistory: true, enter: true }));
    await run(op.sendKeys({ target, keys: ['ab'], repeat: 6 }));
    await reached('typed');
    const typed = Buffer.concat([Buffer.from(bytes), Buffer.from('Enter-é; ls\rabababababab')]);
    expect((await readFile(path)).equals(typed.subarray(0, 280))).toBe(true);
    await run(op.killPane({ target }));
  });

  it('runs a shell command that prints, fails or cannot be read without a trace in any pane', async () => {
    const path = join(server.directory, 'ran');
    const lines = [
      'echo out; echo err >&2; exit 3',
      'if; then )(',
      'kill -9 $$',
      "echo 'unbalanced",
      'true # )',
    ];
    for (const commandLine of [...lines, `printf '%s' #{q:window_name} "it's" > '${path}'`]) {
      const result = await execute(
        engine,
        op.runShell({ commandLine, target: { session: 'demo', window: 0, pane: 0 } }),
      );
      expect(result, commandLine).toMatchObject({ status: 'complete', stdout: [], stderr: [] });
    }
    expect(await readFile(path, 'utf8')).toBe("editorit's");
    expect((await run(op.listPanes({ all: true }))).filter((row) => row.inMode)).toEqual([]);
  });

  it('makes a group of sessions', async () => {
    const { sessionId } = await run(op.newSession({ name: 'mirror', groupWith: { session: 'other' } }));
    const groups = (await run(op.listSessions()))
      .filter((row) => row.group === 'other')
      .map((row) => row.sessionName);
    expect(groups.toSorted()).toEqual(['mirror', 'other']);
    await run(op.killSession({ target: sessionId }));
  });

  it('makes no group with what is not there, by whatever name', async () => {
    const before = await run(op.listSessions());
    const odd = await run(op.newSession({ name: 'o#d,d}' }));
    for (const groupWith of [{ session: 'mir' }, { session: 'o#d' }, '$999', '@999', '%999'] as const)
      await expect(run(op.newSession({ name: 'lost', groupWith }))).rejects.toThrow(
        "can't find the session to group with",
      );
    for (const groupWith of [{ session: 'o#d,d}' }, odd.sessionId, odd.windowId, odd.paneId] as const) {
      const { sessionId, windowId } = await run(op.newSession({ name: 'mirror', groupWith }));
      expect(windowId).toBe(odd.windowId);
      await run(op.killSession({ target: sessionId }));
    }
    await run(op.killSession({ target: odd.sessionId }));
    expect(await run(op.listSessions())).toEqual(before);
  });

  it('swaps windows so that the current place stays current, or goes to the target', async () => {
    const [zero, one] = [0, 1].map((window) => ({ session: 'other', window }) as const) as [
      { session: string; window: number },
      { session: string; window: number },
    ];
    const order = async () =>
      (await run(op.listWindows({ target: { session: 'other' } }))).map(
        (row) => row.windowName + (row.active ? '*' : ''),
      );
    expect(await order()).toEqual(['main*', 'spare']);
    await run(op.swapWindow({ source: zero, target: one }));
    expect(await order()).toEqual(['spare*', 'main']);
    await run(op.swapWindow({ source: zero, target: one, select: true }));
    expect(await order()).toEqual(['main', 'spare*']);
  });

  it('answers whether a session exists, never by the start of its name', async () => {
    expect(await run(op.hasSession({ target: { session: 'demo' } }))).toEqual({ exists: true });
    expect(await run(op.hasSession({ target: { session: 'dem' } }))).toEqual({ exists: false });
  });
});
