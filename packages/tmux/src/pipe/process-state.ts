import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ProcessState {
  /** As `ps` abbreviates it: R runs, S waits for something, T is stopped, Z has ended. */
  readonly state: string;
  /** When it began, in the system's own words: a number that is used again is then another process. */
  readonly startedAt: string;
}

/** What the system says about a process; null when there is none of this number. */
export async function processState(pid: number): Promise<ProcessState | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null); // No such process.
    // Its name, in parentheses, may hold anything; the state, as third of the fields, follows the last one.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields ? { state: fields[0] ?? '', startedAt: fields[19] ?? '' } : null;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).catch(
    () => ({
      stdout: '',
    }),
  ); // No such process.
  const [, state = '', startedAt = ''] = /^(\S)\S*\s+(.*)/.exec(stdout.trim()) ?? [];
  return state === '' ? null : { state, startedAt };
}
