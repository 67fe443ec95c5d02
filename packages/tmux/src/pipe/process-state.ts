import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What the system says a process is doing, as `ps` abbreviates it: R runs, S waits for something, Z has ended; null: gone. */
export async function processState(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    // Its name, in parentheses, may hold anything; the state follows the last one.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null); // No such process.
    return stat === null ? null : (stat.slice(stat.lastIndexOf(')') + 2)[0] ?? null);
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  })); // No such process.
  return stdout.trim()[0] ?? null;
}
