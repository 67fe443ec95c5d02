import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended and waits to be reaped by a slow init does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // ESRCH: there is no such process any more.
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux'; // Gone meanwhile, or a system without /proc.
  }
}
