import * as z from 'zod';
import type { ConnectionOptions } from '../engine.ts';
import { createEngine, type EngineName } from '../engines/index.ts';
import { TmuxError } from '../errors.ts';
import { Events, type EventsOptions } from '../events/events.ts';
import { readGiven } from '../operation/given.ts';
import {
  type PaneId,
  paneIdSchema,
  type SessionId,
  sessionIdSchema,
  type WindowId,
  windowIdSchema,
} from '../operation/target.ts';
import {
  displayMessage,
  killServer,
  listClients,
  listPanes,
  listSessions,
  listWindows,
  type NewSession,
  newSession,
} from '../operations/index.ts';
import type { ServerSnapshot } from '../snapshot/snapshot.ts';
import { takeSnapshot } from '../snapshot/take-snapshot.ts';
import { type RunAndWaitOptions, runAndWait } from '../wait/run-and-wait.ts';
import type { WaitResult } from '../wait/wait-for-output.ts';
import { Client } from './client.ts';
import { Pane } from './pane.ts';
import { ServerAccess } from './server-access.ts';
import { Session } from './session.ts';
import { Window } from './window.ts';

/** Where in tmux a process runs. */
export interface Here {
  readonly session: Session;
  readonly window: Window;
  readonly pane: Pane;
}

/**
 * A tmux server, and from it live handles on everything it holds. Handles name things by id, so that they keep
 * meaning the same thing; what tmux refuses is thrown as TmuxError.
 *
 * @example
 * await using server = Server.connect({ socketName: 'work' });
 * const session = await server.newSession({ name: 'build' });
 */
export class Server extends ServerAccess implements AsyncDisposable {
  /** Nothing is started or opened before it is used. */
  static connect(connection: ConnectionOptions = {}, engine: EngineName = 'control'): Server {
    return new Server(createEngine(engine, connection), connection);
  }

  /** Starts in this process's folder unless told, whichever engine carries it. */
  async newSession(params: NewSession = {}): Promise<Session> {
    const operation = newSession({ startDirectory: process.cwd(), ...params });
    return new Session(this, (await this.run(operation)).sessionId);
  }

  async sessions(): Promise<readonly Session[]> {
    return (await this.run(listSessions())).map((row) => new Session(this, row.sessionId));
  }

  /** The session of exactly this name, or null: the name it was given, or the one tmux lists. */
  async session(name: string): Promise<Session | null> {
    readGiven(z.string().min(1), name, 'The name of a session');
    const rows = await this.run(listSessions());
    // tmux stores a backslash as two; 3.3a also puts one before a dollar.
    const given = (row: { readonly sessionName: string }): string =>
      row.sessionName.replace(/\\([\\$])/g, '$1');
    const found = rows.find((row) => given(row) === name) ?? rows.find((row) => row.sessionName === name);
    return found ? new Session(this, found.sessionId) : null;
  }

  /** Every window once, however many sessions show it. */
  async windows(): Promise<readonly Window[]> {
    const ids = (await this.run(listWindows({ all: true }))).map((row) => row.windowId);
    return [...new Set(ids)].map((id) => new Window(this, id));
  }

  /** Every pane once, however many sessions show its window. */
  async panes(): Promise<readonly Pane[]> {
    const ids = (await this.run(listPanes({ all: true }))).map((row) => row.paneId);
    return [...new Set(ids)].map((id) => new Pane(this, id));
  }

  /**
   * The live handle on what an id names, such as that of a row of a snapshot; tmux is not asked whether it is there.
   *
   * @example
   * const [first] = panesOf(await server.snapshot());
   * if (first) await server.handle(first.id).sendText('hello');
   */
  handle(id: PaneId): Pane;
  handle(id: WindowId): Window;
  handle(id: SessionId): Session;
  handle(id: PaneId | WindowId | SessionId): Pane | Window | Session {
    if (paneIdSchema.safeParse(id).success) return new Pane(this, id as PaneId);
    if (windowIdSchema.safeParse(id).success) return new Window(this, id as WindowId);
    if (sessionIdSchema.safeParse(id).success) return new Session(this, id as SessionId);
    const message = `${JSON.stringify(id)} is no id: give that of a pane (%1), a window (@1) or a session ($1).`;
    throw new TmuxError('invalid_parameters', message, { id });
  }

  /**
   * The pane this process runs in, with its window and session; null outside tmux, and in another server than this.
   *
   * @example
   * const here = await server.current();
   * await here?.pane.split({ direction: 'right' });
   */
  async current(env: NodeJS.ProcessEnv = process.env): Promise<Here | null> {
    const target = paneIdSchema.safeParse(env.TMUX_PANE).data;
    // The path of the socket may itself hold a comma.
    const [, serverPid] = /,(\d+),\d+$/.exec(env.TMUX ?? '') ?? [];
    if (target === undefined || serverPid === undefined) return null;
    const message = '#{pid} #{pane_id} #{window_id} #{session_id}';
    const [pid, pane, window, session] = (await this.run(displayMessage({ target, message }))).text.split(
      ' ',
    );
    if (pid !== serverPid || pane !== target) return null;
    return {
      session: new Session(this, session as SessionId),
      window: new Window(this, window as WindowId),
      pane: new Pane(this, target),
    };
  }

  async clients(): Promise<readonly Client[]> {
    return (await this.run(listClients())).map((row) => new Client(this, row.name));
  }

  snapshot(): Promise<ServerSnapshot> {
    return takeSnapshot(this.engine);
  }

  async events(options?: EventsOptions): Promise<Events> {
    // Its connection would be one to the user's own server.
    if (this.engine.name === 'memory')
      throw new TmuxError('invalid_parameters', 'A server in memory has no events.');
    return Events.open(this.connection, options);
  }

  /** Runs a shell command in a window of its own and waits for its end. */
  runAndWait(command: string, options: RunAndWaitOptions): Promise<WaitResult> {
    return runAndWait(this, command, options);
  }

  /** Ends the server and everything in it. */
  async kill(): Promise<void> {
    await this.run(killServer());
  }

  /** Lets go of the server; it and all its sessions live on. */
  close(): Promise<void> {
    return this.engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
