import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { connectHost } from '../src/host/client.ts';
import { claimInstance, connectInstance } from '../src/host/instance-socket.ts';
import { encodeFrame, FrameParser } from '../src/host/wire.ts';
import {
  env,
  hostProgram,
  outputOf,
  processesWith,
  size,
  soon,
  startTestHost,
  uniqueSeconds,
} from './host-setup.ts';

const client = fileURLToPath(new URL('../src/host/client.ts', import.meta.url));
const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'poly-host-'));
const isRunning = async (pid: number): Promise<boolean> =>
  /^\d+ \(.*\) [^ZX]/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));

describe('the host', () => {
  test('outlives a hub that is killed, and keeps its panes and their bytes', async () => {
    const dir = await folder();
    const hub = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `import { connectHost } from ${JSON.stringify(client)};
       const host = await connectHost(${JSON.stringify({ dir, spawn: hostProgram })});
       await host.open({ id: 'a', argv: ['sh', '-c', 'seq 1 5000; echo printed; read x; echo heard $x; exit 3'],
         cwd: '/', env: { PATH: process.env.PATH }, cols: 80, rows: 24, note: 'mine' });
       let text = '';
       for await (const { bytes } of host.follow('a')) {
         text += bytes;
         if (text.includes('printed')) break;
       }
       console.log(JSON.stringify({ pid: host.pid, text }));
       await new Promise(() => {});`,
    ]);
    let said = '';
    hub.stdout.on('data', (chunk) => (said += chunk));
    hub.stderr.pipe(process.stderr);
    while (!said.endsWith('\n')) await once(hub.stdout, 'data');
    hub.kill('SIGKILL');
    await once(hub, 'exit');
    const before = JSON.parse(said);

    await using host = await connectHost({ dir, spawn: false });
    expect(host.pid).toBe(before.pid);
    expect(await host.list()).toMatchObject([{ id: 'a', status: 'running', note: 'mine' }]);
    expect(await outputOf(host, 'a')).toBe(before.text);
    await host.write('a', Buffer.from('you\r'));
    for await (const _ of host.follow('a', { from: before.text.length }));
    expect(await outputOf(host, 'a')).toBe(`${before.text}you\r\nheard you\r\n`);
    expect(await host.list()).toMatchObject([{ status: 'exited', exitCode: 3 }]);
    await host.stop({ killPanes: true });
    await rm(dir, { recursive: true });
  });

  test('ends by itself when it has had neither a pane nor a hub for long, and not before', async () => {
    await using t = await startTestHost({ idleMs: 200 });
    const { id } = await t.open(['sleep', '1.5']);
    const { fifo } = await t.host.adopt({ id: 'piped', ...size });
    const writer = spawn('sh', ['-c', 'sleep 0.5; echo x > "$0"', fifo]);
    await t.host.close();
    await once(writer, 'exit');
    const again = await t.connect();
    expect(again.pid).toBe(t.host.pid);
    expect(await again.list()).toMatchObject([
      { id, status: 'running' },
      { id: 'piped', end: 2 },
    ]);
    for await (const _ of again.follow(id));
    // Nothing is to happen, so that there is nothing to wait for but time.
    await setTimeout(600);
    expect(await again.list()).toMatchObject([{ status: 'exited' }, {}]);
    await again.close();
    await expect.poll(() => isRunning(t.host.pid), soon).toBe(false);
    await expect(connectHost({ dir: t.dir, spawn: false })).rejects.toMatchObject({
      code: 'host_unavailable',
    });
  });

  test('is one however many are started at once, in a folder with the remains of another', async () => {
    const dir = await folder();
    const killed = await connectHost({ dir, spawn: hostProgram });
    process.kill(killed.pid, 'SIGKILL');
    const children = Array.from({ length: 50 }, () =>
      spawn(hostProgram[0], [hostProgram[1], '--dir', dir, '--ready-fd', '3', '--idle-ms', '20000'], {
        stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      }),
    );
    await Promise.all(children.map((child) => once((child.stdio[3] as Readable).resume(), 'close')));
    const ended = children.map((child) => (child.exitCode === null ? once(child, 'exit') : null));
    await using host = await connectHost({ dir, spawn: false });
    const others = children.filter(({ pid }) => pid !== host.pid);
    expect(others).toHaveLength(49);
    await Promise.all(ended.filter((_, i) => children[i]?.pid !== host.pid));
    expect(others.map(({ exitCode }) => exitCode)).toEqual(others.map(() => 0));
    expect((await readdir(dir)).filter((name) => name.endsWith('.sock'))).toEqual(['2.sock']);
    await host.stop();
    await rm(dir, { recursive: true });
  }, 120_000);

  test('is one of those that find the same dead one at the same moment', async () => {
    const dir = await folder();
    const dead = await claimInstance(dir, () => {});
    dead?.close();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claimInstance(dir, () => {})));
    const servers = claims.filter((server) => server !== null);
    expect(servers).toHaveLength(1);
    for (const server of servers) server.close();
    await rm(dir, { recursive: true });
  });

  test('is started once by many hubs that need it at the same time', async () => {
    const dir = await folder();
    const hosts = await Promise.all(
      Array.from({ length: 8 }, () => connectHost({ dir, spawn: hostProgram })),
    );
    expect(new Set(hosts.map(({ pid }) => pid)).size).toBe(1);
    await hosts[0]?.stop();
    await Promise.all(hosts.map((host) => host.close()));
    await rm(dir, { recursive: true });
  }, 60_000);

  test('is replaced after it was killed, and its hub hears of the loss', async () => {
    await using t = await startTestHost();
    const { id, pid } = await t.open(['cat']);
    const lost = Promise.withResolvers<void>();
    t.host.onClose(lost.resolve);
    const waiting = expect(t.host.follow(id)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'connection_lost',
    });
    process.kill(t.host.pid, 'SIGKILL');
    await lost.promise;
    await waiting;
    await expect(t.host.list()).rejects.toMatchObject({ code: 'connection_lost' });
    // Its terminals are gone with it: nobody else holds them.
    await expect.poll(() => isRunning(pid), soon).toBe(false);
    const next = await t.connect();
    expect(next.pid).not.toBe(t.host.pid);
    expect(await next.list()).toEqual([]);
  });

  test('is not stopped with live panes unless they are to be killed', async () => {
    await using t = await startTestHost();
    const seconds = uniqueSeconds();
    await t.open(['sh', '-c', `trap '' HUP; setsid sleep ${seconds} & sleep ${seconds}`]);
    await expect(t.host.stop()).rejects.toMatchObject({ code: 'panes_alive' });
    await expect.poll(() => processesWith(seconds).length, soon).toBeGreaterThan(2);
    await t.host.stop({ killPanes: true });
    expect(processesWith(seconds)).toEqual([]);
    await expect.poll(() => isRunning(t.host.pid), soon).toBe(false);
  });

  test('ends its panes when it is asked to end by a signal', async () => {
    await using t = await startTestHost();
    const { pid } = await t.open(['sleep', '1000']);
    process.kill(t.host.pid, 'SIGTERM');
    await expect.poll(() => isRunning(t.host.pid), soon).toBe(false);
    expect(await isRunning(pid)).toBe(false);
  });

  test('says so when there are no terminals left, and goes on', async () => {
    await using t = await startTestHost({
      spawn: ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh', ...hostProgram],
    });
    const seconds = uniqueSeconds();
    const opened: string[] = [];
    const all = async (): Promise<never> => {
      for (;;) opened.push((await t.open(['sleep', seconds])).id);
    };
    await expect(all()).rejects.toMatchObject({ code: 'pty_unavailable' });
    expect(opened.length).toBeGreaterThan(5);
    expect(await t.host.list()).toHaveLength(opened.length);
    // One that was forked a moment ago may not be the program yet.
    await expect.poll(() => processesWith(seconds).length, soon).toBe(opened.length);
    const another = await t.connect();
    await another.adopt({ id: 'piped', ...size });
    await Promise.all(opened.slice(0, 3).map((id) => another.kill(id)));
    expect((await t.run(['echo', 'again'])).output).toBe('again\r\n');
  });

  test('keeps its files to itself and gives programs the mask it was told', async () => {
    await using t = await startTestHost({ umask: 0o027 });
    await t.host.adopt({ id: 'piped', ...size });
    expect((await stat(t.dir)).mode & 0o777).toBe(0o700);
    const names = await readdir(t.dir);
    const kinds = names.map((name) => name.replace(/^[0-9a-f]{12}\.fifo$/, 'fifo'));
    expect(kinds.toSorted()).toEqual(['1.sock', 'fifo', 'host.log']);
    for (const name of names) expect((await stat(join(t.dir, name))).mode & 0o777, name).toBe(0o600);
    expect((await t.run(['sh', '-c', 'umask'])).output).toBe('0027\r\n');
  });

  test('knows no secret of who started it', async () => {
    process.env.POLY_TOKEN = 'secret';
    try {
      await using t = await startTestHost();
      expect(await readFile(`/proc/${t.host.pid}/environ`, 'utf8')).not.toContain('secret');
      expect((await t.run(['env'])).output).not.toContain('secret');
    } finally {
      delete process.env.POLY_TOKEN;
    }
  });

  test('is not looked for in a folder others can look into', async () => {
    const dir = await folder();
    await chmod(dir, 0o755);
    await expect(connectHost({ dir, spawn: hostProgram })).rejects.toMatchObject({
      code: 'unsafe_directory',
    });
    await rm(dir, { recursive: true });
  });

  test('that is stopped is reported, and not replaced', async () => {
    await using t = await startTestHost();
    process.kill(t.host.pid, 'SIGSTOP');
    try {
      await expect(connectHost({ dir: t.dir, spawn: hostProgram })).rejects.toMatchObject({
        code: 'host_silent',
      });
    } finally {
      process.kill(t.host.pid, 'SIGCONT');
    }
    expect((await t.connect()).pid).toBe(t.host.pid);
  });

  test('that has no driver for this machine says so, and what it needs', async () => {
    const dir = await folder();
    const hide = join(dir, 'hide.cjs');
    await writeFile(
      hide,
      `const Module = require('node:module');
       const load = Module._load;
       Module._load = (name, ...rest) => {
         if (!name.endsWith('/pty.node')) return load(name, ...rest);
         throw Object.assign(new Error('Error loading shared library'), { code: 'ERR_DLOPEN_FAILED' });
       };`,
    );
    const [node, program] = hostProgram;
    await expect(connectHost({ dir, spawn: [node, '--require', hide, program] })).rejects.toMatchObject({
      code: 'host_unavailable',
      message: expect.stringMatching(
        /no terminals on \w+-\w+: Error loading shared library.*needs Linux with glibc, or macOS/,
      ),
    });
    await rm(dir, { recursive: true });
  });

  test('that cannot start is reported with what it said', async () => {
    const dir = await folder();
    const failing = connectHost({ dir, spawn: ['sh', '-c', 'echo out of order >&2; exit 3'] });
    await expect(failing).rejects.toMatchObject({
      code: 'host_unavailable',
      details: { log: expect.stringContaining('out of order') },
    });
    await expect(connectHost({ dir, spawn: ['/no/such'] })).rejects.toMatchObject({
      code: 'host_unavailable',
    });
    await rm(dir, { recursive: true });
  });
});

describe('the protocol', () => {
  test('of another major version is refused by the hub', async () => {
    const dir = await folder();
    const other = createServer((socket) => {
      const parser = new FrameParser();
      socket.on('data', (chunk) => {
        for (const { head } of parser.push(chunk)) {
          const { request } = head as { request: number };
          const result = { protocol: { major: 2, minor: 0 }, version: '9', pid: 1, startTime: 'x' };
          for (const piece of encodeFrame('reply', { request, result })) socket.write(piece);
        }
      });
    });
    other.listen(join(dir, '1.sock'));
    await once(other, 'listening');
    await expect(connectHost({ dir, spawn: hostProgram })).rejects.toMatchObject({
      code: 'protocol_mismatch',
    });
    other.close();
    await rm(dir, { recursive: true });
  });

  /** Sends frames as they are and answers with what comes back, or null when the host hangs up. */
  async function say(
    dir: string,
    frames: readonly (readonly [string, unknown])[] | Buffer,
  ): Promise<unknown[]> {
    const socket = (await connectInstance(dir)) as Socket;
    const parser = new FrameParser();
    const heard: unknown[] = [];
    const wanted = Buffer.isBuffer(frames) ? 1 : frames.length;
    const done = Promise.withResolvers<void>();
    socket.on('data', (chunk) => {
      for (const { head } of parser.push(chunk)) heard.push(head);
      if (heard.length === wanted) done.resolve();
    });
    socket.on('close', () => done.resolve());
    if (Buffer.isBuffer(frames)) socket.write(frames);
    else {
      frames.forEach(([name, params], request) => {
        for (const piece of encodeFrame('request', { request, name, params })) socket.write(piece);
      });
    }
    await done.promise;
    socket.destroy();
    return heard;
  }

  test('is held to by the host whatever a hub says', async () => {
    await using t = await startTestHost();
    const hello = (major: number) =>
      ['hello', { protocol: { major, minor: 99 }, version: '9', pid: 1 }] as const;
    expect(await say(t.dir, [hello(2)])).toMatchObject([{ error: { code: 'protocol_mismatch' } }]);
    expect(await say(t.dir, [['list', {}]])).toMatchObject([{ error: { code: 'protocol_mismatch' } }]);
    const heard = await say(t.dir, [hello(1), ['levitate', {}], ['open', { id: 1 }], ['__proto__', {}]]);
    expect(heard.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toMatchObject([
      { request: 0, result: { protocol: { major: 1 }, pid: t.host.pid } },
      { request: 1, error: { code: 'unknown_request' } },
      { request: 2, error: { code: 'invalid_parameters' } },
      { request: 3, error: { code: 'unknown_request' } },
    ]);
    expect(await say(t.dir, Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toEqual([]);
    expect(await t.host.list()).toEqual([]);
  });
});

describe('a pane of tmux', () => {
  const tmux = (dir: string, ...args: readonly string[]) =>
    promisify(execFile)('tmux', ['-S', join(dir, 't'), '-f', '/dev/null', ...args]);

  test('loses no byte from its first to its last', async () => {
    await using t = await startTestHost();
    try {
      await tmux(t.dir, 'new-session', '-d', '-s', 'main', 'sleep 1000');
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const id = `tmux-${i}`;
          const { fifo } = await t.host.adopt({ id, ...size });
          expect(await t.host.adopt({ id, ...size })).toEqual({ fifo });
          const pane = `main:${i + 1}`;
          // biome-ignore format: one command of tmux a line
          await tmux(t.dir,
            'new-window', '-d', '-t', pane, `echo first; seq 1 ${i * 3000}; echo last; tmux -S ${join(t.dir, 't')} wait-for -S done-${i}`, ';',
            'pipe-pane', '-t', pane, `exec cat > ${fifo}`);
          await tmux(t.dir, 'wait-for', `done-${i}`);
          await expect
            .poll(
              () => tmux(t.dir, 'list-windows', '-F', '#I').then(({ stdout }) => stdout.split('\n')),
              soon,
            )
            .not.toContain(String(i + 1));
          await t.host.finish(id, { exitCode: 0, exitSignal: null });
          const numbers = Array.from({ length: i * 3000 }, (_, n) => `${n + 1}\r\n`).join('');
          expect(await outputOf(t.host, id)).toBe(`first\r\n${numbers}last\r\n`);
        }),
      );
      const panes = await t.host.list();
      expect(panes.map(({ kind, status }) => `${kind} ${status}`)).toEqual(panes.map(() => 'pipe exited'));
      await expect(t.host.write('tmux-0', Buffer.from('x'))).rejects.toMatchObject({ code: 'wrong_kind' });
      for (const { id } of panes) await t.host.forget(id);
      expect((await readdir(t.dir)).filter((name) => name.endsWith('.fifo'))).toEqual([]);
    } finally {
      await tmux(t.dir, 'kill-server');
    }
  });

  test('that ends before its writer has even begun is waited for', async () => {
    await using t = await startTestHost();
    const { fifo } = await t.host.adopt({ id: 'late', ...size });
    const exits: Promise<string>[] = [];
    t.host.onExit((id) => exits.push(outputOf(t.host, id)));
    const finished = t.host.finish('late', { exitCode: null, exitSignal: 'SIGTERM' });
    await promisify(execFile)('sh', ['-c', 'sleep 0.5; exec cat /etc/passwd > "$0"', fifo]);
    await finished;
    await t.host.finish('late', { exitCode: 1, exitSignal: null });
    expect(await t.host.list()).toMatchObject([{ exitCode: null, exitSignal: 'SIGTERM' }]);
    expect(await Promise.all(exits)).toEqual([await readFile('/etc/passwd', 'utf8')]);
  });

  test('is piped anew after its writer was lost', async () => {
    await using t = await startTestHost();
    const { fifo } = await t.host.adopt({ id: 'again', ...size });
    for (const word of ['one', 'two', 'three']) {
      await writeFile(fifo, `${word}\n`);
      await t.printed('again', word);
      expect(await t.host.adopt({ id: 'again', ...size })).toEqual({ fifo });
    }
    expect(await outputOf(t.host, 'again')).toBe('one\ntwo\nthree\n');
  });

  test('that is piped anew goes on where tmux says that it does, or behind a gap that its followers hear of', async () => {
    await using t = await startTestHost();
    const { fifo } = await t.host.adopt({ id: 'again', ...size });
    const told: (string | number)[] = [];
    const following = (async () => {
      for await (const one of t.host.follow('again'))
        told.push('bytes' in one ? one.bytes.toString() : one.lostTo - one.lostFrom);
    })();
    const pipeAgain = async (text: string, shown: readonly string[]): Promise<void> => {
      expect(await t.host.adopt({ id: 'again', ...size, held: true })).toEqual({ fifo });
      await writeFile(fifo, text);
      await t.host.replay('again', { lines: shown, end: '' });
    };
    await writeFile(fifo, 'one\n');
    await t.printed('again', 'one');
    await pipeAgain('three\n', ['one', 'two', '']);
    await t.printed('again', 'three');
    await pipeAgain('six\n', ['five', '']);
    await t.printed('again', 'six');
    await pipeAgain('nine\n', ['eight', '']);
    await t.printed('again', 'nine');
    await t.host.finish('again', { exitCode: 0, exitSignal: null });
    await following;
    const texts = told.map((part) => (part === 1 ? '\0' : part)).join('');
    expect(texts.replaceAll('\r', '').split('\0')).toEqual([
      ...['one\ntwo\nthree\n', 'five\nsix\n', 'eight\nnine\n'],
    ]);
  });

  test('is not mistaken for one of the host', async () => {
    await using t = await startTestHost();
    const { id } = await t.open(['cat']);
    await expect(t.host.adopt({ id, ...size })).rejects.toMatchObject({ code: 'wrong_kind' });
    await expect(t.host.finish(id, { exitCode: 0, exitSignal: null })).rejects.toMatchObject({
      code: 'wrong_kind',
    });
    await expect(
      t.host.open({ id: 'x y', argv: ['true'], cwd: 'relative', env, ...size }),
    ).rejects.toMatchObject({
      code: 'invalid_parameters',
    });
  });
});
