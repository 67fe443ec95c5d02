import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** What a process of the same user tells of itself. */
export interface ProcessFacts {
  readonly argv: readonly string[];
  /** Undefined where the system does not tell. */
  readonly cwd: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
}

const mostProcesses = 16;

/** A process and those it started, the nearest first; on a system that does not tell them, itself alone. */
export function processesBelow(pid: number): readonly number[] {
  const found = [pid];
  for (let at = 0; at < found.length && found.length < mostProcesses; at += 1) {
    const parent = found[at];
    try {
      const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1');
      found.push(...children.split(' ').filter(Boolean).map(Number));
    } catch {
      // It has ended, or this system does not tell.
    }
  }
  return found;
}

/** The variables a process was started with; none where the system does not tell. */
export function environmentOf(pid: number): Readonly<Record<string, string>> {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(
      pairs.flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)]] : [];
      }),
    );
  } catch {
    return {}; // It has ended, or this system does not tell.
  }
}

/** The processes whose command line has a word in it; none where the system does not tell. */
export function processesNaming(word: string): readonly number[] {
  try {
    return readdirSync('/proc').flatMap((name) => {
      try {
        const named = /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word);
        return named ? [Number(name)] : [];
      } catch {
        return []; // It has ended.
      }
    });
  } catch {
    return []; // This system does not tell.
  }
}

/** The folder that a process works in; undefined where the system does not tell, or it is somebody else's. */
export function cwdOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** The files a process has open; none where the system does not tell. */
export function openFilesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return []; // Closed meanwhile.
      }
    });
  } catch {
    return []; // It has ended, or this system does not tell.
  }
}

/** How much a process has read from files and terminals so far; undefined where the system does not tell. */
export function bytesReadBy(pid: number): string | undefined {
  try {
    return /^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1];
  } catch {
    return undefined; // It has ended, or this system does not tell.
  }
}

/** The process that started another; undefined when that has ended. */
export function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** The command line of a process; undefined when it has ended or is somebody else's. */
export function argvOf(pid: number): readonly string[] | undefined {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return undefined;
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').split('\0');
    return argv[0] === '' ? undefined : argv;
  } catch {
    return undefined;
  }
}

/** The command lines of all processes of this user. */
export async function allArgv(pids: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> {
  if (process.platform === 'linux') {
    return new Map(
      pids.flatMap((pid) => {
        const argv = argvOf(pid);
        return argv ? [[pid, argv] as const] : [];
      }),
    );
  }
  // Words that hold spaces fall apart here: enough to know a program by.
  const printed = await output('ps', ['-x', '-o', 'pid=,args=']);
  return new Map(
    [...printed.matchAll(/^\s*(\d+)\s+(.+)$/gm)].map(([, pid, args = '']) => [
      Number(pid),
      args.split(/\s+/),
    ]),
  );
}

/** What a process that is known by its command line tells of itself beside that; undefined when it has ended. */
export async function factsOf(
  pid: number,
  argv: readonly string[],
  now: number,
): Promise<ProcessFacts | undefined> {
  if (process.platform !== 'linux') {
    const since = await output('ps', ['-o', 'lstart=', '-p', String(pid)]);
    const place = await output('lsof', ['-a', '-d', 'cwd', '-Fn', '-p', String(pid)]);
    if (since.trim() === '') return undefined;
    return { argv, cwd: /^n(.*)$/m.exec(place)?.[1], startedAt: Date.parse(since) || now };
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    const up = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    return {
      argv,
      cwd: readlinkSync(`/proc/${pid}/cwd`),
      startedAt: Math.round(now - (up - ticks / ticksPerSecond) * 1000),
    };
  } catch {
    return undefined; // It has ended.
  }
}

/** What Linux counts the age of a process in, on every machine that Node runs on. */
const ticksPerSecond = 100;

/** What a program prints; nothing where there is none, or it fails. */
async function output(program: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  return promisify(execFile)(program, args, { env, maxBuffer: 64 * 1024 * 1024, timeout: 10_000 }).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/** Whether a process, or one it started, has its terminal to itself; where the system does not tell, it has. */
export function hasTerminal(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  return processesBelow(pid).some((each) => {
    try {
      const stat = readFileSync(`/proc/${each}/stat`, 'latin1');
      const [state, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return group === foreground && state !== 'T';
    } catch {
      return false; // It has ended.
    }
  });
}
