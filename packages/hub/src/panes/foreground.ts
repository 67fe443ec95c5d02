import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The program that has the terminal of a pane. */
export interface Foreground {
  readonly pid: number;
  readonly argv: readonly string[];
  /** Stopped by a signal or a debugger: it reads nothing. */
  readonly stopped: boolean;
  /** Whether it belongs to the first program of the pane, and not to a job that a shell there has started. */
  readonly isFirst: boolean;
}

interface Stat {
  readonly state: string;
  readonly group: number;
  /** The group that has the terminal. */
  readonly front: number;
}

/** Who has the terminal of the pane whose first process this is; nothing where nobody can tell. */
export function foregroundOf(pid: number): Foreground | undefined {
  const first = statOf(pid);
  if (!first || first.front <= 0) return undefined;
  const isFirst = first.front === first.group;
  const front = isFirst ? pid : first.front;
  const stat = isFirst ? first : statOf(front);
  const argv = stat && argvOf(front);
  if (!stat || !argv) return undefined;
  return { pid: front, argv, isFirst, stopped: /^[Tt]/.test(stat.state) };
}

/** A variable of the environment a process was started with; Linux tells. */
export function variableOf(pid: number, name: string): string | undefined {
  return environmentOf(pid)?.[name];
}

/** The environment a process was started with, where the system tells it. */
export function environmentOf(pid: number): Readonly<Record<string, string>> | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const pairs = variables.flatMap((variable) => {
      const at = variable.indexOf('=');
      return at > 0 ? [[variable.slice(0, at), variable.slice(at + 1)]] : [];
    });
    return Object.fromEntries(pairs) as Record<string, string>;
  } catch {
    return undefined; // It has ended, or the system has no /proc.
  }
}

function statOf(pid: number): Stat | undefined {
  try {
    if (process.platform !== 'linux') {
      const [state = '', group, front] = ps(pid, 'stat=,pgid=,tpgid=').split(/\s+/);
      return { state, group: Number(group), front: Number(front) };
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Its name, in parentheses, may hold anything.
    const [state = '', , group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, group: Number(group), front: Number(front) };
  } catch {
    return undefined; // No such process.
  }
}

function argvOf(pid: number): readonly string[] | undefined {
  try {
    if (process.platform !== 'linux') return ps(pid, 'command=').split(/\s+/);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

const ps = (pid: number, columns: string): string =>
  execFileSync('ps', ['-p', String(pid), '-o', columns], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
