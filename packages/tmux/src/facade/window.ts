import type { PaneId, WindowId } from '../operation/target.ts';
import {
  killWindow,
  listPanes,
  renameWindow,
  type SplitWindow,
  selectLayout,
  selectWindow,
  splitWindow,
} from '../operations/index.ts';
import { Pane } from './pane.ts';
import type { ServerAccess } from './server-access.ts';

/**
 * A live window.
 *
 * @example
 * await window.split({ direction: 'below' });
 * await window.selectLayout('even-vertical');
 * (await window.panes()).length;
 */
export class Window {
  readonly server: ServerAccess;
  readonly id: WindowId;

  constructor(server: ServerAccess, id: WindowId) {
    this.server = server;
    this.id = id;
  }

  async panes(): Promise<readonly Pane[]> {
    return (await this.server.run(listPanes({ target: this.id }))).map(
      (row) => new Pane(this.server, row.paneId),
    );
  }

  /** Its active pane at this moment. */
  async pane(): Promise<Pane> {
    const rows = await this.server.run(listPanes({ target: this.id }));
    return new Pane(this.server, (rows.find((row) => row.active) ?? rows[0])?.paneId as PaneId);
  }

  /** Splits the active pane. */
  async split(params: Omit<SplitWindow, 'target'> = {}): Promise<Pane> {
    return new Pane(this.server, (await this.server.run(splitWindow({ target: this.id, ...params }))).paneId);
  }

  rename(name: string): Promise<unknown> {
    return this.server.run(renameWindow({ target: this.id, name }));
  }

  select(): Promise<unknown> {
    return this.server.run(selectWindow({ target: this.id }));
  }

  selectLayout(layout: string): Promise<unknown> {
    return this.server.run(selectLayout({ target: this.id, layout }));
  }

  kill(): Promise<unknown> {
    return this.server.run(killWindow({ target: this.id }));
  }
}
