import type { Engine } from '../engine.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

/**
 * A test server with something on it, which the examples of all operations run on: session `demo` with the windows
 * `editor` (two panes) and `logs`, session `other` with `main` and `spare`, and a buffer `note`.
 *
 * @example
 * await using demo = await demoServer();
 * await execute(demo.engine(), killWindow({ target: exact('demo', 'logs') }));
 */
export async function demoServer(options?: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer(options);
  try {
    await fillDemo(server.engine('subprocess'));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/**
 * Makes the demo on a server, anew if it was there; sessions of other names go.
 *
 * @example await fillDemo(createEngine('memory'))
 */
export async function fillDemo(engine: Engine): Promise<void> {
  const made = await engine.runChain(
    [
      ['new-session', '-d', '-s', 'making-demo'],
      ['kill-session', '-a', '-t', '=making-demo:'],
      ['new-session', '-d', '-s', 'demo', '-n', 'editor', '-x', '80', '-y', '24'],
      ['split-window', '-d', '-t', '=demo:0.0'],
      ['new-window', '-d', '-t', '=demo:1', '-n', 'logs'],
      // There and back, so that there is a last pane and a last window.
      ['select-pane', '-t', '=demo:0.1'],
      ['select-pane', '-t', '=demo:0.0'],
      ['select-window', '-t', '=demo:1'],
      ['select-window', '-t', '=demo:0'],
      ['new-session', '-d', '-s', 'other', '-n', 'main', '-x', '80', '-y', '24'],
      ['new-window', '-d', '-t', '=other:1', '-n', 'spare'],
      ['set-buffer', '-b', 'note', 'hello'],
      ['kill-session', '-t', '=making-demo:'],
    ].map((argv) => ({ argv })),
  );
  const failed = made.find((reply) => reply.status !== 'complete');
  if (failed) throw new Error(`The demo could not be made: ${failed.stderr}`);
}
