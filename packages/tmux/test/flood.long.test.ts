import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { Events, exact, newWindow, panesOf, Server, snapshotFromJSON, waitFor } from '../src/index.ts';
import { demoServer, type TestServer, testBinaries } from '../src/testing/index.ts';

const size = 50 * 1024 * 1024;

async function withFlood(server: TestServer): Promise<{ tmux: Server; file: string }> {
  const file = join(server.directory, 'flood');
  await writeFile(file, `${'0123456789abcdef'.repeat(4)}\n`.repeat(Math.ceil(size / 65)).slice(0, size));
  return { tmux: new Server(server.engine(), server.connection), file };
}

describe.each(testBinaries())('a flood on %s', (binary) => {
  test('comes through a pipe whole, in little memory, while commands go on being answered', async () => {
    await using server = await demoServer({ tmux: binary });
    const { tmux, file } = await withFlood(server);
    const pane = await (
      await (await tmux.session('demo'))?.newWindow({ shell: 'stty raw -echo; exec cat' })
    )?.pane();
    if (!pane) throw new Error('no pane');
    const pipe = await pane.pipe();
    await pane.respawn({ kill: true, shell: `stty raw -echo; exec cat ${file}` });
    const before = process.memoryUsage().rss;
    let most = before;
    let bytes = 0;
    let answered = 0;
    const asking = (async () => {
      while (bytes < size) {
        await tmux.sessions();
        answered += 1;
      }
    })();
    for await (const chunk of pipe) {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage().rss);
    }
    await asking;
    expect(bytes).toBe(size);
    expect(most - before).toBeLessThan(100 * 1024 * 1024);
    expect(answered).toBeGreaterThan(10);
  });

  test('reaches an event reader whole, or with its losses told', async () => {
    await using server = await demoServer({ tmux: binary });
    const { tmux, file } = await withFlood(server);
    const session = await tmux.session('demo');
    if (!session) throw new Error('no session');
    await using events = await Events.open(server.connection, { session: session.id });
    const stream = events.subscribe({ types: ['output'] });
    const before = process.memoryUsage().rss;
    const { paneId } = await tmux.run(
      newWindow({ target: session.id, shell: `stty raw -echo; cat ${file}; printf THE-END; exec cat` }),
    );
    let bytes = 0;
    let gaps = 0;
    let tail = '';
    for await (const event of stream) {
      if (event.type === 'gap') gaps += 1;
      if (event.type !== 'output' || event.paneId !== paneId) continue;
      bytes += event.data.length;
      tail = (tail + Buffer.from(event.data).toString('latin1')).slice(-20);
      if (tail.endsWith('THE-END')) break;
    }
    expect(gaps > 0 || bytes === size + 7).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('does not stop the program when its reader hangs for seconds, and the reader learns of the gap', async () => {
    await using server = await demoServer({ tmux: binary });
    const { tmux, file } = await withFlood(server);
    const session = await tmux.session('demo');
    if (!session) throw new Error('no session');
    const script = `
      import { Events } from ${JSON.stringify(join(import.meta.dirname, '..', 'src', 'index.ts'))};
      const events = await Events.open(${JSON.stringify({ ...server.connection, env: undefined })}, { session: ${JSON.stringify(session.id)}, pauseAfter: 1 });
      const stream = events.subscribe({ types: ['output'] });
      console.log('listening');
      process.stdin.once('data', async () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25_000);
        for await (const event of stream) if (event.type === 'gap') break;
        console.log('gap');
        await events.close();
        process.exit(0);
      });`;
    const reader = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: reader.stdout });
    await once(lines, 'line');
    let told = false;
    lines.once('line', () => {
      told = true;
    });
    reader.stdin.write('hang\n');
    await tmux.run(
      newWindow({
        target: session.id,
        shell: `cat ${file}; ${binary} -S ${server.connection.socketPath} wait-for -S flooded; exec cat`,
      }),
    );
    await tmux.run(waitFor({ channel: 'flooded' }), { timeoutMs: 60_000 });
    expect(told).toBe(false);
    await once(reader, 'exit');
    expect(told).toBe(true);
  });

  test('of panes is one snapshot that goes through JSON unchanged', async () => {
    await using server = await demoServer({ tmux: binary });
    const tmux = new Server(server.engine(), server.connection);
    const made = Array.from({ length: 195 }, () =>
      tmux.run(newWindow({ target: exact('demo'), shell: 'exec cat' })),
    );
    await Promise.all(made);
    const snapshot = await tmux.snapshot();
    expect(panesOf(snapshot)).toHaveLength(200);
    expect(snapshotFromJSON(JSON.parse(JSON.stringify(snapshot)))).toEqual(snapshot);
  });
});
