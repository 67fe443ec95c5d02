import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { register } from '../packages/hub/test/mail-ground.ts';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { Asker } from './asker.ts';
import { bareBridge, type Call, echoServer, httpCall, hubFolder, LineClient, poly } from './mcp.ts';
import { costOf, cpuOf, type Figure, inTurn, median } from './measure.ts';

/** It is a dependency of the hub, not of the repository. */
const Sqlite = createRequire(new URL('../packages/hub/package.json', import.meta.url))('better-sqlite3');

const writers = 16;
const body =
  'A message of the length that agents write to each other, which is a line or two of text. '.repeat(3);
const million = 1_000_000;

/** Durable sends by HTTP and MCP, polls of an inbox with nothing new, and a soak. */
export async function mail(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  {
    await using hub = await TestHub.start();
    await register(hub, 'reader', { project: 'bench' });
    figures.push(...(await sends(hub)), ...(await mcpSends(hub)));
  }
  return [...figures, ...(await polls()), ...(await soak())];
}

const given = { to_agent_name: 'reader', to_project: 'bench', body };

interface Run {
  /** Of each operation, ms, in order. */
  readonly times: readonly number[];
  /** CPU of what was measured, µs an operation. */
  readonly cpu: number;
  /** Operations a second. */
  readonly rate: number;
}

/** So many operations by so many at once; `used` is what the measured process has used so far. */
async function run(
  count: number,
  atOnce: number,
  used: () => number,
  work: () => Promise<unknown>,
): Promise<Run> {
  const times: number[] = [];
  const [start, before] = [performance.now(), used()];
  const one = async (): Promise<void> => {
    for (let i = 0; i < count / atOnce; i++) {
      const begun = performance.now();
      await work();
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  const rate = (times.length / (performance.now() - start)) * 1000;
  // What is done about a message beside its sending is part of what it costs.
  await pause(300);
  return { times: times.toSorted((a, b) => a - b), cpu: (used() - before) / times.length, rate };
}

const at = ({ times }: Run, part: number): number =>
  (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN) * 1000;

/** The run in the middle of three, by what it cost. */
async function middle(once: () => Promise<Run>): Promise<Run> {
  const runs = [await once(), await once(), await once()];
  return runs.toSorted((a, b) => a.cpu - b.cpu)[1] as Run;
}

async function sends(hub: TestHub): Promise<readonly Figure[]> {
  const { pid } = hub.discovery;
  const asker = new Asker(hub);
  const send = (): Promise<unknown> => asker.ask('mail:send', given);
  await run(1_000, writers, () => cpuOf(pid), send);
  const one = await middle(() => run(500, 1, () => cpuOf(pid), send));
  const many = await middle(() => run(4_000, writers, () => cpuOf(pid), send));
  asker.close();
  const bare = await bareInserts();
  const [alone, group] = ['a bare synced insert', 'bare grouped inserts'];
  return [
    { what: 'send over HTTP, CPU', unit: 'µs', ours: one.cpu, against: alone, theirs: bare.one.cpu, aim: '≤ 400 µs' },
    { what: 'send over HTTP, p50', unit: 'µs', ours: at(one, 0.5), against: alone, theirs: at(bare.one, 0.5), aim: '' },
    { what: 'send over HTTP, p99', unit: 'µs', ours: at(one, 0.99), against: alone, theirs: at(bare.one, 0.99), aim: '' },
    { what: `sends over HTTP, ${writers} writers`, unit: '/s', ours: many.rate, against: group, theirs: bare.many.rate, aim: '≥ 5000/s' },
    { what: `the same, CPU each`, unit: 'µs', ours: many.cpu, against: group, theirs: bare.many.cpu, aim: '≤ 400 µs' },
    { what: `the same, p50`, unit: 'µs', ours: at(many, 0.5), against: alone, theirs: at(bare.one, 0.5), aim: '' },
    { what: `the same, p99`, unit: 'µs', ours: at(many, 0.99), against: alone, theirs: at(bare.one, 0.99), aim: '' },
  ]; // biome-ignore format: a table
}

/** A message and its delivery, written by one thread that does nothing else. */
async function bareInserts(): Promise<{ readonly one: Run; readonly many: Run }> {
  const directory = mkdtempSync(join(tmpdir(), 'poly-bench-'));
  const db = new Sqlite(join(directory, 'raw.db'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) db.pragma(pragma);
  db.exec(
    'CREATE TABLE messages (seq INTEGER PRIMARY KEY, sender, body, at); CREATE TABLE deliveries (recipient, message, state, PRIMARY KEY (recipient, message))',
  );
  const message = db.prepare('INSERT INTO messages (sender, body, at) VALUES (?, ?, ?)');
  const delivery = db.prepare('INSERT INTO deliveries VALUES (?, ?, ?)');
  const insert = db.transaction((count: number) => {
    for (let i = 0; i < count; i++)
      delivery.run('reader', message.run('user', body, Date.now()).lastInsertRowid, 'queued');
  });
  const used = (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  };
  const one = await middle(() => run(500, 1, used, async () => insert(1)));
  const grouped = await middle(() => run(4_000 / writers, 1, used, async () => insert(writers)));
  db.close();
  rmSync(directory, { recursive: true });
  return { one, many: { ...grouped, cpu: grouped.cpu / writers, rate: grouped.rate * writers } };
}

/** The tool send_message against the SDK's echo, which stores nothing. */
async function mcpSends(hub: TestHub): Promise<readonly Figure[]> {
  const { pid, url } = hub.discovery;
  // Inside the package, where its dependencies are found.
  const script = join(hubFolder, 'dist', 'bench-echo.mjs');
  writeFileSync(script, echoServer);
  const path = join(hub.home, 'echo.sock');
  const listen = async (...args: readonly string[]): Promise<{ process: ChildProcess; port: string }> => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return { process: child, port: String(port).trim() };
  };
  const [web, behind] = await Promise.all([listen('http'), listen('socket', path)]);
  const [webPid, behindPid] = [web.process.pid ?? 0, behind.process.pid ?? 0];
  const bridge = new LineClient([poly, 'mcp'], hub.env, hub.home);
  const bare = new LineClient(['-e', bareBridge, path]);
  await Promise.all([bridge.begin(), bare.begin()]);
  const agent = new Agent({ keepAlive: true, maxSockets: writers });
  const echoUrl = `http://127.0.0.1:${web.port}/mcp`;
  const send = (call: Call) => () => call('send_message', given);
  const echo = (call: Call) => () => call('echo', { text: body });
  const all = (pids: readonly number[]) => () => pids.reduce((sum, one) => sum + cpuOf(one), 0);
  const figures: Figure[] = [];
  for (const [name, against, ourPids, ours, theirPids, theirs] of [
    [
      'stdio',
      'echo of the SDK behind a copier',
      [bridge.pid, pid],
      bridge.call,
      [bare.pid, behindPid],
      bare.call,
    ],
    ...(['legacy', 'modern'] as const).map(
      (era) =>
        [
          `HTTP, ${era === 'legacy' ? 2025 : 2026}`,
          'echo of the SDK',
          [pid],
          httpCall(`${url}/mcp`, agent, era, hub.token),
          [webPid],
          httpCall(echoUrl, agent, era),
        ] as const,
    ),
  ] as const) {
    // biome-ignore format: a table
    await run(300, writers, all(ourPids), send(ours));
    await run(300, writers, all(theirPids), echo(theirs));
    const [one, floor] = [
      await middle(() => run(400, 1, all(ourPids), send(ours))),
      await middle(() => run(400, 1, all(theirPids), echo(theirs))),
    ];
    const many = await middle(() => run(1_600, writers, all(ourPids), send(ours)));
    const floors = await middle(() => run(1_600, writers, all(theirPids), echo(theirs)));
    const aim = `≤ it + 400 µs`;
    figures.push(
      { what: `send over MCP, ${name}, CPU`, unit: 'µs', ours: one.cpu, against, theirs: floor.cpu, aim },
      { what: 'the same, p50', unit: 'µs', ours: at(one, 0.5), against, theirs: at(floor, 0.5), aim: '' },
      { what: 'the same, p99', unit: 'µs', ours: at(one, 0.99), against, theirs: at(floor, 0.99), aim: '' },
      { what: `${writers} writers over MCP, ${name}, CPU each`, unit: 'µs', ours: many.cpu, against, theirs: floors.cpu, aim },
      { what: 'the same', unit: '/s', ours: many.rate, against, theirs: floors.rate, aim: '' },
    ); // biome-ignore format: a table
  }
  agent.destroy();
  await Promise.all([bridge.close(), bare.close()]);
  web.process.kill();
  behind.process.kill();
  return figures;
}

/** An inbox with nothing new, in a hub that has stored nothing and in one that has stored a million messages. */
async function polls(): Promise<readonly Figure[]> {
  await using empty = await TestHub.start();
  await using full = await TestHub.start();
  const readers = await Promise.all([empty, full].map((hub) => register(hub, 'reader')));
  await full.kill('SIGTERM');
  fill(join(full.dir, 'hub.db'), readers[1]?.id ?? '');
  await full.start();
  const [atEmpty, atFull] = [
    new Asker(empty, readers[0]?.secret),
    new Asker(full, readers[1]?.secret),
  ] as const;
  const poll =
    (hub: TestHub, { ask }: Asker) =>
    () =>
      costOf(hub.discovery.pid, 500, 1, () => ask('mail:inbox', {}));
  const { ours, theirs } = await inTurn({ ours: poll(full, atFull), theirs: poll(empty, atEmpty) });
  for (const asker of [atEmpty, atFull]) asker.close();
  const shared = { unit: 'µs', against: 'an empty one', aim: '≤ 1.2x' };
  return [
    { what: 'poll of an inbox, 1 M messages stored, CPU', ours: ours.cpu, theirs: theirs.cpu, ...shared },
    { what: 'the same, p50', ours: ours.p50, theirs: theirs.p50, ...shared },
  ];
}

/** A thousand recipients with a thousand messages each; one of them has read all of its own. */
function fill(file: string, reader: string): void {
  const db = new Sqlite(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = OFF']) db.pragma(pragma);
  const columns =
    'seq, id, sender, from_participant, project, addressed, kind, thread, hops, importance, need_reply, body, sent_at';
  const message = db.prepare(
    `INSERT INTO messages (${columns}) VALUES (?, ?, 'agt_w', 'agent:w', 'demo', 'r', 'direct', ?, 0, 'normal', 0, ?, ?)`,
  );
  const delivery = db.prepare(
    `INSERT INTO deliveries (recipient, message, state, updated_at) VALUES (?, ?, 'seen', ?)`,
  );
  const now = Date.now();
  db.transaction(() => {
    for (let seq = 1; seq <= million; seq++) {
      const id = `msg_${seq.toString(16).padStart(16, '0')}`;
      const recipient = seq % 1000 === 0 ? reader : `agt_${seq % 1000}`;
      message.run(seq, id, id, `message number ${seq}`, now);
      delivery.run(recipient, seq, now);
    }
    db.prepare('INSERT OR REPLACE INTO mailboxes (recipient, read_up_to) VALUES (?, ?)').run(reader, million);
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

const soakers = 20;
const soakMs = 60_000;
/** So many messages fill the caches of pages that SQLite keeps for who reads and who writes, 16 MB each. */
const cached = 12_000;
/** Each so many a second: below what one agent may write to another. */
const aSecond = 15;

/** Twenty agents that write and read, as many messages in minutes as one a second makes in hours, after a warm-up. */
async function soak(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const { pid } = hub.discovery;
  const agents = await Promise.all(
    Array.from({ length: soakers }, (_, i) => register(hub, `w${i}`, { project: 'soak' })),
  );
  const first = new Asker(hub);
  let sent = 0;
  const fillCaches = (): Promise<unknown> =>
    first.ask('mail:send', { to_agent_name: `w${sent++ % soakers}`, to_project: 'soak', body });
  await run(cached, soakers, () => cpuOf(pid), fillCaches);
  const until = performance.now() + soakMs;
  const work = async (secret: string, self: number): Promise<void> => {
    const asker = new Asker(hub, secret);
    const { ask } = asker;
    for (let n = 0; performance.now() < until; n++) {
      const to = (self + 1 + (n % (soakers - 1))) % soakers;
      await Promise.all([
        ask('mail:send', { to_agent_name: `w${to}`, body, need_reply: n % 10 === 0 }),
        pause(1000 / aSecond),
      ]);
      sent += 1;
      if (n % 5 === 0) await ask('mail:inbox', {});
    }
    asker.close();
  };
  const samples: { readonly rss: number; readonly files: number; readonly sent: number }[] = [];
  const look = (): void => void samples.push({ rss: rssOf(pid), files: filesOf(pid), sent });
  const timer = setInterval(look, 500);
  await Promise.all(agents.map(({ secret }, i) => work(secret, i)));
  clearInterval(timer);
  first.close();
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)];
  const middleOf = (of: typeof samples, what: keyof (typeof samples)[number]): number =>
    median(of.map((one) => one[what]));
  const grown = middleOf(late, 'rss') - middleOf(early, 'rss');
  const messages = middleOf(late, 'sent') - middleOf(early, 'sent');
  const against = 'after a quarter of it';
  return [
    { what: `hub after ${sent} messages of ${soakers} agents`, unit: 'MB', ours: middleOf(late, 'rss'), against, theirs: middleOf(early, 'rss'), aim: '≤ 1.2x' },
    { what: 'the same, open files', unit: '', ours: middleOf(late, 'files'), against, theirs: middleOf(early, 'files'), aim: '1x' },
    { what: 'memory a thousand messages leave behind', unit: 'MB', ours: (grown / messages) * 1000, against: 'its size', theirs: middleOf(early, 'rss'), aim: '0' },
  ]; // biome-ignore format: a table
}

function rssOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
