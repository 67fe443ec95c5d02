import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { frugalMemory } from '../packages/hub/src/platform/frugal-memory.ts';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { readEvents } from './event-reader.ts';
import { type Cost, cost, type Figure, inTurn } from './measure.ts';

/** A plain node:http server in a process of its own that answers JSON on a unix socket. */
const plainServer = `
const server = require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => {
    JSON.parse(body);
    response.setHeader('content-type', 'application/json');
    response.end('[]');
  });
}).listen(process.argv[1], () => console.log('ready'));`;

/** A plain node:http server that writes each event to each of its readers, and keeps none. */
const plainStream = `
const readers = new Set();
let seq = 0;
require('node:http').createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': connected\\n\\n');
    readers.add(response);
    return;
  }
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => {
    const frame = 'id: ' + ++seq + '\\nevent: bench\\ndata: ' + body + '\\n\\n';
    for (const reader of readers) reader.write(frame);
    response.end('{"seq":' + seq + '}');
  });
}).listen(process.argv[1], () => console.log('ready'));`;

/** How long after its start a hub is at rest. */
const settledMs = 3_000;

/** An action over the socket against plain node:http, streams to many readers, and what the hub weighs. */
export async function hub(): Promise<readonly Figure[]> {
  // As poly starts it.
  await using tested = await TestHub.start({ env: frugalMemory });
  const { pid } = tested.discovery;
  await sleep(settledMs);
  const weight = rss(pid);
  const bare = await weightOf('setTimeout(() => {}, 1e9); console.log(1)');
  const floor = await weightOf(emptyHub, join(tested.home, 'empty.db'));
  return [
    ...(await roundTrips(tested, pid)),
    ...(await fanOut(tested, pid)),
    { what: 'hub at rest', unit: 'MB', ours: weight, against: 'bare node', theirs: bare, aim: '≤ 1.8x' },
    { what: 'hub at rest', unit: 'MB', ours: weight, against: 'HTTP, SQLite, a thread', theirs: floor, aim: '' },
  ]; // biome-ignore format: a table
}

async function roundTrips(tested: TestHub, pid: number): Promise<readonly Figure[]> {
  const socket = `${tested.dir}/plain.sock`;
  const plain = spawn(process.execPath, ['-e', plainServer, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(plain.stdout, 'data');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = async (socketPath: string): Promise<void> => {
    const headers = {
      host: 'poly',
      authorization: `Bearer ${tested.token}`,
      'content-type': 'application/json',
    };
    const sent = request({ socketPath, agent, method: 'POST', path: '/action/pane:list', headers });
    sent.end('{}');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  };
  const measure = (socketPath: string, serverPid: number) => (): Promise<Cost> =>
    cost(serverPid, 400, 1, () => post(socketPath));
  const { ours, theirs } = await inTurn({
    ours: measure(tested.socket, pid),
    theirs: measure(socket, plain.pid ?? 0),
  });
  plain.kill();
  agent.destroy();
  return [
    { what: 'an action, p50', unit: 'µs', ours: ours.p50, against: 'plain node:http', theirs: theirs.p50, aim: '≤ 2x' },
  ]; // biome-ignore format: a table
}

const readers = 200;
const events = 2000;

/** What one delivery costs, less what taking the events costs without any reader. */
async function fanOut(tested: TestHub, pid: number): Promise<readonly Figure[]> {
  const socket = `${tested.dir}/stream.sock`;
  const plain = spawn(process.execPath, ['-e', plainStream, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(plain.stdout, 'data');
  const ours = await delivery(tested, tested.socket, pid);
  const theirs = await delivery(tested, socket, plain.pid ?? 0);
  plain.kill();
  return [
    { what: `an event to one of ${readers} readers`, unit: 'µs CPU', ours, against: 'a write each', theirs, aim: '≤ 4 µs' },
  ]; // biome-ignore format: a table
}

async function delivery(tested: TestHub, socketPath: string, pid: number): Promise<number> {
  const payload = JSON.stringify({ text: 'x'.repeat(200) });
  const headers = {
    host: 'poly',
    authorization: `Bearer ${tested.token}`,
    'content-type': 'application/json',
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const emit = async (): Promise<void> => {
    const sent = request({ socketPath, agent, method: 'POST', path: '/emit/bench', headers });
    sent.end(payload);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  };
  const emitAll = async (): Promise<void> => {
    const writer = async (_: unknown, first: number): Promise<void> => {
      for (let n = first; n < events; n += 16) await emit();
    };
    await Promise.all(Array.from({ length: 16 }, writer));
  };
  const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = cpu(pid);
    await work();
    return cpu(pid) - before;
  };
  await emitAll();
  const alone = await cpuOf(emitAll);
  const at = { socketPath, path: '/events?include=bench', token: tested.token };
  const streams = await Promise.all(Array.from({ length: readers }, () => readEvents(at, events)));
  const together = await cpuOf(async () => {
    await emitAll();
    await Promise.all(streams.map(({ done }) => done));
  });
  for (const { close } of streams) close();
  agent.destroy();
  return (together - alone) / (readers * events);
}

function cpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function rss(pid: number): number {
  const [, kilobytes] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** What a hub cannot do without, and nothing else: a server, a database, and a thread that writes to it. */
const emptyHub = `
const { Worker } = require('node:worker_threads');
const Database = require('better-sqlite3');
require('node:crypto').randomBytes(1);
new Database(process.argv[1]).pragma('journal_mode = WAL');
const open = 'new (require("better-sqlite3"))(' + JSON.stringify(process.argv[1]) + ').exec("CREATE TABLE t (a)"); setInterval(() => {}, 1e6); require("node:worker_threads").parentPort.postMessage(1)';
new Worker(open, { eval: true }).on('message', () => console.log(1));
require('node:http').createServer(() => {}).listen(process.argv[1] + '.sock');`;

async function weightOf(script: string, ...args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['-e', script, ...args], {
    cwd: join(import.meta.dirname, '..', 'packages', 'hub'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const weight = rss(child.pid ?? 0);
  child.kill();
  return weight;
}
