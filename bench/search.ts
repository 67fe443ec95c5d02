import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ByteRing } from '../packages/hub/src/host/byte-ring.ts';
import { TestHub, until } from '../packages/hub/test/test-hub.ts';
import { type Figure, median } from './measure.ts';

const lines = 1_000_000;
const rounds = 5;

/** Finding a rare line in a million through the hub, against a program made for it; what the ring takes in, and weighs. */
export async function search(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start({
    config: '[output]\npane_mb = 128\n',
    env: { PTY_MAX_BUFFER_LINES: '10000000' },
  });
  const file = join(hub.home, 'lines');
  const text = Array.from(
    { length: lines },
    (_, n) => `${String(n).padStart(8, '0')} ${sentence} ${n % 977} ms`,
  );
  await writeFile(file, `${text.join('\n')}\nneedle here\n`);
  const { id: paneId } = await hub.client.call('pane:new', {
    argv: ['cat', file],
    backend: 'pty',
  });
  await hub.event('pane:exited', ({ payload }) => payload.paneId === paneId);
  const figures: Figure[] = [];
  for (const { what, pattern, flags, aim, ...how } of searches) {
    const spans = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      const { complete } = await hub.client.call('pane:search', { paneId, pattern, ...how });
      spans.ours.push(complete ? performance.now() - started : Number.POSITIVE_INFINITY);
      spans.theirs.push(await run(finder, [...flags, pattern, file]));
    }
    const rate = (ms: readonly number[]): number => 78 / (median(ms) / 1000);
    figures.push(
      { what, unit: 'MB/s', ours: rate(spans.ours), against: `${finder} ${flags.join(' ')}`, theirs: rate(spans.theirs), aim },
    ); // biome-ignore format: a row
  }
  return [...figures, append(), await weight(hub)];
}

const sentence = 'the quick brown fox jumps over the lazy dog and runs away at';
const finder = spawnSync('rg', ['--version']).status === 0 ? 'rg' : 'grep';
const regex = finder === 'rg' ? '-c' : '-cP';
const searches = [
  { what: 'search 78 MB, text', pattern: 'needle', literal: true, flags: ['-cF'], aim: '≥ 0.5x' },
  { what: 'search 78 MB, text in any case', pattern: 'NEEDLE', literal: true, ignoreCase: true, flags: ['-ciF'], aim: '≥ 0.5x' },
  { what: 'search 78 MB, pattern', pattern: 'need\\w+ (here|there)$', flags: [regex], aim: '≥ 0.25x' },
  { what: 'search 78 MB, pattern from the start', pattern: '^\\D+ here', flags: [regex], aim: '≥ 0.25x' },
]; // biome-ignore format: a table

async function run(program: string, args: readonly string[]): Promise<number> {
  const started = performance.now();
  await once(spawn(program, args, { stdio: 'ignore' }), 'close');
  return performance.now() - started;
}

/** As much as a pane prints, in the pieces it comes in. */
function append(): Figure {
  const chunk = Buffer.from(`${sentence}\r\n`.repeat(64));
  const rate = (take: (bytes: Buffer) => void): number => {
    const spans = Array.from({ length: rounds }, () => {
      const started = performance.now();
      for (let i = 0; i < 20_000; i++) take(chunk);
      return performance.now() - started;
    });
    return (chunk.length * 20_000) / 1e3 / median(spans);
  };
  const ring = new ByteRing();
  const copy = Buffer.alloc(chunk.length * 64);
  let at = 0;
  const ours = rate((bytes) => ring.append(bytes));
  const theirs = rate((bytes) => copy.set(bytes, (at++ % 64) * bytes.length));
  return {
    what: 'the ring takes output',
    unit: 'MB/s',
    ours,
    against: 'a copy of it',
    theirs,
    aim: '≥ 50 MB/s',
  };
}

const panes = 50;

/** What a pane costs the host that has printed 1 MB. */
async function weight(hub: TestHub): Promise<Figure> {
  const rss = (): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${hub.hostPid()}/status`, 'utf8'))?.[1]) / 1024;
  const before = rss();
  const argv = ['sh', '-c', `yes '${sentence}' | head -c 1000000; exec cat`];
  for (let i = 0; i < panes; i++) {
    const { id: paneId } = await hub.client.call('pane:new', { argv, backend: 'pty' });
    await until(async () => (await hub.client.call('pane:read', { paneId, tail: 0 })).next > 1_000_000);
  }
  const ours = (rss() - before) / panes;
  return {
    what: 'a pane with 1 MB of output',
    unit: 'MB',
    ours,
    against: 'its bytes',
    theirs: 1,
    aim: '≤ 1.7x',
  };
}
