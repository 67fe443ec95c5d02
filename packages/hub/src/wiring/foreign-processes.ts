import type { AdoptedAgentsOptions } from '../agents/adopted/adopted-agents.ts';
import { listProcesses, startTimeOf } from '../host/process-table.ts';

/** Processes as agents that others have started are found and known again by. */
export function foreignProcesses(): Pick<AdoptedAgentsOptions, 'processes' | 'startTimes'> {
  return {
    processes: listProcesses,
    async startTimes(pids) {
      if (process.platform === 'linux')
        return new Map(
          pids.flatMap((pid) => {
            const startTime = startTimeOf(pid);
            return startTime === null ? [] : [[pid, startTime]];
          }),
        );
      return new Map((await listProcesses()).map(({ pid, startTime }) => [pid, startTime]));
    },
  };
}
