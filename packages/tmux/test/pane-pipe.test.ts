import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Server } from '../src/index.ts';
import { demoServer, testBinaries } from '../src/testing/index.ts';

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
    await pane.respawn({ kill: true, shell: `stty raw -echo; exec cat ${file}` });
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

  test('of a pane that is not there is refused', async () => {
    await using server = await demoServer({ tmux });
    const { openPanePipe } = await import('../src/index.ts');
    await expect(openPanePipe(server.engine(), '%999')).rejects.toMatchObject({ code: 'command_failed' });
  });
});
