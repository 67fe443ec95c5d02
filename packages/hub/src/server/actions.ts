import { type ServerStatus, serverBackup, serverStatus, serverStop } from '@polyphony/protocol';
import type { Registry } from '../registry/registry.ts';
import { rotateBackups } from '../store/backup.ts';
import type { Store } from '../store/store.ts';
import { keptBackups } from './housekeeping.ts';

export interface ServerOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly database: string;
  readonly status: () => Promise<ServerStatus>;
  /** Ends every pane, the tmux session and the host. */
  readonly endAll: () => Promise<void>;
  /** Begins to stop the hub; the answer to the request still goes out. */
  readonly stop: () => void;
}

export function registerServerActions({
  registry,
  store,
  database,
  status,
  endAll,
  stop,
}: ServerOptions): void {
  registry.register('server', serverStatus, status);
  registry.register('server', serverBackup, ({ file }) =>
    file === undefined ? rotateBackups(store, { file: database, keep: keptBackups }) : store.backup(file),
  );
  registry.register('server', serverStop, async ({ all = false }) => {
    if (all) await endAll();
    stop();
    return {};
  });
}
