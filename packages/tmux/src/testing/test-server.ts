import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions, Engine } from '../engine.ts';
import { createEngine, type EngineName } from '../engines/index.ts';
import { SubprocessEngine } from '../engines/subprocess.ts';
import { isAlive } from './is-alive.ts';

export interface TestServerOptions {
  /** The tmux program; default the one on PATH. */
  readonly tmux?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A tmux server of a test's own: private socket, no configuration, gone afterwards. */
export interface TestServer extends AsyncDisposable {
  readonly connection: ConnectionOptions;
  /** A private folder, removed with the server. */
  readonly directory: string;
  /** An engine on this server, closed with it. */
  engine(name?: EngineName): Engine;
  /** The server's process, or null while none runs. */
  pid(): Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * Prepares a server; the first new_session starts it. It ends with `stop()`, at the end of an `await using` block,
 * and even when this process is killed: a shell that waits for our end kills it then.
 *
 * @example
 * await using temporary = await startTestServer();
 * const server = new Server(temporary.engine(), temporary.connection);
 * await server.newSession({ name: 'mine' });
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'poly-tmux-'));
  const socketPath = join(directory, 's');
  const tmux = options.tmux ?? 'tmux';
  const env: NodeJS.ProcessEnv = { ...(options.env ?? process.env), SHELL: '/bin/sh' };
  const connection: ConnectionOptions = { socketPath, configFile: '/dev/null', tmux, env };
  const engines: Engine[] = [];
  const processes = new SubprocessEngine(connection);
  const undertaker = spawn(
    'sh',
    [
      '-c',
      'cat >/dev/null; "$1" -S "$2" kill-server 2>/dev/null; rm -rf "$3"',
      'sh',
      tmux,
      socketPath,
      directory,
    ],
    { stdio: ['pipe', 'ignore', 'ignore'], detached: true },
  );
  undertaker.unref();

  const pid = async (): Promise<number | null> => {
    const reply = await processes.run({ argv: ['display-message', '-p', '#{pid}'], effect: 'read' });
    return reply.status === 'complete' ? Number(reply.stdout) : null;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(engines.map((engine) => engine.close()));
    const server = await pid();
    if (server !== null) await processes.run({ argv: ['kill-server'] });
    while (server !== null && (await isAlive(server))) await new Promise((resolve) => setTimeout(resolve, 5));
    if (undertaker.exitCode === null) {
      undertaker.ref();
      undertaker.stdin.end();
      await once(undertaker, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  return {
    connection,
    directory,
    engine: (name = 'control') => {
      const engine = createEngine(name, connection);
      engines.push(engine);
      return engine;
    },
    pid,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
