import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestHub } from '../packages/hub/test/test-hub.ts';
import { type Figure, median } from './measure.ts';

const script = join(import.meta.dirname, '..', 'packages', 'hub', 'hooks', 'capture.sh');
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
  const run = (...args: string[]): number => {
    const start = performance.now();
    const { status, stdout, stderr } = spawnSync('sh', args, { env: hub.env, input: payload });
    const took = performance.now() - start;
    if (status !== 0 || stdout.length + stderr.length > 0)
      throw new Error(`sh ${args.join(' ')} ended with ${status}: ${stderr}`);
    return took;
  };
  /** One of each in turn, so that a busy moment of the machine hits both. */
  const against = (what: string): Figure => {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      theirs.push(run('-c', ':'));
      ours.push(run(script, 'claude'));
    }
    const bare = { against: 'sh -c :', theirs: median(theirs), aim: '≤ 4x' };
    return { what: `a hook, hub ${what}`, unit: 'ms', ours: median(ours), ...bare };
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
  let taken = 0;
  for await (const _ of hub.events('agent:captured', { since: 0 })) {
    taken += 1;
    if (taken === rounds * 3 + events) break;
  }
  const waiting = rounds + events;
  const rate = (waiting / (performance.now() - start)) * 1000;
  return [
    ...[up, hung, down],
    { what: 'events taken in, with a start', unit: 'events/s', ours: rate, against: 'files read and removed', theirs: readAndRemove(hub.home, waiting), aim: '' },
  ]; // biome-ignore format: a table
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
