import { createHash } from 'node:crypto';
import { type ContractDiff, foldName } from '@polyphony/protocol';
import { type Draft, draft, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import type { Statement, Store } from '../store/store.ts';
import { type ContractRow, documentOf, getVersion, keyOf } from './contract-row.ts';
import type { ContractThreads } from './contract-threads.ts';
import type { ContractDocument } from './document.ts';
import { canonical } from './json.ts';
import type { Notice } from './notices.ts';

/** A version that is to be written. */
export interface Change {
  readonly project: string;
  readonly name: string;
  readonly document: ContractDocument;
  readonly note?: string | undefined;
  readonly by: Source;
  /** Who made it, and so need not be told. */
  readonly author?: string | undefined;
}

/** Those who build on a contract without having to say so: what is written with a new version of it, and who they are. */
type Dependents = (
  contract: string,
  version: number,
) => Promise<{
  readonly statements: readonly Statement[];
  readonly drafts: readonly Draft[];
  readonly holders: readonly { readonly key: string; readonly participant: string }[];
}>;

export interface NextVersionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly dependents: Dependents;
  readonly names: Pick<ProjectNames, 'meet'>;
  readonly threads: ContractThreads;
}

export interface NextVersion {
  readonly version: number;
  readonly diff: ContractDiff | undefined;
  readonly statements: readonly Statement[];
  readonly drafts: readonly Draft[];
}

const toldChanges = 50;

/** What is to be written for a change, with everything that follows from it; nothing where it says what is said already. */
export async function nextVersion(
  { store, clock, dependents, names, threads }: NextVersionOptions,
  row: ContractRow | undefined,
  change: Change,
): Promise<NextVersion | undefined> {
  const { document, by } = change;
  const key = keyOf(change.project, change.name);
  const latest = row?.latest ?? 0;
  const before = row && latest > 0 ? await getVersion(store, row) : undefined;
  const digest = createHash('sha256')
    .update(`${document.format}\n${canonical(document.value)}`)
    .digest('hex');
  if (before?.digest === digest) return undefined;
  const version = latest + 1;
  const diff = before ? await threads.diff(documentOf(before), document) : undefined;
  const built = await dependents(key, version);
  const recipients = new Map<string, Recipient>([
    ...(await subscribersOf(store, key, change.author)),
    ...built.holders.map((one) => [one.key, { reason: 'task', participant: one.participant }] as const),
  ]);
  const now = clock.now();
  const { name, project } = row ?? change;
  const changes = [...(diff?.added ?? []), ...(diff?.removed ?? []), ...(diff?.changed ?? [])];
  return {
    ...{ version, diff },
    statements: [
      ...names.meet(project, by.participant),
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
    ],
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

interface Recipient {
  readonly reason: Notice['reason'];
  readonly participant: string;
}

async function subscribersOf(
  store: Store,
  contract: string,
  author: string | undefined,
): Promise<readonly (readonly [string, Recipient])[]> {
  const rows = await store.query<{ readonly subscriber: string; readonly participant: string }>(
    'SELECT subscriber, participant FROM contract_subscriptions WHERE contract = ?',
    [contract],
  );
  return rows
    .filter(({ subscriber }) => subscriber !== author)
    .map(({ subscriber, participant }) => [subscriber, { reason: 'subscribed', participant }]);
}
