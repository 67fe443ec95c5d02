import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestServer } from '../src/testing/index.ts';

/** The process that carries the pipe opened last: the newest `cat` tmux has started. */
export async function pipeWriter(server: TestServer): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', [
    '-n',
    '-P',
    String(await server.pid()),
    '-x',
    'cat',
  ]);
  return Number(stdout);
}
