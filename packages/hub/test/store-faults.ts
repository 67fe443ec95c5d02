import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const compiler = '/usr/bin/cc';

/** LD_PRELOAD and the syscalls it stands before are Linux's; `npm test` brings the compiler, so that CI runs these. */
export const canPreload: boolean = process.platform === 'linux';

/** Builds that library in a folder. */
export function buildFaults(directory: string): string {
  const library = join(directory, 'faults.so');
  const source = join(import.meta.dirname, 'store-faults.c');
  const { status, stderr } = spawnSync(compiler, ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  if (status !== 0) throw new Error(String(stderr));
  return library;
}
