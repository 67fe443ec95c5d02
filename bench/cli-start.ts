import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../scripts/bundle.ts';
import { bundleDaemons } from '../scripts/bundle-daemons.ts';
import { type Figure, median } from './measure.ts';

const rounds = 60;
const hub = join(import.meta.dirname, '..', 'packages', 'hub');

/** The command people and scripts run most, from the shell's point of view, against a Node that does nothing. */
export async function cliStart(): Promise<readonly Figure[]> {
  await bundleDaemons();
  await bundle();
  const home = mkdtempSync(join(tmpdir(), 'poly-bench-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    POLY_HOME: home,
    POLY_NO_TCP: '1',
    POLY_NODE: process.execPath,
  };
  const program = join(hub, 'dist', 'poly.cjs');
  const run = (file: string, ...args: string[]): number => {
    const start = performance.now();
    const { status, stderr } = spawnSync(file, args, { env });
    const took = performance.now() - start;
    if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}: ${stderr}`);
    return took;
  };
  const poly = (...args: string[]): number => run(process.execPath, program, ...args);
  poly('up');
  for (let pane = 0; pane < 10; pane++) poly('run', '--', 'cat');
  const tries = {
    node: () => run(process.execPath, '-e', '0'),
    bundle: () => poly('ls'),
    launcher: () => run(join(hub, 'bin', 'poly'), 'ls'),
  };
  const times = { node: [] as number[], bundle: [] as number[], launcher: [] as number[] };
  const names = Object.keys(tries) as (keyof typeof tries)[];
  // One of each in turn, so that a busy moment of the machine hits all of them.
  for (let round = 0; round < rounds; round++) for (const name of names) times[name].push(tries[name]());
  poly('server', 'stop', '--all');
  rmSync(home, { recursive: true, force: true });
  const shared = { unit: 'ms', against: 'node -e 0', theirs: median(times.node), aim: '≤ 2x' };
  return [
    { what: 'poly ls, 10 panes', ours: median(times.bundle), ...shared },
    { what: 'poly ls by the launcher', ours: median(times.launcher), ...shared },
  ];
}
