import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Whether a pane's shell is back at its prompt: the only process in the foreground of the terminal is the pane's own,
 * and that is a shell. tmux cannot tell; `ps` can, on Linux and macOS alike.
 */
export async function isAtPrompt(tty: string, panePid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', [
    '-t',
    tty.replace(/^\/dev\//, ''),
    '-o',
    'pid=,stat=,comm=',
  ]);
  const foreground = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, stat]) => stat?.includes('+'));
  const [pid, , program = ''] = foreground[0] ?? [];
  return (
    foreground.length === 1 &&
    Number(pid) === panePid &&
    /(^|[-/])(nu|elvish|xonsh|pwsh|\w*sh)$/.test(program)
  );
}
