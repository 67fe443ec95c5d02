import type { Command } from '../engine.ts';
import { newGuard } from '../operation/guard.ts';
import { type Reply, skippedReply } from '../operation/reply.ts';

/** How a tmux client ended, and all it printed. */
export interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands with markers among them, and what the markers that were printed say about the answer. */
export interface Marked<T> {
  readonly argvs: readonly (readonly string[])[];
  read(answer: Answer): T;
}

/** These report what went wrong after the line has moved on, so that the line does not stop at them. */
const lateCommands = ['load-buffer', 'save-buffer', 'source-file', 'run-shell', 'if-shell'];

/**
 * One command with a marker behind it, which tmux prints unless the command fails: a client ends the same way when the
 * command failed and when only a hook did that ran after it. What fails late or has a process of its own gets none, and
 * takes the failure of a hook for its own; show-buffer closes the standard output behind it, which comes to the same.
 */
export function markedCommand({ argv, ownProcess }: Command): Marked<Reply> {
  const guard = newGuard();
  const isMarked = !ownProcess && !failsLate(argv);
  return {
    argvs: isMarked ? [argv, marker(guard)] : [argv],
    read: (answer) => {
      const { stdout, stderr } = answer;
      const [own] = cut(stdout, [guard]).pieces;
      if (own !== undefined) return { status: 'complete', stdout: own, stderr: '' };
      return { status: hasFailed(answer) ? 'failed' : 'complete', stdout, stderr };
    },
  };
}

/**
 * A `;` line with a marker before its first command and after each: the markers tmux printed say how far it came.
 * Without the first marker nothing ran at all: tmux could not parse the line, or there is no server.
 */
export function markedChain(commands: readonly (readonly string[])[]): Marked<readonly Reply[]> {
  const guards = [newGuard(), ...commands.map(newGuard)];
  return {
    argvs: guards.flatMap((guard, i) => (i === 0 ? [marker(guard)] : [commands[i - 1] ?? [], marker(guard)])),
    read: (answer) => {
      const { stdout, stderr } = answer;
      const failed = hasFailed(answer);
      const { pieces, rest } = cut(stdout, guards);
      if (failed && pieces.length === 0)
        return commands.map(() => ({ status: 'failed', stdout: '', stderr }));
      const ended = pieces.length - 1;
      if (failed && ended === commands.length) return blame(commands, pieces.slice(1), stderr);
      // kill-server can take the last markers with it, and still has done what it was asked to.
      const reached: Reply['status'] = failed ? 'failed' : 'complete';
      return commands.map((_, i) => {
        if (i < ended) return { status: 'complete', stdout: pieces[i + 1] ?? '', stderr: '' };
        if (i === ended) return { status: reached, stdout: rest, stderr };
        return failed ? skippedReply : { status: 'complete', stdout: '', stderr: '' };
      });
    },
  };
}

function marker(guard: string): readonly string[] {
  return ['display-message', '-p', guard];
}

function hasFailed({ code, stderr }: Answer): boolean {
  return code !== 0 || stderr !== '';
}

/** A name without a dash is an alias, perhaps of one that does. */
function failsLate([name = '']: readonly string[]): boolean {
  return !name.includes('-') || lateCommands.some((late) => late.startsWith(name));
}

/** The text before each marker that was printed, and what follows the last of them. */
function cut(stdout: string, guards: readonly string[]): { pieces: string[]; rest: string } {
  const pieces: string[] = [];
  let from = 0;
  for (const guard of guards) {
    const at = stdout.indexOf(`${guard}\n`, from);
    if (at < 0) break;
    pieces.push(stdout.slice(from, at));
    from = at + guard.length + 1;
  }
  return { pieces, rest: stdout.slice(from) };
}

/** The line ran to its end and yet something failed: those that fail late, or, without any, only a hook. */
function blame(
  commands: readonly (readonly string[])[],
  outputs: readonly string[],
  stderr: string,
): readonly Reply[] {
  return commands.map((argv, i) => {
    const stdout = outputs[i] ?? '';
    return failsLate(argv)
      ? { status: 'failed', stdout, stderr }
      : { status: 'complete', stdout, stderr: '' };
  });
}
