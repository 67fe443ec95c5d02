import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ImsgEngine } from '../src/engines/imsg/engine.ts';
import { commandMessage, identifyMessages } from '../src/engines/imsg/messages.ts';
import { encodeMessage, MessageReader, messageType } from '../src/engines/imsg/wire.ts';
import { startTestServer, type TestServer, testBinaries } from '../src/testing/index.ts';

const burst = identifyMessages({ cwd: '/', pid: process.pid, env: { TERM: 'xterm', COLOUR: 'é' } }, 'wide');
const socketOf = (server: TestServer): string => server.connection.socketPath ?? '';

async function started(
  tmux: string,
): Promise<{ server: TestServer; engine: ImsgEngine; pid: number | null }> {
  const server = await startTestServer({ tmux });
  const engine = server.engine('imsg') as ImsgEngine;
  await engine.run({ argv: ['new-session', '-d', '-s', 'work', 'cat'] });
  return { server, engine, pid: await server.pid() };
}

/** Sends some bytes and hangs up; answers when the server has hung up too. */
async function sendAndLeave(path: string, bytes: Buffer): Promise<void> {
  const socket = connect(path);
  socket.resume().end(bytes);
  await once(socket, 'close');
}

describe.each(testBinaries())('the imsg engine on %s', (tmux) => {
  test('a connection cut at any byte of its burst leaves the server alive', {
    timeout: 120_000,
  }, async () => {
    const { server, pid } = await started(tmux);
    await using _ = server;
    const sent = Buffer.concat([burst, commandMessage(['display-message', '-p', 'hello'], 'wide')]);
    for (let length = 0; length <= sent.length; length++)
      await sendAndLeave(socketOf(server), sent.subarray(0, length));
    expect(pid).not.toBeNull();
    expect(await server.pid()).toBe(pid);
  });

  test('the first message of every connection is the one without which a server dies', () => {
    expect(new MessageReader().push(burst)[0]?.type).toBe(messageType.identifyTtyName);
  });

  test('five hundred commands are each answered by their own reply', { timeout: 120_000 }, async () => {
    const { server, engine, pid } = await started(tmux);
    await using _ = server;
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        engine.run({
          argv: i % 10 === 9 ? ['kill-pane', '-t', `%${i}`] : ['display-message', '-p', `n${i}`],
        }),
      ),
    );
    replies.forEach(({ status, stdout, stderr }, i) => {
      const failed = i % 10 === 9;
      expect([status, stdout, stderr]).toEqual(
        failed ? ['failed', '', `can't find pane: %${i}\n`] : ['complete', `n${i}\n`, ''],
      );
    });
    expect(await server.pid()).toBe(pid);
  });

  test('a megabyte given as input becomes a buffer, and files are read and written for the server', async () => {
    const { server, engine } = await started(tmux);
    await using _ = server;
    const data = Buffer.from('0123456789 é\n'.repeat(80_000));
    expect(await engine.run({ argv: ['load-buffer', '-b', 'big', '-'], input: data })).toMatchObject({
      status: 'complete',
    });
    expect((await engine.run({ argv: ['save-buffer', '-b', 'big', '-'] })).stdout === data.toString()).toBe(
      true,
    );
    const path = join(server.directory, 'saved');
    expect(await engine.run({ argv: ['save-buffer', '-b', 'big', path] })).toMatchObject({
      status: 'complete',
    });
    expect(await engine.run({ argv: ['save-buffer', '-a', '-b', 'big', path] })).toMatchObject({
      status: 'complete',
    });
    expect((await readFile(path)).equals(Buffer.concat([data, data]))).toBe(true);
    expect(await engine.run({ argv: ['load-buffer', '-b', 'again', path] })).toMatchObject({
      status: 'complete',
    });
    const sizes = await engine.run({ argv: ['list-buffers', '-F', '#{buffer_name} #{buffer_size}'] });
    expect(sizes.stdout.split('\n')).toContain(`again ${data.length * 2}`);
  });

  test('a file that cannot be opened fails in the words of the tmux program', async () => {
    const { server, engine } = await started(tmux);
    await using _ = server;
    const processes = server.engine('subprocess');
    await engine.run({ argv: ['set-buffer', '-b', 'x', 'y'] });
    await mkdir(join(server.directory, 'folder'));
    for (const argv of [
      ['load-buffer', join(server.directory, 'none')],
      ['save-buffer', '-b', 'x', join(server.directory, 'no', 'folder')],
      ['save-buffer', '-b', 'x', join(server.directory, 'folder')],
      ['source-file', join(server.directory, 'none')],
    ]) {
      const reply = await engine.run({ argv });
      expect(reply.status).toBe('failed');
      expect(reply).toEqual(await processes.run({ argv }));
    }
  });

  test('a command that waits holds up nobody, and ends when it is aborted or the engine is closed', async () => {
    const { server, engine, pid } = await started(tmux);
    await using _ = server;
    const stop = new AbortController();
    const wait = { argv: ['wait-for', 'never'], ownProcess: true };
    const aborted = expect(engine.run(wait, { signal: stop.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    const timedOut = expect(engine.run(wait, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timed_out' });
    expect((await engine.run({ argv: ['display-message', '-p', 'meanwhile'] })).stdout).toBe('meanwhile\n');
    stop.abort();
    await Promise.all([aborted, timedOut]);
    const signalled = engine.run({ argv: ['wait-for', 'soon'], ownProcess: true });
    await engine.run({ argv: ['wait-for', '-S', 'soon'] });
    expect(await signalled).toMatchObject({ status: 'complete' });
    const cut = expect(engine.run(wait)).rejects.toMatchObject({
      code: expect.stringMatching(/connection_lost|engine_closed/),
    });
    await engine.close();
    await cut;
    await expect(engine.run(wait)).rejects.toMatchObject({ code: 'engine_closed' });
    expect(await server.pid()).toBe(pid);
  });

  test('a command longer than a message cannot have an input too, and the next one is answered', async () => {
    const { server, engine } = await started(tmux);
    await using _ = server;
    const long = { argv: ['load-buffer', '-b', 'y'.repeat(20_000), '-'], input: Buffer.from('y') };
    await expect(engine.run(long)).rejects.toMatchObject({ code: 'too_long' });
    for (const size of [15_900, 15_990, 16_000, 16_400]) {
      const set = { argv: ['set-buffer', '-b', 'x', 'y'.repeat(size)] };
      expect(await engine.run(set)).toEqual({ status: 'complete', stdout: '', stderr: '' });
    }
  });

  test('a server that is told another protocol version says its own, and lives', async () => {
    const { server, pid } = await started(tmux);
    await using _ = server;
    const socket = connect(socketOf(server));
    socket.write(encodeMessage(messageType.identifyTtyName, Buffer.from('\0'), 'wide', 7));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(() => new MessageReader().push(answer)).toThrow(
      expect.objectContaining({ code: 'protocol_mismatch' }),
    );
    expect(await server.pid()).toBe(pid);
  });

  test('attaching is left to a tmux process, which has no terminal to offer either', async () => {
    const { server, engine } = await started(tmux);
    await using _ = server;
    const reply = await engine.run({ argv: ['attach-session', '-t', '=work'] });
    expect(reply).toMatchObject({ status: 'failed', stderr: 'open terminal failed: not a terminal\n' });
  });

  test('a new window gets the folder and the PATH of the caller', async () => {
    const { server, engine } = await started(tmux);
    await using _ = server;
    const env = { ...process.env, PATH: `${process.env.PATH}:/from/the/caller` };
    const other = new ImsgEngine({ ...server.connection, env });
    await other.run({
      argv: [
        'new-window',
        '-d',
        '-n',
        'told',
        `"${tmux}" -S "${socketOf(server)}" set-option -g @path "$PATH" \\; wait-for -S told; exec cat`,
      ],
    });
    await engine.run({ argv: ['wait-for', 'told'], ownProcess: true });
    const path = await engine.run({ argv: ['show-options', '-gv', '@path'] });
    expect(path.stdout).toMatch(/:\/from\/the\/caller\n$/);
    const folder = await engine.run({
      argv: ['display-message', '-p', '-t', '=work:=told', '#{pane_current_path}'],
    });
    expect(folder.stdout).toBe(`${process.cwd()}\n`);
    await other.close();
  });
});

/** A server of our own making, where none of tmux's can be had. */
async function pretend(path: string, answer: (socket: Socket) => void): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // The engine hangs up on what it does not understand.
    answer(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: async () => void server.close() };
}

describe('the imsg engine and a server that is not what it should be', () => {
  test('another protocol version is a typed error that names both', async () => {
    await using server = await startTestServer();
    await using _ = await pretend(socketOf(server), (socket) =>
      socket.end(encodeMessage(messageType.version, undefined, 'wide', 9)),
    );
    const engine = server.engine('imsg');
    const error = { code: 'protocol_mismatch', details: { server: 9, client: 8 } };
    await expect(engine.run({ argv: ['list-sessions'] })).rejects.toMatchObject(error);
  });

  test('a server that hangs up unanswered is a lost connection, unless asking again is harmless', async () => {
    await using server = await startTestServer();
    let asked = 0;
    await using _ = await pretend(socketOf(server), (socket) => {
      asked += 1;
      socket.destroy();
    });
    const engine = server.engine('imsg');
    await expect(engine.run({ argv: ['kill-session'], effect: 'destructive' })).rejects.toMatchObject({
      code: 'connection_lost',
    });
    expect(asked).toBe(1);
    const reply = await engine.run({ argv: ['list-sessions'], effect: 'read' });
    expect(reply).toMatchObject({ status: 'failed', stderr: 'server exited unexpectedly\n' });
  });
});
