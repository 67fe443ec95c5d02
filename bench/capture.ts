import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { type Figure, median } from './measure.ts';

const hooks = join(import.meta.dirname, '..', 'packages', 'hub', 'hooks');
const script = join(hooks, 'capture.sh');
const rounds = 200;
const events = 2_000;
const payload = JSON.stringify({
  session_id: 'bench',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'x'.repeat(400) },
  cwd: '/',
});

/** What a hook costs the agent that runs it, whatever the hub does, and how fast the hub takes the journal in. */
export async function capture(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const { pid } = hub.discovery;
  /** CPU of one run in ms, its children's with it; many in one shell, so that who starts it is not counted. */
  const cpu = (command: string): number => {
    const loop = `i=0; while [ $i -lt ${rounds} ]; do printf '%s' "$P" | ${command}; i=$((i+1)); done; times`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', loop], {
      env: { ...hub.env, P: payload },
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`${command} ended with ${status}: ${stderr}`);
    return childrenMs(stdout) / rounds;
  };
  const against = (what: string): Figure => {
    const bare = { against: 'sh -c :', theirs: cpu('sh -c :'), aim: '≤ 4x' };
    return { what: `CPU of a hook, hub ${what}`, unit: 'ms', ours: cpu(`sh ${script} claude`), ...bare };
  };
  const up = against('up');
  process.kill(pid, 'SIGSTOP');
  const hung = against('hung');
  process.kill(pid, 'SIGCONT');
  await hub.kill('SIGKILL');
  const down = against('down');
  const many = `i=0; while [ $i -lt ${events} ]; do printf '%s' "$P" | sh ${script} claude; i=$((i+1)); done`;
  spawnSync('sh', ['-c', many], { env: { ...hub.env, P: payload } });
  const start = performance.now();
  await hub.start();
  const expected = rounds * 3 + events;
  let taken = 0;
  for await (const _ of hub.events('agent:captured', { since: 0 })) {
    taken += 1;
    if (taken === expected) break;
  }
  const waiting = rounds + events;
  const rate = (waiting / (performance.now() - start)) * 1000;
  const lag = await hookToStream(hub);
  return [
    ...[up, hung, down],
    { what: 'from the start of a hook to the event stream', unit: 'ms', ours: lag, against: 'one emit, to the same stream', theirs: await emitToStream(hub), aim: '' },
    { what: 'CPU of a wake.sh that waits, in a second', unit: 'ms', ours: waiter(hub), against: 'a look every second', theirs: looking(hub), aim: '≤ 0.2x' },
    { what: 'events taken in, with a start', unit: 'events/s', ours: rate, against: 'files read and removed', theirs: readAndRemove(hub.home, waiting), aim: '' },
  ]; // biome-ignore format: a table
}

/** What the shell built-in `times` says of children, in ms. */
function childrenMs(times: string): number {
  const [, children = ''] = times.trim().split('\n');
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  if (parts.length !== 2) throw new Error(`no times of children: ${times}`);
  return parts.reduce((sum, [, m, sec]) => sum + Number(m) * 60 + Number(sec), 0) * 1000;
}

const waiters = 20;
const waitSeconds = 30;

/** CPU of one that waits, in a second, without what its start and its end cost. */
function waiter({ env }: TestHub): number {
  const cost = (seconds: number): number => {
    const wait = `i=0; while [ $i -lt ${waiters} ]; do POLY_PANE=bench-$i sh ${hooks}/wake.sh claude ${seconds} </dev/null & i=$((i+1)); done; wait; times`;
    const around = { ...env, CLAUDE_CODE_ENTRYPOINT: 'cli' };
    return childrenMs(spawnSync('sh', ['-c', wait], { env: around, encoding: 'utf8' }).stdout);
  };
  return (cost(waitSeconds) - cost(0)) / waiters / waitSeconds;
}

/** A shell that looks into a folder every second. */
function looking({ env }: TestHub): number {
  const look = `i=0; while [ $i -lt 20 ]; do set -- "$POLY_HOME"/*; sleep 1; i=$((i+1)); done; times`;
  return childrenMs(spawnSync('sh', ['-c', look], { env, encoding: 'utf8' }).stdout) / 20;
}

/** From the start of a hook until a reader of the event stream has its event; the median. */
function hookToStream(hub: TestHub): Promise<number> {
  const hook = (): void => void spawnSync('sh', [script, 'claude'], { env: hub.env, input: payload });
  return toStream(hub, 'agent:captured', async () => hook());
}

function emitToStream(hub: TestHub): Promise<number> {
  return toStream(hub, 'bench', () => hub.client.emit('bench', {}));
}

async function toStream(hub: TestHub, event: string, cause: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 50; round++) {
    const stream = hub.events(event)[Symbol.asyncIterator]();
    const next = stream.next();
    await hub.client.call('server:status', {}); // The stream is open.
    const start = performance.now();
    await cause();
    await next;
    took.push(performance.now() - start);
    await stream.return?.(undefined);
  }
  return median(took);
}

/** How many files a second can be read and removed by a program that does nothing else. */
function readAndRemove(home: string, count: number): number {
  const names = Array.from({ length: count }, (_, i) => join(home, `raw-${i}`));
  for (const name of names) writeFileSync(name, payload);
  const start = performance.now();
  for (const name of names) {
    readFileSync(name);
    rmSync(name);
  }
  return (count / (performance.now() - start)) * 1000;
}
