import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Whether a pane's shell is back at its prompt: the only process in the foreground of the terminal is the pane's own,
 * a shell, and it sleeps: on a busy machine one that was just typed at waits for its turn to run that. tmux cannot tell; `ps` can, on Linux and macOS alike.
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
  const [pid, stat = '', program = ''] = foreground[0] ?? [];
  return (
    foreground.length === 1 &&
    Number(pid) === panePid &&
    /^[SI]/.test(stat) && // macOS calls a sleep of over 20 s idle.
    /(^|[-/])(nu|elvish|xonsh|pwsh|\w*sh)$/.test(program)
  );
}
