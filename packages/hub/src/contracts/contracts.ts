import { createHash } from 'node:crypto';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import {
  type ContractAckParams,
  type ContractAckResult,
  type ContractDiffParams,
  type ContractDiffResult,
  type ContractGetParams,
  type ContractGetResult,
  type ContractHistoryResult,
  type ContractInfo,
  type ContractPendingParams,
  type ContractPendingResult,
  type ContractRegisterResult,
  type ContractSubscribeParams,
  type ContractSubscribeResult,
  type ContractWatchParams,
  foldName,
  PolyError,
} from '@polyphony/protocol';
import { type Draft, draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import type { Holder } from '../registry/holder.ts';
import type { Step } from '../registry/registry.ts';
import type { Committed, Statement, Store } from '../store/store.ts';
import {
  type ContractRow,
  documentOf,
  findContract,
  getContract,
  getVersion,
  infoOf,
  keyOf,
  type Notice,
  noticesOf,
} from './contract-row.ts';
import { diffContracts } from './diff/diff-contracts.ts';
import type { ContractDocument } from './document.ts';
import { historyOf } from './history.ts';
import { canonical } from './json.ts';
import { isBelow, readContractFile } from './read-file.ts';
import { Watches } from './watches.ts';

type Commit = (step: Step) => Promise<Committed>;

/** Those who build on contracts without having to say so: what they write with a new version, and who they are. */
interface Dependents {
  changed(
    contract: string,
    version: number,
  ): Promise<{
    readonly statements: readonly Statement[];
    readonly drafts: readonly Draft[];
    readonly holders: readonly { readonly key: string; readonly participant: string }[];
  }>;
  acknowledged(
    contract: string,
    version: number,
    holder: Holder,
    task: string | undefined,
  ): Promise<{ readonly statements: readonly Statement[]; readonly tasks: readonly string[] }>;
}

export interface ContractsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  /** Who tells what a file says. */
  readonly hub: Source;
  readonly dependents: Dependents;
  /** Writes to whoever is to hear of a version, in one step with the note that it was written. */
  readonly write: (notice: Notice, written: Statement) => Promise<void>;
}

/** A version that is to be written. */
interface Change {
  readonly project: string;
  readonly name: string;
  readonly document: ContractDocument;
  readonly note?: string | undefined;
  readonly by: Source;
  /** Who made it, and so need not be told. */
  readonly author?: string | undefined;
}

const toldChanges = 50;
const mostWatches = 200;

/** Contracts and their versions. What concerns one contract happens one after the other. */
export class Contracts {
  readonly #options: ContractsOptions;
  readonly #turns = new Turns();
  readonly #watches: Watches;
  #telling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ContractsOptions) {
    this.#options = options;
    this.#watches = new Watches((key) => this.#look(key), options.log);
  }

  /** Looks at every file that is watched, also for what has changed since the last hub, and tells what was not told. */
  async start(): Promise<void> {
    const rows = await this.#options.store.query<ContractRow>(
      'SELECT * FROM contracts WHERE watch IS NOT NULL',
    );
    for (const { key, watch } of rows) this.#watches.add(key, watch as string);
    this.#tellAll();
  }

  register(change: Change, commit: Commit): Promise<ContractRegisterResult> {
    const key = keyOf(change.project, change.name);
    return this.#turns.take(key, async () => {
      const row = await findContract(this.#options.store, key);
      if (row?.watch)
        throw new PolyError('conflict', `"${row.name}" is what the file ${row.watch} says.`, {
          hint: `Change the file, or run poly contract unwatch ${row.name} first.`,
        });
      return this.#version(row, change, commit);
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
    return { name: row.name, from_version, to_version, ...diffContracts(documentOf(from), documentOf(to)) };
  }

  async list(project: string | undefined): Promise<readonly ContractInfo[]> {
    const { store } = this.#options;
    const rows = await store.query<
      ContractRow & { readonly format: ContractDocument['format']; readonly count: number }
    >(
      `SELECT c.*, v.format AS format,
        (SELECT count(*) FROM contract_subscriptions s WHERE s.contract = c.key) AS count
        FROM contracts c LEFT JOIN contract_versions v ON v.contract = c.key AND v.version = c.latest
        WHERE ${project === undefined ? '1 = 1' : 'c.project_key = ?'} ORDER BY c.project_key, c.name LIMIT 1000`,
      project === undefined ? [] : [foldName(project)],
    );
    return rows.map((row) => infoOf(row, row.count, row.format ?? undefined));
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

  async pending(
    holder: Holder,
    { since_event_id: since, limit = 100 }: ContractPendingParams,
  ): Promise<ContractPendingResult> {
    const marks = holder.keys.map(() => '?').join(', ');
    const which = since === undefined ? 'n.acknowledged_at IS NULL' : 'n.id > ?';
    const found = await noticesOf(
      this.#options.store,
      `n.recipient IN (${marks}) AND ${which} ORDER BY n.id LIMIT ?`,
      [...holder.keys, ...(since === undefined ? [] : [since]), limit + 1],
    );
    const events = found.slice(0, limit).map(({ recipient: _, ...notice }) => notice);
    return { events, has_more: found.length > limit, last_event_id: events.at(-1)?.event_id ?? since ?? 0 };
  }

  acknowledge(
    holder: Holder,
    project: string,
    params: ContractAckParams,
    commit: Commit,
  ): Promise<ContractAckResult> {
    return this.#turns.take(keyOf(project, params.name), async () => {
      const { store, clock, dependents } = this.#options;
      const row = await getContract(store, project, params.name);
      const { version } = await getVersion(store, row, params.version);
      const { statements, tasks } = await dependents.acknowledged(row.key, version, holder, params.task_id);
      const waiting = await noticesOf(
        store,
        `n.contract = ? AND n.version <= ? AND n.acknowledged_at IS NULL AND n.recipient IN (${holder.keys.map(() => '?').join(', ')})`,
        [row.key, version, ...holder.keys],
      );
      const known = waiting.map(({ event_id }) => ({
        sql: 'UPDATE contract_notices SET acknowledged_at = ? WHERE id = ?',
        values: [clock.now(), event_id],
      }));
      const result: ContractAckResult = {
        ok: true,
        name: row.name,
        version,
        acknowledged: known.length,
        tasks,
      };
      const told = { name: row.name, project: row.project, version, tasks };
      const drafts = [draft(holder.source, 'contract:acknowledged', told)];
      await commit({ statements: [...statements, ...known], drafts, result });
      return result;
    });
  }

  async watch(
    holder: Holder,
    project: string,
    params: ContractWatchParams,
    commit: Commit,
  ): Promise<ContractInfo> {
    const { path, root, name } = placeOf(holder, params);
    const { store, clock } = this.#options;
    const key = keyOf(project, name);
    await this.#refuseTooMany();
    const info = await this.#turns.take(key, async () => {
      const row = await findContract(store, key);
      const watched: ContractRow = {
        ...{ key, project_key: foldName(project), latest: 0, problem: null },
        ...{ project: row?.project ?? project, name: row?.name ?? name },
        ...row,
        ...{ watch: path, root },
      };
      const kept: Statement = {
        sql: `INSERT INTO contracts (key, project_key, project, name, latest, watch, root, created_at)
          VALUES (?, ?, ?, ?, 0, ?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET watch = excluded.watch, root = excluded.root`,
        values: [key, watched.project_key, watched.project, watched.name, path, root, clock.now()],
      };
      const found = await readContractFile(path, root);
      if ('problem' in found) {
        // One that is not there yet may come; what is something else was not meant.
        if (found.problem !== 'it is gone' || row === undefined)
          throw new PolyError('invalid_arguments', `${path} cannot be watched: ${found.problem}.`, {
            hint: 'Name a file with a JSON Schema or an OpenAPI document, as JSON or YAML.',
          });
      }
      const result = infoOf(watched, 0);
      if ('problem' in found) await commit({ statements: [kept], result });
      else {
        const change: Change = {
          project,
          name,
          document: found.document,
          by: holder.source,
          author: holder.key,
        };
        // The commit is one, whether there is a version in it or not.
        const step = await this.#stepOf(watched, change);
        await commit({ statements: [kept, ...(step?.statements ?? [])], drafts: step?.drafts ?? [], result });
      }
      return result;
    });
    this.#watches.add(key, path);
    this.#tellAll();
    const [now = info] = (await this.list(project)).filter((one) => one.name === info.name);
    return now;
  }

  unwatch(project: string, name: string, commit: Commit): Promise<ContractInfo> {
    return this.#turns.take(keyOf(project, name), async () => {
      const row = await getContract(this.#options.store, project, name);
      const result = infoOf({ ...row, watch: null, problem: null }, 0);
      await commit({
        statements: [
          {
            sql: 'UPDATE contracts SET watch = NULL, root = NULL, problem = NULL WHERE key = ?',
            values: [row.key],
          },
        ],
        result,
      });
      this.#watches.remove(row.key);
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
    this.#closed = true;
    await this.#watches.close();
    await this.#telling;
  }

  /** Writes the next version with everything that follows from it, or finds that there is none. */
  async #version(
    row: ContractRow | undefined,
    change: Change,
    commit: Commit,
  ): Promise<ContractRegisterResult> {
    const step = await this.#stepOf(row, change);
    const { name, project } = row ?? change;
    if (!step) return { name, project, version: row?.latest ?? 0, changed: false };
    const { version, diff, statements, drafts } = step;
    const result: ContractRegisterResult = { name, project, version, changed: true, ...(diff && { diff }) };
    await commit({ statements, drafts, result });
    this.#tellAll();
    return result;
  }

  async #stepOf(row: ContractRow | undefined, change: Change) {
    const { store, clock, dependents } = this.#options;
    const { document, by } = change;
    const key = keyOf(change.project, change.name);
    const latest = row?.latest ?? 0;
    const before = row && latest > 0 ? await getVersion(store, row) : undefined;
    const digest = createHash('sha256')
      .update(`${document.format}\n${canonical(document.value)}`)
      .digest('hex');
    if (before?.digest === digest) return undefined;
    const version = latest + 1;
    const diff = before ? diffContracts(documentOf(before), document) : undefined;
    const built = await dependents.changed(key, version);
    const subscribed = await store.query<{ readonly subscriber: string; readonly participant: string }>(
      'SELECT subscriber, participant FROM contract_subscriptions WHERE contract = ?',
      [key],
    );
    const recipients = new Map<string, { readonly reason: Notice['reason']; readonly participant: string }>([
      ...subscribed
        .filter(({ subscriber }) => subscriber !== change.author)
        .map((one) => [one.subscriber, { reason: 'subscribed', participant: one.participant }] as const),
      ...built.holders.map((one) => [one.key, { reason: 'task', participant: one.participant }] as const),
    ]);
    const now = clock.now();
    const { name, project } = row ?? change;
    const changes = [...(diff?.added ?? []), ...(diff?.removed ?? []), ...(diff?.changed ?? [])];
    return {
      ...{ version, diff },
      statements: [
        {
          sql: `INSERT INTO contracts (key, project_key, project, name, latest, created_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET latest = excluded.latest, problem = NULL`,
          values: [key, foldName(project), project, name, version, now],
        },
        {
          sql: `INSERT INTO contract_versions
            (contract, version, format, document, digest, diff, breaking, note, registered_by, registered_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          values: [
            ...[key, version, document.format, JSON.stringify(document.value), digest],
            ...[diff ? JSON.stringify(diff) : null, Number(diff?.breaking === true), change.note ?? null],
            ...[by.participant, now],
          ],
        },
        ...built.statements,
        ...[...recipients].map(([recipient, { reason }]) => ({
          sql: 'INSERT INTO contract_notices (contract, version, recipient, reason, created_at) VALUES (?, ?, ?, ?, ?)',
          values: [key, version, recipient, reason, now],
        })),
      ] satisfies readonly Statement[],
      drafts: [
        draft(by, 'contract:changed', {
          ...{ name, project, version, from: latest, breaking: diff?.breaking === true },
          changes: changes.slice(0, toldChanges),
          changesInAll: changes.length,
          dependents: [...recipients.values()].map(({ participant }) => participant),
        }),
        ...built.drafts,
      ],
    };
  }

  /** What a watched file says now; a trouble is told once, and so is its end. */
  #look(key: string): Promise<void> {
    return this.#turns.take(key, async () => {
      const { store, events, hub } = this.#options;
      const row = await findContract(store, key);
      if (!row?.watch || !row.root || this.#closed) return;
      const { watch: path, root, name, project } = row;
      const commit: Commit = ({ statements, drafts = [] }) => events.append(drafts, statements);
      const found = await readContractFile(path, root);
      const problem = 'problem' in found ? found.problem : null;
      if (!('problem' in found))
        await this.#version(row, { project, name, document: found.document, by: hub }, commit);
      if (problem === row.problem) return;
      const noted = { sql: 'UPDATE contracts SET problem = ? WHERE key = ?', values: [problem, key] };
      const told =
        problem === null
          ? draft(hub, 'contract:mended', { name, project, path })
          : draft(hub, 'contract:trouble', { name, project, path, problem });
      await events.append([told], [noted]);
    });
  }

  /** Writes to everybody who is to hear of a version and was not written to. */
  #tellAll(): void {
    const { store, log, write } = this.#options;
    this.#telling = this.#telling
      .then(async () => {
        const waiting = this.#closed
          ? []
          : await noticesOf(store, 'n.mailed = 0 ORDER BY n.id LIMIT ?', [1000]);
        for (const notice of waiting) {
          const written = {
            sql: 'UPDATE contract_notices SET mailed = 1 WHERE id = ? AND mailed = 0',
            values: [notice.event_id],
            expect: 1,
          };
          await write(notice, written);
        }
      })
      .catch((error: unknown) => log.error('not everybody could be told of a new version', { error }));
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
  if (!holder.isUser && (holder.folder === undefined || !isBelow(path, holder.folder)))
    throw new PolyError('forbidden', `${path} is not in the folder you work in.`, {
      hint: 'The user can watch any file: poly contract watch FILE.',
    });
  const base = [project_dir, holder.folder].find((one) => one !== undefined && isBelow(path, one));
  const root = base ?? dirname(path);
  return { path, root, name: name ?? (base ? relative(base, path) : basename(path)) };
}
