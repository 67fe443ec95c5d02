import type { PaneId, SessionId, WindowId } from '../operation/target.ts';
import { killSession, listWindows, type NewWindow, newWindow, renameSession } from '../operations/index.ts';
import { Pane } from './pane.ts';
import type { ServerAccess } from './server-access.ts';
import { Window } from './window.ts';

/** A live session. */
export class Session {
  readonly server: ServerAccess;
  readonly id: SessionId;
  readonly #first: { readonly windowId: WindowId; readonly paneId: PaneId } | undefined;

  constructor(
    server: ServerAccess,
    id: SessionId,
    first?: { readonly windowId: WindowId; readonly paneId: PaneId },
  ) {
    this.server = server;
    this.id = id;
    this.#first = first;
  }

  async newWindow(params: Omit<NewWindow, 'target'> = {}): Promise<Window> {
    const { windowId, paneId } = await this.server.run(newWindow({ target: this.id, ...params }));
    return new Window(this.server, windowId, paneId);
  }

  async windows(): Promise<readonly Window[]> {
    return (await this.server.run(listWindows({ target: this.id }))).map(
      (row) => new Window(this.server, row.windowId),
    );
  }

  /** The window it was created with, or its current one. */
  async window(): Promise<Window> {
    if (this.#first) return new Window(this.server, this.#first.windowId, this.#first.paneId);
    const rows = await this.server.run(listWindows({ target: this.id }));
    return new Window(this.server, (rows.find((row) => row.active) ?? rows[0])?.windowId as WindowId);
  }

  /** The pane it was created with, or the active one of its current window. */
  async pane(): Promise<Pane> {
    return this.#first ? new Pane(this.server, this.#first.paneId) : (await this.window()).pane();
  }

  rename(name: string): Promise<unknown> {
    return this.server.run(renameSession({ target: this.id, name }));
  }

  kill(): Promise<unknown> {
    return this.server.run(killSession({ target: this.id }));
  }
}
