import { expandText, type Place } from './expand-text.ts';
import type { WorkspaceCommand } from './workspace.ts';
import type { CommandFile, CommandList, CommandsFile } from './workspace-file.ts';

/** The words that stand for "nothing to type" when they are all there is. */
const blanks: readonly unknown[] = [null, 'blank', 'pane'];

/** Every way to write commands, as a list. What a command or a group says about Enter and sleeping stays with it. */
export function expandCommands(
  given: CommandsFile | undefined,
  place: Place,
  enter = true,
): readonly WorkspaceCommand[] {
  if (given === undefined) return [];
  if (isMapping(given)) {
    const { cmd, shell_command: list = null } = given;
    const group = expandCommands(cmd === undefined ? list : [{ cmd }], place, given.enter ?? enter);
    return group.map((one, i) => ({
      ...one,
      sleepBeforeMs: one.sleepBeforeMs + (i === 0 ? milliseconds(given.sleep_before) : 0),
      sleepAfterMs: one.sleepAfterMs + (i === group.length - 1 ? milliseconds(given.sleep_after) : 0),
    }));
  }
  const list = typeof given === 'string' || given === null ? [given] : given;
  if (list.length === 1 && blanks.includes(list[0])) return [];
  return list
    .filter((one) => one !== null)
    .map((one) => expandCommand(typeof one === 'string' ? { cmd: one } : one, place, enter));
}

/** Whether keys are given instead of just commands. */
export function isMapping<T extends object>(given: T | CommandList): given is T {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

export function milliseconds(seconds: number | null | undefined): number {
  return Math.round((seconds ?? 0) * 1000);
}

function expandCommand(file: CommandFile, place: Place, enter: boolean): WorkspaceCommand {
  return {
    // A block of YAML ends in a newline, which would run an empty command after this one.
    text: expandText(file.cmd.replace(/\n+$/, ''), place),
    enter: file.enter ?? enter,
    sleepBeforeMs: milliseconds(file.sleep_before),
    sleepAfterMs: milliseconds(file.sleep_after),
  };
}
