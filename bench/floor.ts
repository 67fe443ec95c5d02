import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { capture, prompt } from '../packages/hub/test/capture-ground.ts';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { openWindow } from '../packages/hub/test/timeline-ground.ts';
import { Asker } from './asker.ts';
import { readEvents } from './event-reader.ts';
import { type Cost, costOf, cpuOf, type Figure, inTurn, median } from './measure.ts';

/** It is a dependency of the hub, not of the repository. */
const Sqlite = createRequire(new URL('../packages/hub/package.json', import.meta.url))('better-sqlite3');

const million = 1_000_000;
/** Half of them are more than a digest looks through. */
const few = 20_000;
/** Every other entry is in one session; each of the others has so many. */
const ofOthers = 1_000;

/** Timelines with a million entries, how soon a hook is on the screen, and one session that many follow. */
export async function floor(): Promise<readonly Figure[]> {
  return [...(await reading()), ...(await hookToScreen()), ...(await watching())];
}

/** What is read of a session of 500,000 entries among a million, against one of 10,000 among 20,000. */
async function reading(): Promise<readonly Figure[]> {
  await using full = await TestHub.start();
  await using small = await TestHub.start();
  const [many, one] = [await filled(full, million), await filled(small, few)];
  const [ours, theirs] = [new Asker(full), new Asker(small)];
  const against = `the same among ${few}`;
  const figures: Figure[] = [];
  const reads: readonly (readonly [what: string, action: string, params: Asked])[] = [
    ['the newest page', 'floor:timeline', { limit: 100 }],
    ['a page from its middle', 'floor:timeline', { limit: 100, before: 'middle' }],
    ['a page of prompts alone', 'floor:timeline', { limit: 100, kinds: ['prompt'] }],
    ['a search for a word in every entry', 'floor:search', { query: 'entry' }],
    ['a search for a word in one of 2,000', 'floor:search', { query: 'walrus' }],
    ['the same in one session', 'floor:search', { query: 'walrus', in: 'session' }],
    ['a digest', 'floor:digest', {}],
  ];
  for (const [what, action, params] of reads) {
    const of =
      (hub: TestHub, { ask }: typeof ours, filled: Filled) =>
      (): Promise<Cost> =>
        costOf(hub.discovery.pid, 30, 1, () => ask(action, given(action, params, filled)));
    const { ours: a, theirs: b } = await inTurn({
      ours: of(full, ours, many),
      theirs: of(small, theirs, one),
    });
    figures.push(
      { what: `1 M entries: ${what}, CPU`, unit: 'µs', ours: a.cpu, against, theirs: b.cpu, aim: '≤ 1.5x' },
      { what: 'the same, p50', unit: 'µs', ours: a.p50, against, theirs: b.p50, aim: '≤ 1.5x' },
    );
  }
  ours.close();
  theirs.close();
  return figures;
}

interface Filled {
  readonly session: string;
  readonly project: string;
  /** A cursor into the middle of the session. */
  readonly middle: string;
}

interface Asked {
  readonly query?: string;
  readonly in?: 'session';
  readonly before?: 'middle';
  readonly kinds?: readonly string[];
  readonly limit?: number;
}

function given(
  action: string,
  { before, in: within, ...params }: Asked,
  { session, project, middle }: Filled,
): object {
  const where = action === 'floor:search' ? { ...(within && { session }) } : { session };
  return { ...params, ...where, project, ...(before && { before: middle }) };
}

/** What a coding agent does over and over, as kinds of entries. */
const turn = ['prompt', 'said', 'tool', 'tool_result', 'tool', 'tool_result', 'asked', 'approved', 'tool', 'tool_result', 'failure', 'answer'] as const; // biome-ignore format: a row

/** Puts entries straight into the record, which takes a minute where hooks would take an hour. */
async function filled(hub: TestHub, count: number): Promise<Filled> {
  const project = 'bench';
  const { session_id: id, slug } = await hub.client.call('floor:open', { project });
  await hub.kill('SIGTERM');
  const db = new Sqlite(join(hub.dir, 'hub.db'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = OFF']) db.pragma(pragma);
  const other = db.prepare(
    `INSERT INTO floor_sessions (id, project, slug, slug_key, active_at, created_by, created_at)
      SELECT ?, project, ?, ?, active_at, created_by, created_at FROM floor_sessions WHERE id = ?`,
  );
  const insert = db.prepare(
    `INSERT INTO timeline (id, session, project, kind, sender, occurred_at, received_at, call, text, data)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const now = Date.now();
  db.transaction(() => {
    for (let n = 0; n < count; n++) {
      const rank = Math.floor(n / 2);
      const place = n % 2 === 0 ? id : `ses_${Math.floor(n / 2 / ofOthers)}`;
      if (n % 2 === 1 && rank % ofOthers === 0) other.run(place, `s-${rank}`, `s-${rank}`, id);
      const kind = turn[rank % turn.length] ?? 'said';
      const call = kind.startsWith('tool') ? `${place}-${Math.floor(rank / 2)}` : null;
      const text = `entry ${n} of ${slug}${n % 2_000 === 0 ? ' saw a walrus' : ''}`;
      const data =
        kind === 'tool' ? JSON.stringify({ tool: 'Edit', file: `src/file-${rank % 97}.ts` }) : '{}';
      const at = now - count + n;
      insert.run(`ent_${n}`, place, project, kind, 'agent:bench', at, at, call, text, data);
    }
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  await hub.start();
  return { session: slug, project, middle: `${now - Math.floor(count / 2)}.${Math.floor(count / 2)}` };
}

/** From the start of a hook until whoever follows its session has it, and until the event stream tells of the hook. */
async function hookToScreen(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const { id, token, session } = await openWindow(hub, 'window', 'bench');
  const env = { POLY_PANE: id, POLY_TOKEN: token };
  const took = async (path: string): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 40; round++) {
      const reader = await readEvents({ socketPath: hub.socket, path, token: hub.token }, 1);
      const start = performance.now();
      await Promise.all([capture(hub, prompt('of-window', `prompt ${round}`), { env }), reader.done]);
      times.push(performance.now() - start);
      reader.close();
    }
    return median(times);
  };
  const screen = await took(`/projects/bench/sessions/${session.slug}/events`);
  const stream = await took('/events?include=agent:captured');
  return [
    { what: 'from the start of a hook to who follows its session', unit: 'ms', ours: screen, against: 'to the event stream', theirs: stream, aim: '≤ 1.2x' },
  ]; // biome-ignore format: a table
}

/** A plain node:http server that writes what it is sent to each of its readers, and keeps nothing. */
const plainRoom = `
const readers = new Set();
let seq = 0;
require('node:http').createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': connected\\n\\n');
    return void readers.add(response);
  }
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => {
    const event = JSON.stringify({ ...JSON.parse(body), seq: ++seq });
    for (const reader of readers) reader.write('id: ' + seq + '\\ndata: ' + event + '\\n\\n');
    response.end('{}');
  });
}).listen(process.argv[1], () => console.log('ready'));`;

const watchers = 200;
const entries = 500;

/** What it costs to bring one entry of a session to one of many who follow it. */
async function watching(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const { slug } = await hub.client.call('floor:open', { project: 'bench' });
  const path = `/projects/bench/sessions/${slug}/events`;
  const socketPath = join(hub.home, 'room.sock');
  const plain = spawn(process.execPath, ['-e', plainRoom, socketPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(plain.stdout, 'data');
  const ours = await delivery({ socketPath: hub.socket, path, token: hub.token }, hub.discovery.pid);
  const theirs = await delivery({ socketPath, path, token: hub.token }, plain.pid ?? 0);
  plain.kill();
  const what = `an entry to one of ${watchers} who follow a session`;
  return [{ what, unit: 'µs CPU', ours, against: 'a write each', theirs, aim: '≤ 2x' }];
}

/** CPU of one delivery: what entries cost with those who follow, less what they cost without. */
async function delivery(at: Parameters<typeof readEvents>[0], pid: number): Promise<number> {
  const { socketPath, path, token } = at;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { host: 'poly', authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    payload: { hook_event_name: 'UserPromptSubmit', session_id: 'x', prompt: 'x'.repeat(200) },
  });
  const tell = async (): Promise<void> => {
    for (let n = 0; n < entries; n++) {
      const sent = request({ socketPath, agent, method: 'POST', path, headers });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      if ((response.statusCode ?? 500) >= 300)
        throw new Error(`an entry was answered ${response.statusCode}`);
    }
  };
  const cpuFor = async (work: () => Promise<unknown>): Promise<number> => {
    const before = cpuOf(pid);
    await work();
    return cpuOf(pid) - before;
  };
  await tell();
  const alone = await cpuFor(tell);
  const following = await Promise.all(Array.from({ length: watchers }, () => readEvents(at, entries)));
  const together = await cpuFor(() => Promise.all([tell(), ...following.map(({ done }) => done)]));
  for (const { close } of following) close();
  agent.destroy();
  return (together - alone) / (watchers * entries);
}
