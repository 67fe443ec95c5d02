import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, execute } from '../src/engine.ts';
import type { EngineName } from '../src/engines/index.ts';
import type { PaneId, SessionId, WindowId } from '../src/operation/target.ts';
import { capturePane } from '../src/operations/capture-pane.ts';
import { displayMessage } from '../src/operations/display-message.ts';
import type { SessionSnapshot } from '../src/snapshot/snapshot.ts';
import { takeSnapshot } from '../src/snapshot/take-snapshot.ts';
import { startTestServer, type TestServer } from '../src/testing/index.ts';
import {
  type LoadedWorkspace,
  type LoadOptions,
  loadWorkspace,
  type WorkspaceSource,
} from '../src/workspace/index.ts';

/** The path of one of the workspace files beside the tests. */
export function fixture(name: string): string {
  return join(dirname(fileURLToPath(import.meta.url)), 'workspace', name);
}

/** A server to load workspaces into, with a folder of its own that `$WORK` names. */
export interface WorkspaceServer extends TestServer {
  readonly work: string;
  readonly carrier: Engine;
  load(source: WorkspaceSource, options?: LoadOptions): Promise<LoadedWorkspace>;
  session(name: string): Promise<SessionSnapshot>;
  names(): Promise<readonly string[]>;
  /** A format of tmux, about one object. */
  ask(target: PaneId | WindowId | SessionId, format: string): Promise<string>;
  screen(pane: PaneId): Promise<string>;
  /** A file of the folder, or null while there is none. */
  file(name: string): Promise<string | null>;
}

export async function workspaceServer(
  tmux: string,
  engine: EngineName = 'control',
): Promise<WorkspaceServer> {
  // Shells read no start-up file there, whose commands would show up as those of the panes.
  const server = await startTestServer({ tmux, env: { ...process.env, HOME: '/' } });
  const carrier = server.engine(engine);
  const work = join(server.directory, 'work');
  await mkdir(work);
  const env = { ...process.env, SHELL: '/bin/sh', WORK: work, WHO: 'ann' };
  return Object.assign(server, {
    work,
    carrier,
    load: (source: WorkspaceSource, options: LoadOptions = {}) =>
      loadWorkspace(carrier, source, { env, home: work, cwd: work, ...options }),
    session: async (name: string) => {
      const found = (await takeSnapshot(carrier)).sessions.find((session) => session.name === name);
      if (!found) throw new Error(`There is no session ${name}.`);
      return found;
    },
    names: async () => (await takeSnapshot(carrier)).sessions.map((session) => session.name),
    ask: async (target: PaneId | WindowId | SessionId, message: string) =>
      (await execute(carrier, displayMessage({ target, message }))).unwrap().text,
    screen: async (target: PaneId) =>
      (await execute(carrier, capturePane({ target }))).unwrap().lines.join('\n').trimEnd(),
    file: (name: string) => readFile(join(work, name), 'utf8').catch(() => null),
  });
}
