import { isAbsolute } from 'node:path';
import { PolyError, type ServerStatus, serverBackup, serverStatus, serverStop } from '@polyphony/protocol';
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
  registry.register('server', serverBackup, async ({ file }) => {
    if (file === undefined) return rotateBackups(store, { file: database, keep: keptBackups });
    // Where the hub happens to have been started is nobody's folder.
    if (!isAbsolute(file))
      throw new PolyError('invalid_arguments', `"${file}" must be the whole path of a file.`, {
        hint: 'poly backup FILE makes it whole, from the folder you are in.',
      });
    return store.backup(file);
  });
  registry.register('server', serverStop, async ({ all = false }) => {
    if (all) await endAll();
    stop();
    return {};
  });
}
