import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestServer } from '../src/testing/index.ts';

/** The process that carries the pipe opened last: the newest `cat` tmux has started. */
export async function pipeWriter(server: TestServer): Promise<number> {
  const asked = ['-n', '-P', String(await server.pid()), '-x', 'cat'];
  for (;;) {
    // It says its first word as a shell, and is not found before it has become cat.
    const found = await promisify(execFile)('pgrep', asked).catch(() => null);
    if (found) return Number(found.stdout);
  }
}
