import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Migration, migrations } from '../src/store/migrations.ts';
import { openSqliteStore, type SqliteOptions, type SqliteStore } from '../src/store/sqlite.ts';
import { notes } from './store.contract.ts';

export const schema: readonly Migration[] = [...migrations, { ...notes, id: migrations.length + 1 }];

/** A folder of the test's own, with a store in it that may be opened again and again. */
export interface Ground extends AsyncDisposable {
  close(): Promise<void>;
  readonly directory: string;
  readonly file: string;
  open(options?: Partial<SqliteOptions>): Promise<SqliteStore>;
}

export function newGround(directory: string = mkdtempSync(join(tmpdir(), 'poly-store-'))): Ground {
  const file = join(directory, 'hub.db');
  const opened: SqliteStore[] = [];
  const close = async (): Promise<void> => {
    for (const store of opened) await store.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    directory,
    file,
    open: async (options) => {
      const store = await openSqliteStore({ file, migrations: schema, ...options });
      opened.push(store);
      return store;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
