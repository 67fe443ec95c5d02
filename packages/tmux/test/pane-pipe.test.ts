import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Pane, Server } from '../src/index.ts';
import { demoServer, isAlive, type TestServer, testBinaries } from '../src/testing/index.ts';
import { pipeWriter } from './pipe-writer.ts';

async function paneOf(server: TestServer): Promise<Pane> {
  const pane = await (await new Server(server.engine(), server.connection).session('demo'))?.pane();
  if (!pane) throw new Error('no pane');
  return pane;
}

async function piped(server: TestServer, pane: Pane): Promise<string> {
  return (await server.engine().run({ argv: ['display-message', '-p', '-t', pane.id, '#{pane_pipe}'] }))
    .stdout;
}

describe.each(testBinaries())('a pane pipe on %s', (tmux) => {
  test('gives every byte a program prints, and ends with the pane', async () => {
    await using server = await demoServer({ tmux });
    const tmuxServer = new Server(server.engine(), server.connection);
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      randomBytes(300_000),
    ]);
    const file = join(server.directory, 'bytes');
    await writeFile(file, bytes);
    const session = await tmuxServer.session('demo');
    const pane = await (await session?.newWindow({ shell: 'stty raw -echo; exec cat' }))?.pane();
    if (!pane) throw new Error('no pane');
    const pipe = await pane.pipe();
    // tmux lets go of a terminal as soon as its program has ended, on a busy machine before the last bytes are through.
    await pane.respawn({ kill: true, shell: `stty raw -echo; cat ${file}; exec sleep 0.3` });
    const chunks: Buffer[] = [];
    for await (const chunk of pipe) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });

  test('never replaces the pipe of somebody else, unless forced', async () => {
    await using server = await demoServer({ tmux });
    const pane = await (await new Server(server.engine(), server.connection).session('demo'))?.pane();
    if (!pane) throw new Error('no pane');
    await server
      .engine('subprocess')
      .run({ argv: ['pipe-pane', '-O', '-t', pane.id, `cat > ${server.directory}/theirs`] });
    await expect(pane.pipe()).rejects.toMatchObject({ code: 'pipe_taken' });
    await using ours = await pane.pipe({ force: true });
    expect(ours.paneId).toBe(pane.id);
  });

  test('leaves the pane without a pipe when it is closed', async () => {
    await using server = await demoServer({ tmux });
    const pane = await (await new Server(server.engine(), server.connection).session('demo'))?.pane();
    if (!pane) throw new Error('no pane');
    await (await pane.pipe()).close();
    await (await pane.pipe()).close();
    const state = await server
      .engine()
      .run({ argv: ['display-message', '-p', '-t', pane.id, '#{pane_pipe}'] });
    expect(state.stdout).toBe('0\n');
  });

  test('that somebody has replaced leaves theirs alone when it is closed', async () => {
    await using server = await demoServer({ tmux });
    const pane = await paneOf(server);
    const ours = await pane.pipe();
    // Unread, it keeps the end of our own pipe from being seen.
    await pane.respawn({ kill: true, shell: 'echo unread; exec cat' });
    await expect.poll(async () => (await pane.capture())[0]).toBe('unread');
    await server
      .engine()
      .run({ argv: ['pipe-pane', '-O', '-t', pane.id, `cat > ${server.directory}/theirs`] });
    await ours.close();
    expect(await piped(server, pane)).toBe('1\n');
    await pane.sendText('for them', { enter: true });
    await expect.poll(() => readFile(join(server.directory, 'theirs'), 'utf8')).toContain('for them');
  });

  test('ends for its reader when it is closed, with all that was printed before', async () => {
    await using server = await demoServer({ tmux });
    const pane = await paneOf(server);
    const pipe = await pane.pipe();
    let heard = '';
    const reading = (async () => {
      for await (const chunk of pipe) heard += chunk;
    })();
    await pane.respawn({ kill: true, shell: 'echo before; exec cat' });
    await expect.poll(() => heard).toContain('before');
    await pipe.close();
    await reading;
    expect(await piped(server, pane)).toBe('0\n');
  });

  test('can be closed by its own reader, and when its writer is stopped', async () => {
    await using server = await demoServer({ tmux });
    const pane = await paneOf(server);
    const pipe = await pane.pipe();
    const writer = await pipeWriter(server);
    await pane.respawn({ kill: true, shell: 'echo before; exec cat' });
    for await (const chunk of pipe) {
      expect(chunk.length).toBeGreaterThan(0);
      process.kill(writer, 'SIGSTOP');
      await pipe.close();
      break;
    }
    expect(await piped(server, pane)).toBe('0\n');
  });

  test('has nothing more to wait for when its writer is dead and nobody reads', async () => {
    await using server = await demoServer({ tmux });
    const pane = await paneOf(server);
    // A shell that has just been started may draw its prompt into the pipe.
    await pane.respawn({ kill: true, shell: 'exec sleep 600' });
    const pipe = await pane.pipe();
    const writer = await pipeWriter(server);
    await pane.respawn({ kill: true, shell: 'echo unread; exec cat' });
    await expect.poll(async () => (await pane.capture())[0]).toBe('unread');
    process.kill(writer, 'SIGKILL');
    await expect.poll(() => isAlive(writer)).toBe(false);
    await pipe.finish();
    let heard = '';
    for await (const chunk of pipe) heard += chunk;
    // The writer may have died with it.
    expect(['', 'unread\r\n']).toContain(heard);
  });

  test('without a folder for its file says so', async () => {
    await using server = await demoServer({ tmux });
    const pane = await paneOf(server);
    vi.stubEnv('TMPDIR', join(server.directory, 'not there'));
    try {
      await expect(pane.pipe()).rejects.toMatchObject({
        code: 'pipe_unavailable',
        message: expect.stringContaining('not there'),
        cause: { code: 'ENOENT' },
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('of a pane that is not there is refused', async () => {
    await using server = await demoServer({ tmux });
    const { openPanePipe } = await import('../src/index.ts');
    await expect(openPanePipe(server.engine(), '%999')).rejects.toMatchObject({ code: 'command_failed' });
  });
});
