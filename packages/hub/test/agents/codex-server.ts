import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { until } from '../test-hub.ts';
import type { AgentHome } from './agent-home.ts';
import { installAgent } from './installed-agents.ts';

/** A real app-server of Codex, to which terminals attach with `--remote`. */
export class CodexServer {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#process = child;
  }

  static async start({ env }: AgentHome): Promise<CodexServer> {
    const port = await freePort();
    const url = `ws://127.0.0.1:${port}`;
    const child = spawn(await installAgent('codex'), ['app-server', '--listen', url], {
      ...{ cwd: env.HOME, env, stdio: 'ignore' },
      // Its launcher leaves it behind.
      detached: true,
    });
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`codex app-server ended with ${child.exitCode}`);
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    return new CodexServer(url, child);
  }

  async close(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, 'SIGKILL');
    await once(this.#process, 'exit');
  }
}

/** It does not say which port it took, if it is left to it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
