import { processState } from '../pipe/process-state.ts';

/**
 * Whether a process runs. One that has ended and waits to be reaped by a slow init does not.
 *
 * @example await isAlive(process.pid) // true
 */
export async function isAlive(pid: number): Promise<boolean> {
  const found = await processState(pid);
  return found !== null && found.state !== 'Z';
}
