import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import {
  type ContractInfo,
  type ContractWatchParams,
  foldName,
  isContractName,
  PolyError,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Turns } from '../platform/turns.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import type { Statement, Store } from '../store/store.ts';
import { type ContractRow, findContract, getContract, infoOf, keyOf, listContracts } from './contract-row.ts';
import type { ContractThreads } from './contract-threads.ts';
import type { Change, NextVersion } from './next-version.ts';
import { isBelow, readContractFile } from './read-file.ts';
import { Watches } from './watches.ts';

export interface WatchedFilesOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  /** Who tells what a file says. */
  readonly hub: Source;
  /** What concerns one contract happens one after the other. */
  readonly turns: Turns;
  readonly threads: ContractThreads;
  readonly nextVersion: (row: ContractRow, change: Change) => Promise<NextVersion | undefined>;
  /** Hears that there may be a version somebody is to be told of. */
  readonly onVersion: () => void;
}

const mostWatches = 200;

/** Contracts that are what a file says. */
export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  readonly #watches: Watches;
  #closed = false;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
    this.#watches = new Watches((key) => this.#look(key), options.log);
  }

  /** Looks at every file, also for what has changed since the last hub. */
  async start(): Promise<void> {
    const rows = await this.#options.store.query<ContractRow>(
      'SELECT * FROM contracts WHERE watch IS NOT NULL',
    );
    for (const { key, watch } of rows) this.#watches.add(key, watch as string);
  }

  /** Makes a contract what a file says from now on. */
  async watch(
    holder: Holder,
    project: string,
    params: ContractWatchParams,
    commit: Commit,
  ): Promise<ContractInfo> {
    const { path, root, name } = placeOf(holder, params);
    const { store, clock, turns, threads, nextVersion, onVersion } = this.#options;
    const key = keyOf(project, name);
    await this.#refuseTooMany();
    const info = await turns.take(key, async () => {
      const known = await findContract(store, key);
      const watched: ContractRow = {
        ...{ key, project_key: foldName(project), latest: 0, problem: null, project, name },
        ...known,
        ...{ watch: path, root },
      };
      const kept: Statement = {
        sql: `INSERT INTO contracts (key, project_key, project, name, latest, watch, root, created_at)
          VALUES (?, ?, ?, ?, 0, ?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET watch = excluded.watch, root = excluded.root`,
        values: [key, watched.project_key, watched.project, watched.name, path, root, clock.now()],
      };
      const found = await readContractFile(path, root, threads);
      // One that is not there yet may come; what is something else was not meant.
      if ('problem' in found && (found.problem !== 'it is gone' || known === undefined))
        throw new PolyError('invalid_arguments', `${path} cannot be watched: ${found.problem}.`, {
          hint: 'Name a file with a JSON Schema or an OpenAPI document, as JSON or YAML.',
        });
      // The commit is one, whether there is a version in it or not.
      const next =
        'problem' in found
          ? undefined
          : await nextVersion(watched, {
              ...{ project, name, document: found.document },
              ...{ by: holder.source, author: holder.key },
            });
      const { statements = [], drafts = [] } = next ?? {};
      const result = infoOf(watched, 0);
      await commit({ statements: [kept, ...statements], drafts, result });
      return result;
    });
    this.#watches.add(key, path);
    onVersion();
    const [now = info] = (await listContracts(store, project)).filter((one) => one.name === info.name);
    return now;
  }

  unwatch(project: string, name: string, commit: Commit): Promise<ContractInfo> {
    const { store, turns } = this.#options;
    return turns.take(keyOf(project, name), async () => {
      const row = await getContract(store, project, name);
      const result = infoOf({ ...row, watch: null, problem: null }, 0);
      const statement: Statement = {
        sql: 'UPDATE contracts SET watch = NULL, root = NULL, problem = NULL WHERE key = ?',
        values: [row.key],
      };
      await commit({ statements: [statement], result });
      this.#watches.remove(row.key);
      return result;
    });
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#watches.close();
  }

  /** What a watched file says now; a trouble is told once, and so is its end. */
  #look(key: string): Promise<void> {
    const { store, events, hub, turns, threads, nextVersion, onVersion } = this.#options;
    return turns.take(key, async () => {
      const row = await findContract(store, key);
      if (!row?.watch || !row.root || this.#closed) return;
      const { watch: path, root, name, project } = row;
      const found = await readContractFile(path, root, threads);
      const problem = 'problem' in found ? found.problem : null;
      if (!('problem' in found)) {
        const next = await nextVersion(row, { project, name, document: found.document, by: hub });
        if (next) await events.append(next.drafts, next.statements);
        if (next) onVersion();
      }
      if (problem === row.problem) return;
      const noted = { sql: 'UPDATE contracts SET problem = ? WHERE key = ?', values: [problem, key] };
      const told =
        problem === null
          ? draft(hub, 'contract:mended', { name, project, path })
          : draft(hub, 'contract:trouble', { name, project, path, problem });
      await events.append([told], [noted]);
    });
  }

  async #refuseTooMany(): Promise<void> {
    const [row] = await this.#options.store.query<{ readonly count: number }>(
      'SELECT count(*) AS count FROM contracts WHERE watch IS NOT NULL',
    );
    if ((row?.count ?? 0) < mostWatches) return;
    throw new PolyError('too_many_requests', `${mostWatches} files are watched already.`, {
      hint: 'Leave one alone first: poly contract unwatch NAME.',
    });
  }
}

/** Which file is meant, below which folder it must be, and what it is called. */
function placeOf(holder: Holder, { path: given, name, project_dir }: ContractWatchParams) {
  const folder = holder.folder ?? project_dir;
  if (!isAbsolute(given) && folder === undefined)
    throw new PolyError(
      'invalid_arguments',
      `"${given}" must be an absolute path: it is not known where you work.`,
    );
  const path = resolve(folder ?? '/', given);
  if (!holder.isUser && (holder.reach === undefined || !isBelow(path, holder.reach)))
    throw new PolyError('forbidden', `${path} is not in the folder you work in.`, {
      hint: 'The user can watch any file: poly contract watch FILE.',
    });
  const base = [project_dir, holder.folder].find((one) => one !== undefined && isBelow(path, one));
  const root = holder.isUser ? (base ?? dirname(path)) : (holder.reach ?? '/');
  const called = name ?? (base ? relative(base, path) : basename(path));
  if (!isContractName(called))
    throw new PolyError('invalid_arguments', `no contract can be called ${JSON.stringify(called)}.`, {
      hint: 'Give it a name of 1-200 letters, digits, ".", "_", "-", "/" or spaces.',
    });
  return { path, root, name: called };
}
