import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errnoOf } from './host-error.ts';

/** What a pane's programs inherit, wherever they go: POLY_PANE, and POLY_HOST for hosts have panes of the same id. */
export interface PaneMark {
  readonly pane: string;
  /** The folder of the host. */
  readonly host: string;
}

export interface ProcessEntry {
  readonly pid: number;
  /** When it began; a number that is used again is then another process, also after a reboot. */
  readonly startTime: string;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  readonly name: string;
  /** What its environment said when its program began; null without that, or where nobody may look. */
  readonly mark: PaneMark | null;
}

/** Processes read between two breaths of the event loop. */
const batch = 50;

/** All processes that run; one that has ended and waits to be reaped does not. */
export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (process.platform !== 'linux') {
    return parsePs((await promisify(execFile)('ps', ['-A', ...psColumns], psOptions)).stdout);
  }
  const boot = bootId();
  const found: ProcessEntry[] = [];
  let read = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if (++read % batch === 0) await setImmediate();
    const entry = readStat(Number(name), boot);
    if (entry) found.push({ ...entry, mark: readMark(entry.pid) });
  }
  return found;
}

/** Lets those who look at the same time share one look; each gets one that began after it asked. */
export function shareLooks(
  list: () => Promise<readonly ProcessEntry[]> = listProcesses,
): () => Promise<readonly ProcessEntry[]> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly ProcessEntry[]> | null = null;
  return () => {
    next ??= running.then(() => {
      const look = list();
      running = look.catch(() => {}); // Those who share it hear of the failure.
      next = null;
      return look;
    });
    return next;
  };
}

/** When a process began, or null when none of this number runs. */
export function startTimeOf(pid: number): string | null {
  if (process.platform === 'linux') return readStat(pid, bootId())?.startTime ?? null;
  try {
    return parsePs(execFileSync('ps', ['-p', String(pid), ...psColumns], psOptions))[0]?.startTime ?? null;
  } catch {
    return null; // No such process.
  }
}

type Stat = Omit<ProcessEntry, 'mark'>;

function readStat(pid: number, boot: string): Stat | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ESRCH') return null;
    throw error; // Whoever cannot look must not take it for dead.
  }
  // Its name, in parentheses, may hold anything, so that the fields are counted from the last parenthesis.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return {
    pid,
    startTime: `${boot}.${fields[19]}`,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
  };
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
}

function readMark(pid: number): PaneMark | null {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return null; // Somebody else's, or gone by now.
  }
  const variables = environment.split('\0');
  const value = (name: string): string | undefined =>
    variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  const [pane, host] = [value('POLY_PANE'), value('POLY_HOST')];
  return pane === undefined || host === undefined ? null : { pane, host };
}

const psColumns = ['-o', 'pid=,ppid=,pgid=,stat=,lstart=,comm='];
const psOptions = {
  env: { PATH: process.env.PATH, LC_ALL: 'C' },
  maxBuffer: 64 * 1024 * 1024,
  encoding: 'utf8',
} as const;

/** What `ps -o pid=,ppid=,pgid=,stat=,lstart=,comm=` prints, for systems without /proc. */
export function parsePs(text: string): readonly ProcessEntry[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/gm;
  return [...text.matchAll(line)]
    .map(([, pid, parent, group, state = '', startTime = '', name = '']) => ({
      entry: {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        startTime: startTime.replace(/\s+/g, ' '),
        name,
        mark: null,
      },
      ended: state.startsWith('Z'),
    }))
    .filter(({ ended }) => !ended)
    .map(({ entry }) => entry);
}
