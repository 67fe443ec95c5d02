import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const compiler = '/usr/bin/cc';

/** Whether a library can be put between a process and its disk here. */
export const canPreload: boolean =
  process.platform === 'linux' && spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0;

/** Builds that library in a folder. */
export function buildFaults(directory: string): string {
  const library = join(directory, 'faults.so');
  const source = join(import.meta.dirname, 'store-faults.c');
  const { status, stderr } = spawnSync(compiler, ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  if (status !== 0) throw new Error(String(stderr));
  return library;
}
