import { type ChildProcess, spawn } from 'node:child_process';

/** Reads until whoever started it has ended; a second later nothing that was sent still waits to be carried out. */
const script = 'read -r _; sleep 1; kill -9 "$1"';

/**
 * Ends a control client some time after this process, however this one ends. tmux ends it by itself only if it has
 * nothing left to tell it: otherwise it keeps for ever what it cannot write to, and itself with it (3.8: ten seconds).
 */
export function tieToUs(client: ChildProcess): void {
  if (client.pid === undefined) return;
  const watcher = spawn('sh', ['-c', script, 'sh', String(client.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true, // What interrupts us from a terminal must not end it first.
  });
  // Safe to ignore: without a watcher everything works, and only our being killed leaves something behind.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  client.once('exit', () => watcher.kill('SIGKILL'));
  watcher.unref();
  (watcher.stdin as unknown as { unref(): void }).unref();
}
