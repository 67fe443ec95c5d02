import { readdirSync, readFileSync } from 'node:fs';

/** What a process uses up of what the system gives it. */
export interface ProcessGauges {
  readonly openFiles: number;
  readonly openFilesLimit: number;
  /** Children that have ended and were not reaped. */
  readonly zombies: number;
}

/** Undefined where the system does not tell, or the process has ended. */
export function processGauges(pid: number): ProcessGauges | undefined {
  try {
    const limit = /^Max open files +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
    return {
      openFiles: readdirSync(`/proc/${pid}/fd`).length,
      openFilesLimit: limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit),
      zombies: children.filter(isZombie).length,
    };
  } catch {
    return undefined;
  }
}

function isZombie(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false; // It has been reaped meanwhile.
  }
}
