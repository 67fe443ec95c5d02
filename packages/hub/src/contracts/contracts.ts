import {
  type ContractAckParams,
  type ContractAckResult,
  type ContractDiffParams,
  type ContractDiffResult,
  type ContractGetParams,
  type ContractGetResult,
  type ContractHistoryResult,
  type ContractInfo,
  type ContractRegisterResult,
  type ContractSubscribeParams,
  type ContractSubscribeResult,
  PolyError,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import { Turns } from '../platform/turns.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import type { Statement } from '../store/store.ts';
import {
  type ContractRow,
  documentOf,
  findContract,
  getContract,
  getVersion,
  infoOf,
  keyOf,
  listContracts,
} from './contract-row.ts';
import { ContractThreads } from './contract-threads.ts';
import { historyOf } from './history.ts';
import { type Change, type NextVersion, type NextVersionOptions, nextVersion } from './next-version.ts';
import { Notices, type NoticesOptions } from './notices.ts';
import { WatchedFiles } from './watched-files.ts';

export interface ContractsOptions extends NoticesOptions, Omit<NextVersionOptions, 'threads'> {
  readonly events: EventLog;
  /** Who tells what a file says. */
  readonly hub: Source;
  /** What is written when somebody knows a version, and which of his tasks are built on it from then on. */
  readonly rebuild: (
    contract: string,
    version: number,
    holder: Holder,
    task: string | undefined,
  ) => Promise<{ readonly statements: readonly Statement[]; readonly tasks: readonly string[] }>;
}

/** Contracts and their versions. What concerns one contract happens one after the other. */
export class Contracts {
  readonly notices: Notices;
  readonly files: WatchedFiles;
  readonly #options: ContractsOptions;
  readonly #turns = new Turns();
  readonly #threads = new ContractThreads();

  constructor(options: ContractsOptions) {
    this.#options = options;
    this.notices = new Notices(options);
    this.files = new WatchedFiles({
      ...options,
      ...{ turns: this.#turns, threads: this.#threads },
      nextVersion: (row, change) => this.#nextVersion(row, change),
      onVersion: () => this.notices.tellAll(),
    });
  }

  /** Looks at every file that is watched, and tells what was not told. */
  async start(): Promise<void> {
    await this.files.start();
    this.notices.tellAll();
  }

  /** Writes the next version with everything that follows from it, or finds that there is none. */
  register(change: Change, commit: Commit): Promise<ContractRegisterResult> {
    const key = keyOf(change.project, change.name);
    return this.#turns.take(key, async () => {
      const row = await findContract(this.#options.store, key);
      if (row?.watch)
        throw new PolyError('conflict', `"${row.name}" is what the file ${row.watch} says.`, {
          hint: `Change the file, or run poly contract unwatch ${row.name} first.`,
        });
      const next = await this.#nextVersion(row, change);
      const { name, project } = row ?? change;
      if (!next) return { name, project, version: row?.latest ?? 0, changed: false };
      const { version, diff, statements, drafts } = next;
      const result: ContractRegisterResult = { name, project, version, changed: true, ...(diff && { diff }) };
      await commit({ statements, drafts, result });
      this.notices.tellAll();
      return result;
    });
  }

  async get(project: string, { name, version }: ContractGetParams): Promise<ContractGetResult> {
    const { store } = this.#options;
    const row = await getContract(store, project, name);
    const found = await getVersion(store, row, version);
    return {
      ...{ name: row.name, project: row.project, version: found.version, latest: row.latest },
      format: found.format,
      schema: documentOf(found).value,
      ...(found.note !== null && { note: found.note }),
      registered_by: found.registered_by,
      registered_at: new Date(found.registered_at).toISOString(),
      ...(row.watch !== null && { watch: row.watch }),
      ...(row.problem !== null && { problem: row.problem }),
    };
  }

  async diff(
    project: string,
    { name, from_version, to_version }: ContractDiffParams,
  ): Promise<ContractDiffResult> {
    const { store } = this.#options;
    const row = await getContract(store, project, name);
    const [from, to] = [await getVersion(store, row, from_version), await getVersion(store, row, to_version)];
    const diff = await this.#threads.diff(documentOf(from), documentOf(to));
    return { name: row.name, from_version, to_version, ...diff };
  }

  list(project: string | undefined): Promise<readonly ContractInfo[]> {
    return listContracts(this.#options.store, project);
  }

  async history(project: string, name: string): Promise<ContractHistoryResult> {
    const { store } = this.#options;
    const row = await getContract(store, project, name);
    const info = (await this.list(row.project)).find((one) => one.name === row.name) ?? infoOf(row, 0);
    return { ...info, ...(await historyOf(store, row.key)) };
  }

  async subscribe(
    holder: Holder,
    project: string,
    { name, unsubscribe }: ContractSubscribeParams,
    commit: Commit,
  ): Promise<ContractSubscribeResult> {
    const key = keyOf(project, name);
    return this.#turns.take(key, async () => {
      const row = await findContract(this.#options.store, key);
      const result: ContractSubscribeResult = {
        ok: true,
        name,
        project,
        current_version: row?.latest || null,
      };
      const statement: Statement = unsubscribe
        ? {
            sql: 'DELETE FROM contract_subscriptions WHERE contract = ? AND subscriber = ?',
            values: [key, holder.key],
          }
        : {
            sql: `INSERT INTO contract_subscriptions (contract, subscriber, participant) VALUES (?, ?, ?)
              ON CONFLICT (contract, subscriber) DO UPDATE SET participant = excluded.participant`,
            values: [key, holder.key, holder.participant],
          };
      await commit({ statements: [statement], result });
      return result;
    });
  }

  acknowledge(
    holder: Holder,
    project: string,
    params: ContractAckParams,
    commit: Commit,
  ): Promise<ContractAckResult> {
    return this.#turns.take(keyOf(project, params.name), async () => {
      const { store, clock, rebuild } = this.#options;
      const row = await getContract(store, project, params.name);
      const { version } = await getVersion(store, row, params.version);
      const { statements, tasks } = await rebuild(row.key, version, holder, params.task_id);
      const known = await this.notices.acknowledged(holder, row.key, version, clock.now());
      const { name } = row;
      const result: ContractAckResult = { ok: true, name, version, acknowledged: known.length, tasks };
      const told = { name, project: row.project, version, tasks };
      const drafts = [draft(holder.source, 'contract:acknowledged', told)];
      await commit({ statements: [...statements, ...known], drafts, result });
      return result;
    });
  }

  /** Finds contracts and keeps them as they are while something is done that builds on them. */
  async hold<T>(
    project: string,
    wanted: readonly { readonly name: string; readonly version?: number | undefined }[],
    work: (
      found: readonly {
        readonly contract: string;
        readonly name: string;
        readonly version: number;
        readonly current: number;
      }[],
    ) => Promise<T>,
  ): Promise<T> {
    const byKey = new Map(wanted.map((one) => [keyOf(project, one.name), one]));
    // In one order for all, so that nobody waits for somebody who waits for him.
    const keys = [...byKey.keys()].sort();
    const inTurn = (left: readonly string[], then: () => Promise<T>): Promise<T> => {
      const [key, ...others] = left;
      return key === undefined ? then() : this.#turns.take(key, () => inTurn(others, then));
    };
    return inTurn(keys, async () => {
      const { store } = this.#options;
      const found = await Promise.all(
        [...byKey].map(async ([key, { name, version }]) => {
          const row = await getContract(store, project, name);
          const built = await getVersion(store, row, version);
          return { contract: key, name: row.name, version: built.version, current: row.latest };
        }),
      );
      return work(found);
    });
  }

  async close(): Promise<void> {
    this.#threads.close();
    await this.files.close();
    await this.notices.close();
  }

  #nextVersion(row: ContractRow | undefined, change: Change): Promise<NextVersion | undefined> {
    return nextVersion({ ...this.#options, threads: this.#threads }, row, change);
  }
}
