import type { ConnectionOptions } from '../engine.ts';
import { createEngine, type EngineName } from '../engines/index.ts';
import { TmuxError } from '../errors.ts';
import { Events, type EventsOptions } from '../events/events.ts';
import { killServer, listClients, listSessions, type NewSession, newSession } from '../operations/index.ts';
import type { ServerSnapshot } from '../snapshot/snapshot.ts';
import { takeSnapshot } from '../snapshot/take-snapshot.ts';
import { type RunAndWaitOptions, runAndWait } from '../wait/run-and-wait.ts';
import type { WaitResult } from '../wait/wait-for-output.ts';
import { Client } from './client.ts';
import { ServerAccess } from './server-access.ts';
import { Session } from './session.ts';

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
    const { sessionId, windowId, paneId } = await this.run(operation);
    return new Session(this, sessionId, { windowId, paneId });
  }

  async sessions(): Promise<readonly Session[]> {
    return (await this.run(listSessions())).map((row) => new Session(this, row.sessionId));
  }

  /** The session of exactly this name, or null: the name it was given, or the one tmux lists. */
  async session(name: string): Promise<Session | null> {
    const rows = await this.run(listSessions());
    // tmux stores a backslash as two; 3.3a also puts one before a dollar.
    const given = (row: { readonly sessionName: string }): string =>
      row.sessionName.replace(/\\([\\$])/g, '$1');
    const found = rows.find((row) => given(row) === name) ?? rows.find((row) => row.sessionName === name);
    return found ? new Session(this, found.sessionId) : null;
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
