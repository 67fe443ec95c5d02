import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Engine, execute, executeChain } from '../src/engine.ts';
import { sessionNameSchema } from '../src/operation/target.ts';
import * as op from '../src/operations/index.ts';

/** A fresh server that does not run yet, and engines on it. */
export interface Ground extends AsyncDisposable {
  readonly engine: Engine;
  /** A folder of the test's own. */
  readonly directory: string;
  /** A program that makes the same engine, given what to do with it. */
  readonly program?: (body: string) => string;
}

export type OpenGround = (env?: NodeJS.ProcessEnv) => Promise<Ground>;

const work = { session: 'work' };
/** Starts the server with one session that runs nothing of interest. */
const start = (engine: Engine): Promise<unknown> =>
  execute(engine, op.newSession({ name: 'work', windowName: 'first', shell: 'cat' }));
const names = async (engine: Engine): Promise<readonly string[]> =>
  (await execute(engine, op.listSessions())).unwrap().map(({ sessionName }) => sessionName);
const echo = (text: string) => ({ argv: ['display-message', '-p', text], effect: 'read' as const });

/** Everything quoting can stumble over, in any order and often at the ends. */
const awkward: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'\'"`~$#;{}[]()%\\-=+*?!&|<>:,. \t\n\r\x1b\x7f\x01abé→🎉',
        '\\;',
        "'\\''",
        '#{pane_id}',
        '$HOME',
        '%H',
        '--',
      ),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''))
  .filter((text) => text !== '');

/** Only letters every C library knows: tmux writes the others as octal numbers. */
const isSessionName = (text: string): boolean =>
  /^[ -~é→🎉]+$/u.test(text) && sessionNameSchema.safeParse(text).success;

/** What every engine owes, whatever carries its commands. */
export function engineContract(name: string, open: OpenGround): void {
  describe(name, () => {
    test('without a server, reading is a typed no_server and has_session answers no', async () => {
      await using ground = await open();
      const listed = await execute(ground.engine, op.listSessions());
      expect(listed.status).toBe('failed');
      expect(() => listed.raiseForStatus()).toThrow(expect.objectContaining({ code: 'no_server' }));
      expect((await execute(ground.engine, op.hasSession({ target: work }))).unwrap()).toEqual({
        exists: false,
      });
    });

    test('new_session starts the server and answers the ids tmux gave', async () => {
      await using ground = await open();
      const made = await execute(ground.engine, op.newSession({ name: 'work', shell: 'cat' }));
      expect(made.unwrap()).toEqual({ sessionId: '$0', windowId: '@0', paneId: '%0' });
      expect((await execute(ground.engine, op.hasSession({ target: work }))).unwrap()).toEqual({
        exists: true,
      });
    });

    test('ten sessions started at once end up on one server', async () => {
      await using ground = await open();
      const wanted = Array.from({ length: 10 }, (_, i) => `s${i}`);
      const made = await Promise.all(
        wanted.map((session) => execute(ground.engine, op.newSession({ name: session, shell: 'cat' }))),
      );
      expect(made.map(({ status }) => status)).toEqual(wanted.map(() => 'complete'));
      expect(await names(ground.engine)).toEqual(wanted);
    });

    test('what tmux refuses is a result with its words, and an error only when asked for', async () => {
      await using ground = await open();
      await start(ground.engine);
      const killed = await execute(ground.engine, op.killPane({ target: '%99' }));
      expect(killed).toMatchObject({ status: 'failed', value: null, stderr: ["can't find pane: %99"] });
      expect(() => killed.raiseForStatus()).toThrow(expect.objectContaining({ code: 'command_failed' }));
      const unknown = await ground.engine.run({ argv: ['no-such-command'] });
      expect(unknown).toMatchObject({
        status: 'failed',
        stdout: '',
        stderr: 'unknown command: no-such-command\n',
      });
    });

    test('a chain stops at a first command that fails, and the rest is skipped', async () => {
      await using ground = await open();
      await start(ground.engine);
      const chain = [op.killPane({ target: '%99' }), op.renameSession({ target: work, name: 'later' })];
      const results = await executeChain(ground.engine, chain as never);
      expect(results.map(({ status }) => status)).toEqual(['failed', 'skipped']);
      expect(results[0]?.stderr).toEqual(["can't find pane: %99"]);
      expect(await names(ground.engine)).toEqual(['work']);
    });

    test('a chain that stops in the middle says where, and what came before has happened', async () => {
      await using ground = await open();
      await start(ground.engine);
      const results = await executeChain(ground.engine, [
        op.renameSession({ target: work, name: 'renamed' }),
        op.killWindow({ target: '@99' }),
        op.renameSession({ target: { session: 'renamed' }, name: 'again' }),
      ] as never);
      expect(results.map(({ status }) => status)).toEqual(['complete', 'failed', 'skipped']);
      expect(results[1]?.stderr).toEqual(["can't find window: @99"]);
      expect(await names(ground.engine)).toEqual(['renamed']);
    });

    test('a chain of which one command cannot be parsed fails as a whole, and nothing ran', async () => {
      await using ground = await open();
      await start(ground.engine);
      for (const bad of [['no-such-command'], ['kill-pane', '-Q']]) {
        const replies = await ground.engine.runChain([
          { argv: ['rename-session', '-t', '=work:', 'changed'] },
          { argv: bad },
          { argv: ['set-buffer', '-b', 'x', 'y'] },
        ]);
        expect(replies.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
        expect(new Set(replies.map(({ stderr }) => stderr)).size).toBe(1);
        expect(replies[0]?.stderr).toMatch(/unknown command: no-such-command|unknown flag -Q/);
      }
      expect(await names(ground.engine)).toEqual(['work']);
    });

    test('each command of a chain has its own output', async () => {
      await using ground = await open();
      await start(ground.engine);
      const replies = await ground.engine.runChain([
        echo('one'),
        { argv: ['set-option', '-g', '@x', 'y'] },
        echo('two'),
        echo(''),
      ]);
      expect(replies.map(({ stdout }) => stdout)).toEqual(['one\n', '', 'two\n', '\n']);
      expect(await ground.engine.runChain([])).toEqual([]);
    });

    test('names keep their letters in a locale that has none of them', async () => {
      await using ground = await open({ ...process.env, LANG: 'C', LC_ALL: 'C', LC_CTYPE: 'C' });
      const { engine } = ground;
      await execute(engine, op.newSession({ name: 'café ☕', windowName: 'naïve 🎉', shell: 'cat' }));
      expect((await execute(engine, op.listWindows({ all: true }))).unwrap()).toMatchObject([
        { sessionName: 'café ☕', windowName: 'naïve 🎉' },
      ]);
      expect((await execute(engine, op.hasSession({ target: { session: 'café ☕' } }))).unwrap()).toEqual({
        exists: true,
      });
    });

    test('a session is found by any name it can be given, and by no name tmux would store otherwise', async () => {
      await using ground = await open();
      const { engine } = ground;
      await start(engine);
      const given = new Set(fc.sample(awkward, { numRuns: 300, seed: 20_26 }).filter(isSessionName));
      expect(given.size).toBeGreaterThan(20);
      for (const name of given) (await execute(engine, op.newSession({ name, shell: 'cat' }))).unwrap();
      expect(new Set(await names(engine))).toEqual(new Set(['work', ...given]));
      for (const session of given)
        expect((await execute(engine, op.hasSession({ target: { session } }))).unwrap(), session).toEqual({
          exists: true,
        });
      await engine.run({ argv: ['new-session', '-d', '-s', 'a\\b', 'cat'] });
      expect(await names(engine)).toContain('a\\\\b');
      for (const name of ['a\\b', 'a\\\\b', 'a$b', 'a$_'])
        expect(() => op.newSession({ name }), name).toThrow(/use its id/);
    });

    test('any text survives the way into a buffer and back', { timeout: 120_000 }, async () => {
      await using ground = await open();
      await start(ground.engine);
      const texts = fc.sample(awkward, { numRuns: 400, seed: 20_26 });
      const lanes = Array.from({ length: 4 }, (_, lane) => lane);
      const back: string[] = [];
      await Promise.all(
        lanes.map(async (lane) => {
          for (let i = lane; i < texts.length; i += lanes.length) {
            const bufferName = `b${i}`;
            (await execute(ground.engine, op.setBuffer({ bufferName, data: texts[i] ?? '' }))).unwrap();
            back[i] = (await execute(ground.engine, op.showBuffer({ bufferName }))).unwrap().text;
          }
        }),
      );
      expect(back).toEqual(texts);
    });

    test('a command of any length is one command, and the one that failed is named', async () => {
      await using ground = await open();
      const { engine } = ground;
      const long = `${"'é🎉\n#{pane_id};".repeat(20_000)};`;
      const set = op.setBuffer({ bufferName: 'long', data: long });
      await expect(execute(engine, set).then((result) => result.unwrap())).rejects.toMatchObject({
        code: 'no_server',
      });
      const environment = { LONG: 'x'.repeat(20_000) };
      expect(
        (await execute(engine, op.newSession({ name: 'work', environment, shell: 'cat' }))).unwrap(),
      ).toEqual({ sessionId: '$0', windowId: '@0', paneId: '%0' });
      expect(await execute(engine, set)).toMatchObject({ status: 'complete', stdout: [], stderr: [] });
      const shown = await execute(engine, op.showBuffer({ bufferName: 'long' }));
      expect(shown.unwrap().text === long).toBe(true);
      const type = (target: '%0' | '%99') => op.sendKeys({ target, keys: [long], literal: true });
      expect((await execute(engine, type('%0'))).unwrap()).toEqual({});
      const lost = await execute(engine, type('%99'));
      expect([lost.status, lost.stdout, lost.stderr]).toEqual(['failed', [], ["can't find pane: %99"]]);
      const results = await executeChain(engine, [type('%0'), type('%99'), set] as never);
      expect(results.map(({ status }) => status)).toEqual(['complete', 'failed', 'skipped']);
      expect(results[1]?.stderr).toEqual(["can't find pane: %99"]);
      const unknown = [{ argv: ['no-such-command', long] }, { argv: ['list-sessions'] }];
      const refused = { status: 'failed', stdout: '', stderr: 'unknown command: no-such-command\n' };
      expect(await engine.runChain(unknown)).toEqual([refused, refused]);
      expect(await engine.run(unknown[0] as never)).toEqual(refused);
    });

    test('a hook that fails is not the failure of the command it follows', async () => {
      await using ground = await open();
      const { engine } = ground;
      await start(engine);
      for (const name of ['after-rename-window', 'after-new-window', 'after-list-windows'])
        await execute(engine, op.setHook({ global: true, name, command: 'kill-pane -t %999' }));
      const rename = (target: '@0' | '@99', name: string) => op.renameWindow({ target, name });
      const renamed = await execute(engine, rename('@0', 'one'));
      expect([renamed.status, renamed.stdout, renamed.stderr]).toEqual(['complete', [], []]);
      expect((await execute(engine, op.newWindow({ target: work, shell: 'cat' }))).unwrap()).toEqual({
        windowId: '@1',
        paneId: '%1',
      });
      expect((await execute(engine, op.listWindows({ target: work }))).unwrap()).toHaveLength(2);
      const failed = await execute(engine, rename('@99', 'two'));
      expect([failed.status, failed.stderr]).toEqual(['failed', ["can't find window: @99"]]);
      const all = await executeChain(engine, [rename('@0', 'two'), rename('@0', 'three')] as never);
      expect(all.map(({ status, stderr }) => [status, stderr])).toEqual([
        ['complete', []],
        ['complete', []],
      ]);
      const some = await executeChain(engine, [
        rename('@0', 'four'),
        rename('@99', 'x'),
        rename('@0', 'y'),
      ] as never);
      expect(some.map(({ status }) => status)).toEqual(['complete', 'failed', 'skipped']);
    });

    test('a reply of three megabytes arrives whole', async () => {
      await using ground = await open();
      await start(ground.engine);
      const line = `${'0123456789abcdef'.repeat(7)} é\n`;
      const text = line.repeat(Math.ceil(3_000_000 / line.length));
      const path = join(ground.directory, 'three-megabytes');
      await writeFile(path, text);
      (await execute(ground.engine, op.loadBuffer({ path, bufferName: 'big' }))).unwrap();
      expect(
        (await execute(ground.engine, op.showBuffer({ bufferName: 'big' }))).unwrap().text === text,
      ).toBe(true);
      const long = 'x'.repeat(10_000);
      const rows = await ground.engine.run({ argv: ['list-commands', '-F', long], effect: 'read' });
      if (rows.status === 'complete')
        expect(new Set(rows.stdout.trimEnd().split('\n'))).toEqual(new Set([long]));
    });

    test('empty lines and blank lines at the end of a reply are kept', async () => {
      await using ground = await open();
      await start(ground.engine);
      const reply = await ground.engine.run({
        argv: ['list-sessions', '-F', '\na\n\n b \n\n\n'],
        effect: 'read',
      });
      expect(reply).toEqual({ status: 'complete', stdout: '\na\n\n b \n\n\n\n', stderr: '' });
    });

    test('what is aborted or out of time moves no later reply', async () => {
      await using ground = await open();
      await start(ground.engine);
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          const stop = new AbortController();
          const options = i % 3 === 1 ? { signal: stop.signal } : i % 3 === 2 ? { timeoutMs: 1 } : {};
          const reply = ground.engine.run(echo(`n${i}`), options);
          stop.abort();
          return reply.then(
            ({ stdout }) => stdout,
            (error: { code: string }) => error.code,
          );
        }),
      );
      const allowed = [[], ['aborted'], ['timed_out']] as const;
      outcomes.forEach((outcome, i) => {
        expect([`n${i}\n`, ...(allowed[i % 3] ?? [])]).toContain(outcome);
      });
      expect((await ground.engine.run(echo('after'))).stdout).toBe('after\n');
    });

    test('an abort that came first sends nothing', async () => {
      await using ground = await open();
      await start(ground.engine);
      const aborted = { signal: AbortSignal.abort() };
      const refused = expect.objectContaining({ code: 'aborted' });
      await expect(ground.engine.run({ argv: ['set-buffer', '-b', 'x', 'y'] }, aborted)).rejects.toEqual(
        refused,
      );
      await expect(
        ground.engine.runChain([{ argv: ['set-buffer', '-b', 'x', 'y'] }], aborted),
      ).rejects.toEqual(refused);
      expect((await execute(ground.engine, op.listBuffers())).unwrap()).toEqual([]);
    });

    test('what is no command, or holds a NUL, is refused before anything is sent', async () => {
      await using ground = await open();
      await start(ground.engine);
      const refused = expect.objectContaining({ code: 'invalid_parameters' });
      const set = ['set-buffer', '-b', 'x', 'y'];
      for (const argv of [
        [],
        [''],
        [' '],
        ['# a comment'],
        ['NAME=value'],
        ['%if'],
        ['set-buffer', 'a\0b'],
        ['list-sessions;'],
      ]) {
        await expect(ground.engine.run({ argv })).rejects.toEqual(refused);
        await expect(ground.engine.runChain([{ argv: set }, { argv }])).rejects.toEqual(refused);
      }
      expect((await execute(ground.engine, op.listBuffers())).unwrap()).toEqual([]);
    });

    test('calls that are not awaited are carried out in order, where the engine says so', async () => {
      await using ground = await open();
      if (!ground.engine.ordered) return;
      const append = (i: number) => ground.engine.run({ argv: ['set-buffer', '-a', '-b', 'x', `${i},`] });
      // The first of them starts the server, which takes longer than anything after it.
      const started = ground.engine.run({ argv: ['new-session', '-d', 'cat'] });
      const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => append(i)));
      await started;
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set(['complete']));
      const { text } = (await execute(ground.engine, op.showBuffer({ bufferName: 'x' }))).unwrap();
      expect(text).toBe(Array.from({ length: 50 }, (_, i) => `${i},`).join(''));
    });

    test('what ends the server is answered like any other command', async () => {
      for (const ending of [op.killSession({ target: work }), op.killServer()]) {
        await using ground = await open();
        await start(ground.engine);
        await execute(ground.engine, op.listSessions());
        expect((await execute(ground.engine, ending)).status).toBe('complete');
      }
    });

    test('a program that used the engine and closed it ends by itself', async () => {
      await using ground = await open();
      if (!ground.program) return;
      const body = `
        await engine.run({ argv: ['new-session', '-d', 'cat'] });
        await engine.run({ argv: ['kill-pane', '-t', '%999'] });
        await engine.runChain([{ argv: ['list-sessions'] }, { argv: ['kill-pane', '-t', '%999'] }]);
        await engine.close();
        console.log('closed');`;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', ground.program(body)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(said).toBe('closed\n');
    });
  });
}
