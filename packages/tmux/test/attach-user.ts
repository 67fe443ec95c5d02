import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestServer } from '../src/testing/index.ts';

/** Somebody who sits in a session: a client that is not ours. */
export async function attachUser(
  server: TestServer,
  session: string,
): Promise<{ leave(): Promise<void> } & AsyncDisposable> {
  const { tmux = 'tmux', socketPath = '' } = server.connection;
  const child = spawn(tmux, ['-S', socketPath, '-C', 'attach-session', '-t', `=${session}:`]);
  await once(child.stdout, 'data');
  const leave = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.stdout.resume();
    child.stdin.end();
    await once(child, 'close');
  };
  return { leave, [Symbol.asyncDispose]: leave };
}
