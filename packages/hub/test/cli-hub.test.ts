import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaneInfo, PaneNewResult, ServerStatus } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { CliGround, type Outcome } from './cli-ground.ts';
import { until } from './test-hub.ts';

const ground = new CliGround();
afterAll(() => ground[Symbol.asyncDispose]());

/** Asks again until it is so; the programs in panes take their time. */
async function eventually<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (const until = performance.now() + 15_000; ; ) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (performance.now() > until) throw new Error(`still ${JSON.stringify(answer)}`);
    await sleep(20);
  }
}

const panes = () => ground.json<readonly PaneInfo[]>('ls');

describe('poly with a real hub', () => {
  it('starts the hub once, however many start it at once', async () => {
    const started = await Promise.all(
      Array.from({ length: 5 }, () => ground.json<ServerStatus & { started: boolean }>('up')),
    );
    expect(new Set(started.map(({ pid }) => pid)).size).toBe(1);
    expect(started.filter((one) => one.started)).toHaveLength(1);
    const again = await ground.ok('up');
    expect(again).toContain('The hub was up already.');
    expect(again).toContain('poly run -- top');
  }, 60_000);

  it('gives what was meant for the memory of the hub to no program', async () => {
    await ground.ok('action', 'pane:new', '--id', 'inherits', '--argv', 'env');
    await ground.ok('wait', 'inherits', '--exit');
    const given = await ground.ok('read', 'inherits');
    expect(given).toContain('POLY_PANE=inherits');
    expect(given).not.toContain('MALLOC_');
    await ground.ok('kill', 'inherits', '--cleanup');
  }, 60_000);

  it('says how a shell finds poly, unless it does', async () => {
    const bin = join(dirname(ground.program), '..', 'bin');
    const npm = join(ground.home, 'node_modules', '.bin');
    mkdirSync(npm, { recursive: true });
    writeFileSync(join(npm, 'poly'), '');
    const up = async (PATH: string, script?: string): Promise<string> =>
      (await ground.run(['up'], { env: { PATH, npm_lifecycle_event: script } })).stdout;
    const said = `So that your shell finds poly: export PATH=${bin}:"$PATH"`;
    expect(await up('/usr/bin')).toContain(said);
    expect(await up(`${npm}:/usr/bin`, 'start')).toContain(said);
    for (const PATH of [npm, bin]) expect(await up(`/usr/bin:${PATH}`)).not.toContain(said);
  }, 60_000);

  it('tells how the hub is', async () => {
    expect(await ground.ok('server', 'status')).toContain(join(ground.home, '.poly'));
    expect(await ground.ok('server', 'logs')).toContain('ready');
    const { stdout } = await ground.run(['doctor', '--json']);
    const findings = JSON.parse(stdout) as { name: string; state: string; says: string }[];
    expect(findings.filter(({ state }) => state === 'bad')).toEqual([]);
    expect(findings.map(({ name }) => name)).toContain('socket');
  });

  it('counts what agents did, what could not be taken in, and what waits for a hub', async () => {
    await using at = new CliGround();
    await at.ok('up');
    const capture = async (): Promise<string> => {
      const { stdout } = await at.run(['doctor', '--json']);
      const findings = JSON.parse(stdout) as { name: string; state: string; says: string }[];
      const { state, says } = findings.find(({ name }) => name === 'capture') ?? {};
      return `${state}: ${says}`;
    };
    expect(await capture()).toBe('ok: 0 events taken in since the hub was started');
    const arrivals = join(at.home, '.poly', 'journal', 'new');
    writeFileSync(join(arrivals, 'stray'), 'not ours');
    const told = 'warn: 0 events taken in since the hub was started, and 1 that could not be';
    await eventually(capture, (says) => says === told);
    await at.ok('server', 'stop');
    rmSync(join(at.home, '.poly', 'journal', 'dead', 'stray'));
    writeFileSync(join(arrivals, 'later'), 'not ours');
    expect(await capture()).toBe('ok: 1 events wait for a hub');
  });

  it('is not stopped for a restart that could not start it again', async () => {
    const { code, stderr } = await ground.run(['server', 'restart'], { env: { POLY_PORT: 'abc' } });
    expect([code, stderr]).toEqual([2, 'poly: POLY_PORT is "abc": give a whole number from 0 to 65535.\n']);
    expect((await ground.run(['server', 'status'])).code).toBe(0);
  });

  it('says of a home that can be none why, and what decides', async () => {
    for (const POLY_HOME of ['/etc/passwd', '/proc/nope/a']) {
      const { code, stderr } = await ground.run(['up'], { env: { POLY_HOME } });
      expect(code).not.toBe(0);
      expect(stderr).toMatch(
        /^poly: .*(\/etc\/passwd is not a folder|\/proc\/nope cannot be made).* POLY_HOME says/s,
      );
      expect(stderr).not.toContain('    at ');
    }
  });

  it('reads as many of the last lines as are wanted, however much that is', async () => {
    const line = 'x'.repeat(100);
    await ground.ok('run', '--name', 'much', '--', 'sh', '-c', `seq -f '%.0f ${line}' 1 20000`);
    await ground.ok('wait', 'much');
    const numbers = (text: string): readonly string[] =>
      text
        .trimEnd()
        .split('\n')
        .map((row) => row.split(' ')[0] ?? '');
    const wanted = Array.from({ length: 15_000 }, (_, index) => String(5001 + index));
    for (const more of [[], ['--raw'], ['-f']]) {
      const { stdout, stderr } = await ground.run(['read', 'much', '--tail', '15000', ...more]);
      expect(numbers(stdout)).toEqual(wanted);
      expect(stderr).toBe('');
    }
    await ground.ok('kill', 'much', '--cleanup');
  });

  it('runs a program here, reads it, types into it, and ends it', async () => {
    const { id } = await ground.json<PaneNewResult>(
      'run',
      '--name',
      'shell',
      '--env',
      'GREETING=hello',
      '--',
      'sh',
    );
    expect(id).toBe('shell');
    await ground.ok('send', 'she', 'echo "$GREETING from $(pwd -P)"; echo second');
    const seen = await eventually(
      () => ground.ok('read', 'shell'),
      (text) => text.includes('\nsecond'),
    );
    expect(seen).toMatch(/hello from .*poly-cli-/);
    expect(
      (await ground.ok('read', 'shell', '--grep', '^HELLO', '-i')).split('\n').filter(Boolean),
    ).toHaveLength(1);
    const { lines, next } = await ground.json<{ lines: { text: string }[]; next: number }>(
      'read',
      'shell',
      '--tail',
      '2',
    );
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(await ground.json('read', 'shell', '--since', String(next))).toMatchObject({
      more: false,
      from: next,
    });
    const { stdout } = await ground.run(['read', 'shell', '--raw']);
    expect(stdout).toContain('second\r\n');
    expect(await ground.ok('screen', 'shell')).toContain('second');
    await ground.ok('keys', 'shell', 'C-d');
    const [ended] = await eventually(panes, ([pane]) => pane?.status === 'exited');
    expect(ended?.exitCode).toBe(0);
    expect((await ground.run(['send', 'shell', 'x'])).code).toBe(4);
    await ground.ok('kill', 'shell', '--cleanup');
    expect(await panes()).toEqual([]);
  }, 60_000);

  it('says what is near where a name is none, and that nothing is there where nothing is', async () => {
    await ground.ok(
      'run',
      '--name',
      'keys',
      '--',
      'sh',
      '-c',
      'printf four; trap "echo caught" INT; while :; do read -r line && echo "got $line"; done',
    );
    await ground.ok('wait', 'keys', '--text', 'four', '--since', '0');
    expect(await ground.run(['read', 'keys', '--since', '400'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'poly: keys has printed 4 bytes so far: nothing stands at byte 400 yet.\n',
    });
    await ground.ok('keys', 'keys', 'ctrl-c');
    await ground.ok('wait', 'keys', '--text', 'caught', '--since', '0');
    await ground.ok('keys', 'keys', 'A', 'space', 'b', 'return');
    await ground.ok('wait', 'keys', '--text', 'got A b', '--since', '0');
    expect((await ground.run(['keys', 'keys', 'Entre'])).stderr).toContain(
      '"Entre" is no key. Did you mean Enter? ',
    );
    expect((await ground.run(['agent', 'create', 'cluade'])).stderr).toMatch(
      /cluade.*Did you mean claude\?/s,
    );
    expect((await ground.run(['agent', 'create', 'clod'])).stderr).toContain(
      'There is claude, codex, gemini, opencode.',
    );
    await ground.ok('kill', 'keys', '--cleanup');
  });

  it('shows a config.toml that is none on one line of its status', async () => {
    await using at = new CliGround();
    mkdirSync(join(at.home, '.poly'), { mode: 0o700 });
    writeFileSync(join(at.home, '.poly', 'config.toml'), '[output]\npane_mb = = 3\n');
    await at.ok('up');
    const rows = (await at.ok('server', 'status')).trimEnd().split('\n');
    expect(rows.map((row) => row.slice(0, 'tmux session'.length).trimEnd())).toEqual([
      'version',
      'pid',
      'socket',
      'address',
      'panes',
      'tmux session',
      'problem',
    ]);
    expect(rows.at(-1)).toMatch(/^problem {7}.*config\.toml, line 2, column 11: /);
  }, 30_000);

  it('keeps notes of a pane through an action, with words for numbers and switches', async () => {
    const { id } = await ground.json<PaneNewResult>(
      'action',
      'pane:new',
      '--argv',
      'cat',
      '--cols',
      '90',
      '--meta',
      'a=1',
    );
    expect(
      await ground.json(
        'action',
        'pane:set-meta',
        '--paneId',
        id.slice(0, -1),
        '--key',
        'role',
        '--value',
        'agent',
      ),
    ).toMatchObject({
      meta: { a: '1', role: 'agent' },
      changed: true,
    });
    expect(
      await ground.json(
        'action',
        'pane:set-meta',
        '--body',
        JSON.stringify({ paneId: id, key: 'n', value: 7 }),
      ),
    ).toMatchObject({
      meta: { n: 7 },
    });
    const { code, stderr } = await ground.run(['action', 'pane:set-meta', '--body', '{"paneId": "x"}']);
    expect([code, stderr.includes('key')]).toEqual([2, true]);
    await ground.ok('action', 'pane:close', '--paneId', id);
    expect(await panes()).toEqual([]);
  });

  it('acts as the pane it is run in, and may do no more than that', async () => {
    const poly = `'${process.execPath}' '${ground.program}'`;
    const script = `${poly} run --name child -- cat; ${poly} server stop; echo "ended with $?"`;
    await ground.ok('run', '--name', 'parent', '--', 'sh', '-c', script);
    const seen = await eventually(
      () => ground.ok('read', 'parent'),
      (text) => text.includes('ended with'),
    );
    expect(seen).toContain('child');
    expect(seen).toContain('ended with 4');
    for (const id of ['child', 'parent']) await ground.ok('kill', id, '--cleanup');
  });

  it('follows what a pane prints, a line that grows as it grows, until the pane ends', async () => {
    await ground.ok(
      'run',
      '--name',
      'slow',
      '--',
      'sh',
      '-c',
      'echo one; printf tw; read x; echo o; read x; exit 3',
    );
    const child = spawn(process.execPath, [ground.program, 'read', 'slow', '-f'], { env: ground.env });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    // A line is there as soon as it has its end, and one without an end as far as it goes.
    await eventually(
      async () => stdout,
      (text) => text === 'one\ntw',
    );
    const closed = once(child, 'close');
    for (let n = 0; n < 2; n++) await ground.ok('send', 'slow', '');
    const [code] = (await closed) as [number];
    // The terminal echoes each Enter.
    expect([code, stdout.replaceAll('\n', '')]).toEqual([0, 'onetwo']);
    const { code: refused, stderr } = await ground.run(['read', 'slow', '-f', '--json']);
    expect([refused, stderr]).toEqual([2, expect.stringContaining('--json')]);
    await ground.ok('kill', 'slow', '--cleanup');
  });

  it('follows only the lines that match, each once it is whole', async () => {
    const script =
      'echo an error; printf "half an "; read x; echo Error; echo nothing; read x; printf "last error"';
    await ground.ok('run', '--name', 'errors', '--', 'sh', '-c', `stty -echo; ${script}`);
    const child = spawn(
      process.execPath,
      [ground.program, 'read', 'errors', '-f', '--since', '0', '--grep', 'ERROR$', '-i'],
      { env: ground.env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => (seen += chunk));
    const ended = new Promise((resolve) => child.once('close', resolve));
    const shows = (text: string) =>
      eventually(
        async () => seen,
        (now) => now === text,
      );
    await shows('an error\n');
    await ground.ok('send', 'errors', '');
    await shows('an error\nhalf an Error\n');
    await ground.ok('send', 'errors', '');
    expect([await ended, seen]).toEqual([0, 'an error\nhalf an Error\nlast error\n']);
    expect(await ground.run(['read', 'errors', '-f', '--grep', 'no such'])).toMatchObject({
      code: 1,
      stdout: '',
    });
    expect(await ground.run(['read', 'errors', '-f', '--grep', '('])).toMatchObject({ code: 2, stdout: '' });
    expect(await ground.run(['read', 'errors', '-f', '--grep', 'x', '--raw'])).toMatchObject({ code: 2 });
    await ground.ok('kill', 'errors', '--cleanup');
  }, 60_000);

  it('ends several panes at once, and starts none that nobody could attach to', async () => {
    for (const name of ['one', 'two']) await ground.ok('run', '--name', name, '--', 'cat');
    const { code, stderr } = await ground.run(['run', '--attach', '--', 'cat']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('needs a terminal')]);
    const unknown = await ground.run(['kill', 'one', 'nobody', 'two']);
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      'poly: there is no pane "nobody". Nothing was ended. poly ls shows every pane.\n',
    ]);
    expect((await panes()).map(({ status }) => status)).toEqual(['running', 'running']);
    await ground.ok('kill', 'one', 'two', '--cleanup');
    expect(await panes()).toEqual([]);
  });

  it('starts a pane anew, forgets those that have ended, and ends all only when told so', async () => {
    await ground.ok('run', '--name', 'again', '--', 'sh', '-c', 'echo "for $WHO"; exec cat');
    expect(await ground.ok('restart', 'aga', '--env', 'WHO=me')).toBe('again\n');
    await eventually(
      () => ground.ok('read', 'again'),
      (text) => text.includes('for me'),
    );
    await ground.ok('run', '--name', 'over', '--', 'true');
    await ground.run(['wait', 'over']);
    expect(await ground.ok('prune')).toBe('over\n');
    expect(await ground.run(['prune'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No pane has ended.\n',
    });
    const asked = await ground.run(['kill', '--all']);
    expect([asked.code, asked.stderr]).toEqual([
      4,
      'poly: this would end 1 pane (again), and nobody can be asked. Say --yes to end them.\n',
    ]);
    expect((await panes()).map(({ status }) => status)).toEqual(['running']);
    expect(await ground.ok('kill', '--all', '--yes', '--cleanup')).toBe('again\n');
    expect(await panes()).toEqual([]);
    expect(await ground.run(['kill', '--all'])).toMatchObject({ code: 0, stderr: 'No pane runs.\n' });
  }, 60_000);

  it('ends every pane of a pane but itself', async () => {
    const poly = `'${process.execPath}' '${ground.program}'`;
    const script = `${poly} run --name child -- cat; ${poly} kill --all --yes --cleanup; exec cat`;
    await ground.ok('run', '--name', 'other', '--', 'cat');
    await ground.ok('run', '--name', 'parent', '--', 'sh', '-c', script);
    await eventually(
      () => ground.ok('read', 'parent'),
      (text) => text.split('\n').filter((line) => line === 'child').length === 2,
    );
    expect((await panes()).map(({ id, status }) => [id, status])).toEqual([
      ['other', 'running'],
      ['parent', 'running'],
    ]);
    await ground.ok('kill', 'other', 'parent', '--cleanup');
  }, 60_000);

  it('follows events over a restart of the hub without a gap', async () => {
    await ground.ok('emit', 'first', '--by', 'test', '--n', '1', '--n', '2');
    const child = spawn(
      process.execPath,
      [ground.program, 'events', '--include', 'first,second,third', '--since', '0', '--json'],
      {
        env: ground.env,
      },
    );
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () =>
      JSON.parse((await lines.next()).value ?? 'null') as { event: string; payload: unknown };
    expect(await next()).toMatchObject({ event: 'first', payload: { by: 'test', n: ['1', '2'] } });
    await ground.ok('server', 'restart');
    await ground.ok('emit', 'second', '--body', '{"deep": {"er": true}}');
    expect(await next()).toMatchObject({ event: 'second', payload: { deep: { er: true } } });
    await ground.ok('server', 'stop');
    await ground.ok('server', 'start');
    await ground.ok('emit', 'third');
    expect(await next()).toMatchObject({ event: 'third', payload: {} });
    child.kill();
  }, 60_000);

  it('starts a hub again that was killed while its events were followed', async () => {
    const { seq } = await ground.json<{ readonly seq: number }>('emit', 'first');
    const follow = ['events', '--include', 'first,server:started', '--since', String(seq - 1), '--json'];
    const child = spawn(process.execPath, [ground.program, ...follow], { env: ground.env });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toContain('"event":"first"');
    process.kill((await ground.json<ServerStatus>('server', 'status')).pid, 'SIGKILL');
    expect((await lines.next()).value).toContain('"event":"server:started"');
    child.kill();
  }, 60_000);

  it('lists actions, and prints an event for people on one line', async () => {
    expect(await ground.ok('list')).toContain('pane:new');
    const child = spawn(process.execPath, [ground.program, 'events', '--include', 'first', '--since', '0'], {
      env: ground.env,
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toMatch(/first {2}\{"by":"test","n":\["1","2"\]\} {2}user:/);
    child.kill();
  });

  it('says why the hub cannot start', async () => {
    const env = { POLY_HOME: join(ground.home, 'other'), POLY_NO_TCP: undefined };
    const { code, stderr } = await ground.run(['server', 'start'], { env: { ...env, POLY_PORT: '70000' } });
    expect([code, stderr]).toEqual([2, 'poly: POLY_PORT is "70000": give a whole number from 0 to 65535.\n']);
    const before = performance.now();
    for (const more of [[], ['--foreground']]) {
      const refused = await ground.run(['server', 'start', '--hostname', '0.0.0.0', ...more], { env });
      expect(refused.code).toBe(4);
      expect(refused.stderr).toMatch(
        /^poly: the hub does not listen on 0\.0\.0\.0: .*TLS\. Use 127\.0\.0\.1/,
      );
    }
    expect(performance.now() - before).toBeLessThan(14_000);
    const { stdout } = await ground.run(['server', 'logs'], { env });
    expect(stdout).toContain('not started the hub does not listen on 0.0.0.0');
  });

  it('says which flags a hub that runs already does not follow', async () => {
    const started = await ground.run(['server', 'start', '--port', '0']);
    expect(started.code).toBe(4);
    expect(started.stderr).toMatch(
      /^poly: a hub runs already \(.*\): --port 0 was not used\. To use it: poly server restart --port 0/,
    );
    const up = await ground.run(['up', '--hostname', '127.0.0.1', '--no-tcp']);
    expect([up.code, up.stderr.includes('--hostname 127.0.0.1 was not used')]).toEqual([0, true]);
    expect((await ground.run(['up', '--no-tcp'])).stderr).toBe('');
  });

  it('backs the record up while it runs, and restores it when it does not', async () => {
    const file = join(ground.home, 'copy.db');
    await ground.ok('backup', file);
    expect(existsSync(file)).toBe(true);
    const refused = await ground.run(['restore', file]);
    expect([refused.code, refused.stderr.includes('poly server stop')]).toEqual([4, true]);
    await ground.ok('server', 'stop');
    expect((await ground.run(['restore', join(ground.home, 'none.db')])).code).toBe(3);
    expect((await ground.run(['restore', join(ground.home, '.poly', 'token')])).code).toBe(1);
    expect((await ground.run(['restore', ground.home])).stderr).toContain('is a folder. Name a file in it.');
    expect((await ground.run(['restore', join(ground.home, '.poly', 'token')])).stderr).toMatch(
      /token cannot be read: file is not a database\. Give a file that poly backup wrote; /,
    );
    const newer = join(ground.home, 'newer.db');
    copyFileSync(file, newer);
    const record = new Database(newer);
    record.pragma('user_version = 99');
    record.close();
    expect(await ground.run(['restore', newer])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /newer\.db has schema 99, .* Restore it with the version that wrote it, /,
      ),
    });
    const other = { POLY_HOME: join(ground.home, 'newer') };
    mkdirSync(other.POLY_HOME, { mode: 0o700 });
    copyFileSync(newer, join(other.POLY_HOME, 'hub.db'));
    const { code, stderr } = await ground.run(['up'], { env: other });
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^poly: .*hub\.db has schema 99, .* Use the newer version, or restore the copy /),
    ]);
    expect(await ground.ok('restore', file)).toContain('What was there is in');
    await ground.ok('up');
  }, 60_000);

  it('runs the hub in the foreground until it is told to end', async () => {
    const home = join(ground.home, 'front');
    const child = spawn(process.execPath, [ground.program, 'server', 'start', '--foreground'], {
      env: { ...ground.env, POLY_HOME: home },
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toMatch(/^The hub is up: .*hub.*\(pid \d+\)\. Ctrl-C ends it\.$/);
    expect((await ground.run(['server', 'status'], { env: { POLY_HOME: home } })).code).toBe(0);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect((await ground.run(['ls'], { env: { POLY_HOME: home } })).code).toBe(6);
  }, 60_000);

  it('writes an extension to begin with, installs it from here, runs it and removes it', async () => {
    expect(await ground.ok('ext', 'init', 'greeter')).toContain('poly ext install greeter');
    expect(readFileSync(join(ground.home, 'greeter', 'index.ts'), 'utf8')).toContain("name = 'greeter'");
    expect(await ground.ok('ext', 'install', 'greeter')).toBe('greeter is loaded: greeter:hello\n');
    expect(await ground.json('action', 'greeter:hello', '--to', 'you')).toEqual({ text: 'Hello, you!' });
    expect((await ground.run(['action', 'greeter:hello', '--too', 'you'])).stderr).toContain(
      'Did you mean --to?',
    );
    expect(await ground.ok('ext', 'init', 'sp ext')).toContain("poly ext install 'sp ext'\n");
    await ground.ok('ext', 'remove', 'greeter');
    expect(await ground.json('ext', 'list')).toEqual([]);
  });

  it('stops everything, also when no hub is there to do it', async () => {
    await ground.ok('run', '--name', 'left', '--', 'cat');
    expect(await ground.ok('server', 'stop')).toContain('Panes live on');
    expect(await ground.run(['server', 'stop'])).toMatchObject({
      code: 6,
      stderr:
        'poly: no hub is running: there is none to stop. Panes may live on without it. To end them: poly server stop --all\n',
    });
    await ground.ok('up');
    expect((await panes()).map(({ id, status }) => [id, status])).toEqual([['left', 'running']]);
    await ground.ok('server', 'stop');
    expect(await ground.ok('server', 'stop', '--all')).toBe('The hub and every pane have ended.\n');
    await ground.ok('up');
    expect((await panes()).filter(({ status }) => status === 'running')).toEqual([]);
    await using never = new CliGround();
    for (const more of [[], ['--all']])
      expect(await never.run(['server', 'stop', ...more])).toMatchObject({
        code: 6,
        stderr: `poly: no hub is running: there is none to stop. None has ever run in ${never.env.POLY_HOME}, so that nothing of it is left either. poly up starts one.\n`,
      });
  }, 60_000);
});

describe('a hub without TCP', () => {
  it('comes back without it after a kill and a restart, until it is said where', async () => {
    await using at = new CliGround();
    const env = { POLY_NO_TCP: undefined };
    const status = async (): Promise<ServerStatus> =>
      JSON.parse((await at.run(['server', 'status', '--json'], { env })).stdout) as ServerStatus;
    await at.run(['server', 'start', '--no-tcp'], { env });
    const { pid } = await status();
    process.kill(pid, 'SIGKILL');
    await until(() => !existsSync(`/proc/${pid}`));
    expect(await at.run(['ls'], { env })).toMatchObject({ code: 0 });
    expect((await status()).url).toBeUndefined();
    await at.run(['server', 'restart'], { env });
    expect((await status()).url).toBeUndefined();
    await at.run(['server', 'restart', '--port', '0'], { env });
    expect((await status()).url).toMatch(/^http:/);
  }, 60_000);
});

describe('a hub that was killed', () => {
  it('is started again by the next command, between any two lines of the quick start', async () => {
    await using at = new CliGround();
    const kill = async (): Promise<void> => {
      const { pid } = await at.json<{ readonly pid: number }>('server', 'status');
      process.kill(pid, 'SIGKILL');
      await until(() => !existsSync(`/proc/${pid}`));
    };
    const again = 'poly: the hub had been killed, so that it was started again; poly server stop ends it.\n';
    const line = async (...words: readonly string[]): Promise<string> => {
      await kill();
      const { code, stdout, stderr } = await at.run(words);
      expect([words, code, stderr]).toEqual([words, 0, again]);
      return stdout;
    };
    await at.ok('server', 'start');
    await line('session', 'start');
    const { id } = JSON.parse(await line('action', 'pane:new', '--argv', 'cat')) as { readonly id: string };
    expect(await line('action', 'pane:list')).toContain(id);
    await line('action', 'pane:set-meta', '--paneId', id, '--key', 'role', '--value', 'agent');
    await line('emit', 'my-event', '--body', '{"key":"value"}');
    expect(await line('list')).toContain('pane:new');
    expect(await at.json('action', 'pane:list')).toMatchObject([
      { id, status: 'running', meta: { role: 'agent' } },
    ]);
    await kill();
    expect((await at.run(['server', 'status'])).code).toBe(6);
    const { socket } = await at.json<{ readonly socket: string }>('action', 'session:status');
    await kill();
    expect(await at.ok('server', 'stop', '--all')).toBe('The hub and every pane have ended.\n');
    expect(spawnSync('tmux', ['-S', socket, 'list-sessions']).status).toBe(1);
  }, 120_000);
});

/** An extension that kills its hub, once, at the event that a file names. */
const deadly = (order: string): string => `import { existsSync, readFileSync, rmSync } from 'node:fs';
export const name = 'deadly';
export default (poly) => {
  const order = ${JSON.stringify(order)};
  for (const event of ['action:start', 'mail:sent', 'mail:read', 'told'])
    poly.on(event, ({ payload }) => {
      if (!existsSync(order)) return;
      const [wanted, action] = readFileSync(order, 'utf8').split(' ');
      if (wanted !== event || (action && action !== payload.actionName)) return;
      rmSync(order);
      process.kill(process.pid, 'SIGKILL');
    });
};`;

describe('a call in which the hub is killed', () => {
  it('is made again by the next hub, and what it has done by then it does not do twice', async () => {
    await using at = new CliGround();
    await at.ok('up');
    const [folder, order] = [join(at.home, 'deadly'), join(at.home, 'order')];
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{"name":"deadly","main":"index.mjs"}');
    writeFileSync(join(folder, 'index.mjs'), deadly(order));
    await at.ok('ext', 'install', folder);
    const { secret } = await at.json<{ secret: string }>('mail', 'register', 'reader', '--project', 'p');
    const dying = async (when: string, words: readonly string[], env = {}): Promise<Outcome> => {
      writeFileSync(order, when);
      const done = await at.run(words, { env });
      expect([when, existsSync(order)]).toEqual([when, false]);
      expect(done.stderr).toContain('the hub had been killed, so that it was started again');
      return done;
    };
    for (const when of ['action:start mail:send', 'mail:sent']) {
      const sent = await dying(when, ['mail', 'send', 'reader', `at ${when}`, '--project', 'p']);
      expect([sent.code, sent.stdout]).toEqual([
        0,
        expect.stringMatching(/^msg_\w+ is in the inbox of reader/),
      ]);
    }
    const read = await dying('mail:read', ['mail', 'inbox', '--json'], { POLY_TOKEN: secret });
    expect((JSON.parse(read.stdout) as { messages: { body: string }[] }).messages).toMatchObject([
      { body: 'at action:start mail:send' },
      { body: 'at mail:sent' },
    ]);
    const after = await at.run(['mail', 'inbox', '--json'], { env: { POLY_TOKEN: secret } });
    expect(JSON.parse(after.stdout)).toMatchObject({ messages: [] });
    const told = await dying('told', ['emit', 'told', '--once', 'yes']);
    expect([told.code, told.stdout]).toEqual([0, expect.stringMatching(/^told is event \d+\n$/)]);
    const { seq } = await at.json<{ readonly seq: number }>('emit', 'told', '--once', 'no');
    const child = spawn(
      process.execPath,
      [at.program, 'events', '--include', 'told', '--since', '0', '--json'],
      { env: at.env },
    );
    let log = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      log += chunk;
      if (log.includes('"once":"no"')) break;
    }
    child.kill();
    expect(log.match(/"seq":\d+/g)).toEqual([/\d+/.exec(told.stdout)?.[0], seq].map((one) => `"seq":${one}`));
    // Of what is more than one step nobody knows how far it got.
    const half = await dying('action:start pane:new', ['action', 'pane:new', '--id', 'half']);
    expect([half.code, half.stderr]).toEqual([
      4,
      expect.stringMatching(/begun, and how it ended is not known/),
    ]);
    expect((await at.json<readonly PaneInfo[]>('ls')).map(({ id }) => id)).toEqual([]);
  }, 120_000);
});

describe('poly run where no hub runs', () => {
  it('starts one, says so, and runs the program', async () => {
    await using at = new CliGround();
    const { code, stdout, stderr } = await at.run(['run', '--name', 'first', '--', 'cat']);
    expect([code, stdout, stderr]).toEqual([
      0,
      'first\n',
      'poly: no hub was running, so that one was started; poly server stop ends it.\n',
    ]);
    expect((await at.json<readonly PaneInfo[]>('ls')).map(({ id }) => id)).toEqual(['first']);
    await at.ok('server', 'stop');
    // What a hub that has gone left behind leads nobody astray.
    expect(await at.json('run', '--name', 'second', '--', 'cat')).toMatchObject({ id: 'second' });
    expect((await at.json<readonly PaneInfo[]>('ls')).map(({ id }) => id).sort()).toEqual([
      'first',
      'second',
    ]);
  }, 60_000);

  it('starts none to say that a folder is not there', async () => {
    await using at = new CliGround();
    expect((await at.run(['run', '--cols', '0', '--', 'cat'])).code).toBe(2);
    expect((await at.run(['ls'])).code).toBe(6);
  });
});

describe('poly where there is no tmux', () => {
  it('says everywhere what is missing and how to come by it', async () => {
    await using at = new CliGround();
    const bare = join(at.home, 'bin');
    mkdirSync(bare);
    at.env.PATH = bare;
    await at.ok('up');
    writeFileSync(join(at.home, 'dev.yaml'), 'session_name: x\nwindows: [{ panes: [top] }]');
    const missing = (whose = '') =>
      `poly: there is no program "tmux" on the PATH${whose}. Install tmux 3.2 or newer: `;
    for (const [args, whose] of [
      [['run', '--backend', 'tmux', '--', '/bin/cat'], ' of the hub'],
      [['session', 'start'], ' of the hub'],
      [['workspace', 'load', 'dev.yaml'], ''],
      [['workspace', 'freeze'], ''],
    ] as const) {
      const { code, stderr } = await at.run(args);
      expect([args, code, stderr]).toEqual([args, 4, expect.stringContaining(missing(whose))]);
      expect(stderr).not.toMatch(/ENOENT|spawn tmux/);
    }
    expect((await at.run(['run', '--backend', 'tmux'])).stderr).toContain('--backend pty');
    expect((await at.run(['doctor'])).stdout).toContain('brew install tmux');
    // What a tmux has left that was killed before, and is not there any more.
    const socket = at.env.POLY_TMUX_SOCKET ?? '';
    const listener = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', listener]);
    expect(existsSync(socket)).toBe(true);
    expect(await at.ok('server', 'stop', '--all')).toBe('The hub and every pane have ended.\n');
  }, 60_000);
});

describe('poly open', () => {
  const open = async (...args: string[]): Promise<Outcome> => {
    await using at = new CliGround();
    const env = { POLY_NO_TCP: undefined, POLY_PORT: '0', DISPLAY: undefined, WAYLAND_DISPLAY: undefined };
    expect(await at.run(['up'], { env })).toMatchObject({ code: 0 });
    // Awaited here: what is only returned would run while its ground is taken away.
    return await at.run(['open', ...args], { env });
  };

  it('prints an address that lets one browser in', async () => {
    const { stdout, stderr, code } = await open();
    expect([code, stderr]).toEqual([0, expect.stringContaining('no display')]);
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}\n$/);
    expect((await open('--print')).stderr).toBe('');
    expect(JSON.parse((await open('--json')).stdout)).toMatchObject({ opened: false });
  });

  it('says what is missing when no browser can reach the hub', async () => {
    await using at = new CliGround();
    await at.ok('up');
    const { stderr, code } = await at.run(['open']);
    expect(stderr).toContain('socket only');
    expect(code).toBe(4);
  });
});

describe('poly workspace', () => {
  const socket = () => ['--socket-path', join(ground.home, 'ws.sock')];

  it('plans, loads, freezes and imports on a tmux server of the user', async () => {
    mkdirSync(join(ground.home, 'w'), { recursive: true });
    const file = join(ground.home, 'w', 'dev.yaml');
    writeFileSync(
      file,
      'session_name: dev\nwindows:\n  - window_name: code\n    panes: [exec cat, exec cat]\n',
    );
    expect(await ground.ok('workspace', 'plan', file, ...socket())).toContain('tmux new-session');
    expect(await ground.ok('workspace', 'load', file, ...socket())).toBe(
      `dev: built, on the tmux server at ${join(ground.home, 'ws.sock')}. See it: tmux -S ${join(ground.home, 'ws.sock')} attach -t dev\n`,
    );
    const again = await ground.run(['workspace', 'load', file, ...socket()]);
    expect([again.code, again.stderr.includes('--on-exists replace')]).toEqual([4, true]);
    expect(await ground.ok('workspace', 'load', file, '--on-exists', 'reuse', ...socket())).toContain(
      'left as it is',
    );
    const frozen = join(ground.home, 'w', 'frozen.yaml');
    await ground.ok('workspace', 'freeze', 'dev', '--output', frozen, ...socket());
    expect(readFileSync(frozen, 'utf8')).toContain('session_name: dev');
    expect((await ground.run(['workspace', 'freeze', '--output', frozen, ...socket()])).code).toBe(4);
    const foreign = join(ground.home, 'w', 'web.yml');
    writeFileSync(foreign, 'name: web\nroot: /\nattach: false\nwindows:\n  - server: exec cat\n');
    const imported = await ground.run(['workspace', 'import', foreign]);
    expect(imported.stdout).toContain('session_name: web');
    expect(imported.stderr).toContain('attach');
    writeFileSync(foreign, 'windows:\n  - name: tea\n    panes:\n      - commands: [exec cat]\n');
    expect((await ground.run(['workspace', 'import', foreign])).stdout).toContain('window_name: tea');
    const broken = await ground.run([
      'workspace',
      'load',
      join(ground.home, 'none.yaml'),
      '--json',
      ...socket(),
    ]);
    expect([broken.code, JSON.parse(broken.stderr).error.code]).toEqual([3, 'not_found']);
    expect((await ground.run(['workspace', 'freeze', 'nobody', ...socket()])).code).toBe(3);
    await new Promise((resolve) =>
      spawn('tmux', ['-S', join(ground.home, 'ws.sock'), 'kill-server']).once('exit', resolve),
    );
  }, 60_000);

  it('shows a person nothing of a file, a name or an error that a terminal obeys or turns around', async () => {
    const obeyed = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u;
    const file = join(ground.home, 'evil.yaml');
    const text = [
      'session_name: "evil \\u202e"',
      '"\\e]0;key\\a\\u202e": 1',
      'windows:',
      '  - panes: ["exec cat", {shell: "exec cat", shell_command: "\\e[1A\\e[2K\\u202e#", start_directory: "/no\\e[8m"}]',
    ];
    writeFileSync(file, text.join('\n'));
    const said: string[] = [];
    for (const args of [
      ['plan', file],
      ['load', file],
      ['load', file],
      ['freeze', 'no\x1b[2J'],
    ]) {
      const { stdout, stderr } = await ground.run(['workspace', ...args, ...socket()]);
      said.push(stdout + stderr);
      expect(stdout + stderr, args[0]).not.toMatch(obeyed);
    }
    expect(said[0]).toContain('\\u{1b}]0;key\\u{7}\\u{202e}: is not a known key');
    expect(said[0]).toContain('\\u{1b}[1A\\u{1b}[2K\\u{202e}#');
    expect(said[1]).toMatch(/^evil \\u\{202e\}: built/m);
    expect(said[2]).toContain('There is a session named "evil \\u{202e}" already');
    expect(said[3]).toContain('no\\u{1b}[2J');
    await new Promise((resolve) =>
      spawn('tmux', ['-S', join(ground.home, 'ws.sock'), 'kill-server']).once('exit', resolve),
    );
  }, 60_000);
});
