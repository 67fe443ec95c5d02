import { readFileSync } from 'node:fs';

/** One line of the result: our figure, the figure it is held against from the same run, and how they relate. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly against: string;
  readonly theirs: number;
  /** What ours/theirs, or theirs/ours when `more` is better, should reach. */
  readonly aim: string;
}

export interface Cost {
  /** Median wall time of one operation, µs. */
  readonly p50: number;
  /** CPU of the processes that are counted, µs an operation. */
  readonly cpu: number;
}

/** The process that started another. */
export function parentOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
}

/** CPU a process has used, in µs, in steps of the kernel's clock tick. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** User and system time of this process and of its ended children, µs. */
function ownCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  const children = (Number(fields[13]) + Number(fields[14])) * 10_000;
  const { user, system } = process.cpuUsage();
  return user + system + children;
}

/** Measures `round`, which does `operations` operations, `rounds` times after a warm-up; counts this process, its ended children and `pids`. */
export function cost(
  pids: number | readonly number[],
  rounds: number,
  operations: number,
  round: () => Promise<unknown>,
): Promise<Cost> {
  return measure(() => ownCpu() + cpuOfAll(pids), rounds, operations, round);
}

/** The same without this process, where it is only the client of what is measured. */
export function costOf(
  pids: number | readonly number[],
  rounds: number,
  operations: number,
  round: () => Promise<unknown>,
): Promise<Cost> {
  return measure(() => cpuOfAll(pids), rounds, operations, round);
}

const cpuOfAll = (pids: number | readonly number[]): number =>
  [pids].flat().reduce((sum, pid) => sum + cpuOf(pid), 0);

async function measure(
  used: () => number,
  rounds: number,
  operations: number,
  round: () => Promise<unknown>,
): Promise<Cost> {
  for (let i = 0; i < Math.ceil(rounds / 5); i++) await round();
  const before = used();
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await round();
    times.push(performance.now() - start);
  }
  const cpu = used() - before;
  return { p50: (median(times) * 1000) / operations, cpu: cpu / rounds / operations };
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** The best of six tries at each, taken in turn, so that a busy moment of the machine hits all of them. */
export async function inTurn<K extends string>(
  tries: Readonly<Record<K, () => Promise<Cost>>>,
): Promise<Record<K, Cost>> {
  const best = {} as Record<K, Cost>;
  for (let round = 0; round < 6; round++) {
    for (const name of Object.keys(tries) as K[]) {
      const { p50, cpu } = await tries[name]();
      const before = best[name] ?? { p50, cpu };
      best[name] = { p50: Math.min(before.p50, p50), cpu: Math.min(before.cpu, cpu) };
    }
  }
  return best;
}

export function print(figures: readonly Figure[]): void {
  const rows = figures.map(({ what, unit, ours, against, theirs, aim }) => [
    what, `${show(ours)} ${unit}`, against, `${show(theirs)} ${unit}`, `${show(ours / theirs)}x`, aim,
  ]); // biome-ignore format: a row
  const table = [['what', 'ours', 'against', 'theirs', 'ratio', 'aim'], ...rows];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(3);
}
