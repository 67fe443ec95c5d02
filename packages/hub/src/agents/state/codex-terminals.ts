import { resolve } from 'node:path';
import { flagIn } from '../../platform/flag-in.ts';
import { agentProgram } from '../adopted/agent-program.ts';
import { argvOf, cwdOf, parentOf, processesNaming } from '../processes.ts';

/** The folder that a Codex works in, by its command line. */
export const codexFolder = (argv: readonly string[], cwd: string): string =>
  resolve(cwd, flagIn(argv, '-C') ?? flagIn(argv, '--cd') ?? '.');

/** Whether one terminal of Codex at the most has this folder: its conversation is told from others by that. */
export function isAlone(folder: string): boolean {
  const found = processesNaming('codex').filter((pid) => {
    const argv = argvOf(pid) ?? [];
    const program = agentProgram(argv);
    const cwd = cwdOf(pid);
    return (
      program?.vendor === 'codex' &&
      !program.headless &&
      cwd !== undefined &&
      codexFolder(argv, cwd) === folder
    );
  });
  // Its launcher and what that has started are one.
  return found.filter((pid) => !found.includes(parentOf(pid) ?? 0)).length === 1;
}
