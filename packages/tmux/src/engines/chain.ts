import { newGuard } from '../operation/guard.ts';
import { type Reply, skippedReply } from '../operation/reply.ts';

/** A `;` line with a marker before its first command and after each: the markers tmux printed say how far it came. */
export interface MarkedChain {
  readonly argvs: readonly (readonly string[])[];
  /** What became of each command, from all that the line printed. */
  split(stdout: string, stderr: string, failed: boolean): readonly Reply[];
}

/** These report what went wrong after the line has moved on, so that the line does not stop at them. */
const failLate = new Set(['load-buffer', 'save-buffer', 'source-file', 'run-shell', 'if-shell']);

/**
 * Puts random markers between commands, so that a line that stopped tells where it did.
 * Without the first marker nothing ran at all: tmux could not parse the line, or there is no server.
 */
export function markedChain(commands: readonly (readonly string[])[]): MarkedChain {
  const guards = [newGuard(), ...commands.map(newGuard)];
  const markers = guards.map((guard) => ['display-message', '-p', guard]);
  const argvs = markers.flatMap((marker, i) => (i === 0 ? [marker] : [commands[i - 1] ?? [], marker]));
  return {
    argvs,
    split: (stdout, stderr, failed) => {
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

/** The line ran to its end and yet failed: those that fail late did, or else the last. */
function blame(
  commands: readonly (readonly string[])[],
  outputs: readonly string[],
  stderr: string,
): readonly Reply[] {
  const late = commands.map(([name = '']) => failLate.has(name));
  const blamed = late.includes(true) ? late : commands.map((_, i) => i === commands.length - 1);
  return commands.map((_, i) => {
    const stdout = outputs[i] ?? '';
    return blamed[i] ? { status: 'failed', stdout, stderr } : { status: 'complete', stdout, stderr: '' };
  });
}
