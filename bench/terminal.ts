import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { type Figure, median } from './measure.ts';

const run = promisify(execFile);
const megabytes = 50;
const echoes = 1000;
const headerBytes = 12;

/** A pane over WebSocket against a program in C that reads the same terminal. */
export async function terminal(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const reader = join(hub.home, 'pty-reader');
  await run('cc', ['-O2', '-o', reader, join(import.meta.dirname, 'pty-reader.c'), '-lutil']);
  const file = join(hub.home, 'bytes');
  await writeFile(file, `${'0123456789abcdef'.repeat(4)}\n`.repeat((megabytes * 1024 * 1024) / 65));

  const rates = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < 3; round++) {
    rates.ours.push(await throughWebSocket(hub, file));
    const [bytes, seconds] = (await run(reader, ['cat', file])).stdout.split(' ').map(Number);
    rates.theirs.push((bytes ?? 0) / 1e6 / (seconds ?? 1));
  }
  const raw = (await run(reader, ['--echo', String(echoes), 'cat'])).stdout.trim().split('\n').map(Number);
  const alone = await echoTimes(hub);
  const { id } = await hub.client.call('pane:new', { argv: ['yes'], backend: 'pty' });
  const beside = await echoTimes(hub);
  await hub.client.call('pane:close', { paneId: id });
  const against = 'C reader';
  const p99 = (times: readonly number[]): number =>
    times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  return [
    { what: '50 MB of a pty to a WebSocket', unit: 'MB/s', ours: median(rates.ours), against, theirs: median(rates.theirs), aim: '≥ 0.4x, aim 0.7x' },
    { what: 'echo, p50', unit: 'µs', ours: median(alone), against, theirs: median(raw), aim: '' },
    { what: 'echo, p99', unit: 'µs', ours: p99(alone), against, theirs: p99(raw), aim: '' },
    { what: 'echo beside a flood, p50', unit: 'µs', ours: median(beside), against: 'alone', theirs: median(alone), aim: '' },
    { what: 'echo beside a flood, p99', unit: 'µs', ours: p99(beside), against: 'alone', theirs: p99(alone), aim: '≤ 20 ms' },
  ]; // biome-ignore format: a table
}

async function open(hub: TestHub): Promise<WebSocket> {
  const socket = new WebSocket('ws://poly/ws', {
    createConnection: () => connect(hub.socket),
    headers: { authorization: `Bearer ${hub.token}` },
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  return socket;
}

async function throughWebSocket(hub: TestHub, file: string): Promise<number> {
  const socket = await open(hub);
  const start = performance.now();
  const { id } = await hub.client.call('pane:new', { argv: ['cat', file], backend: 'pty' });
  const wanted = 66 * Math.floor((megabytes * 1024 * 1024) / 65); // Each line gets a CR.
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  socket.on('message', (data, binary) => {
    if (!binary) return;
    const frame = data as Buffer;
    if (Number(frame.readBigUInt64BE(4)) !== bytes) reject(new Error('There is a gap.'));
    bytes += frame.length - headerBytes;
    if (bytes === wanted) resolve(bytes / 1e6 / ((performance.now() - start) / 1000));
  });
  socket.send(JSON.stringify({ type: 'subscribe', sessionId: id, from: 0, binary: true }));
  const rate = await promise;
  socket.close();
  await hub.client.call('pane:close', { paneId: id });
  return rate;
}

async function echoTimes(hub: TestHub): Promise<readonly number[]> {
  const argv = ['sh', '-c', 'stty raw -echo; echo ready; exec cat'];
  const { id } = await hub.client.call('pane:new', { argv, backend: 'pty' });
  const { next } = await hub.client.call('pane:wait', { paneId: id, text: 'ready', since: 0 });
  const socket = await open(hub);
  socket.send(JSON.stringify({ type: 'subscribe', sessionId: id, from: next, binary: true }));
  const times: number[] = [];
  let heard = Promise.withResolvers<void>();
  socket.on('message', (_, binary) => {
    if (binary) heard.resolve();
  });
  for (let round = 0; round < echoes; round++) {
    heard = Promise.withResolvers<void>();
    const start = performance.now();
    socket.send(JSON.stringify({ type: 'input', sessionId: id, data: 'x' }));
    await heard.promise;
    times.push((performance.now() - start) * 1000);
  }
  socket.close();
  await hub.client.call('pane:close', { paneId: id });
  return times;
}
