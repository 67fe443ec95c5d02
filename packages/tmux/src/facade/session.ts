import type { SessionId, WindowId } from '../operation/target.ts';
import { killSession, listWindows, type NewWindow, newWindow, renameSession } from '../operations/index.ts';
import type { Pane } from './pane.ts';
import type { ServerAccess } from './server-access.ts';
import { Window } from './window.ts';

/**
 * A live session.
 *
 * @example
 * const logs = await session.newWindow({ name: 'logs', select: true });
 * (await session.window()).id === logs.id; // true
 */
export class Session {
  readonly server: ServerAccess;
  readonly id: SessionId;

  constructor(server: ServerAccess, id: SessionId) {
    this.server = server;
    this.id = id;
  }

  async newWindow(params: Omit<NewWindow, 'target'> = {}): Promise<Window> {
    const { windowId } = await this.server.run(newWindow({ target: this.id, ...params }));
    return new Window(this.server, windowId);
  }

  async windows(): Promise<readonly Window[]> {
    return (await this.server.run(listWindows({ target: this.id }))).map(
      (row) => new Window(this.server, row.windowId),
    );
  }

  /** Its current window at this moment. */
  async window(): Promise<Window> {
    const rows = await this.server.run(listWindows({ target: this.id }));
    return new Window(this.server, (rows.find((row) => row.active) ?? rows[0])?.windowId as WindowId);
  }

  /** The active pane of its current window at this moment. */
  async pane(): Promise<Pane> {
    return (await this.window()).pane();
  }

  rename(name: string): Promise<unknown> {
    return this.server.run(renameSession({ target: this.id, name }));
  }

  kill(): Promise<unknown> {
    return this.server.run(killSession({ target: this.id }));
  }
}
