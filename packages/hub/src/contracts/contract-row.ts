import {
  type ContractDiff,
  type ContractFormat,
  type ContractInfo,
  type ContractNotice,
  foldName,
  PolyError,
} from '@polyphony/protocol';
import type { Store } from '../store/store.ts';
import type { ContractDocument } from './document.ts';

export interface ContractRow {
  readonly key: string;
  readonly project_key: string;
  readonly project: string;
  readonly name: string;
  /** 0 while no version has been read from a file that is watched. */
  readonly latest: number;
  readonly watch: string | null;
  readonly root: string | null;
  readonly problem: string | null;
}

export interface VersionRow {
  readonly contract: string;
  readonly version: number;
  readonly format: ContractFormat;
  readonly document: string;
  readonly digest: string;
  readonly diff: string | null;
  readonly note: string | null;
  readonly registered_by: string;
  readonly registered_at: number;
}

/** A project has no slash in its name. */
export const keyOf = (project: string, name: string): string => `${foldName(project)}/${foldName(name)}`;

export async function findContract(store: Store, key: string): Promise<ContractRow | undefined> {
  const [row] = await store.query<ContractRow>('SELECT * FROM contracts WHERE key = ?', [key]);
  return row;
}

export async function getContract(store: Store, project: string, name: string): Promise<ContractRow> {
  const row = await findContract(store, keyOf(project, name));
  if (row) return row;
  throw new PolyError('not_found', `there is no contract "${name}" in the project "${project}".`, {
    hint: 'poly contract list shows those there are.',
    details: { reason: 'unknown_contract' },
  });
}

export async function getVersion(store: Store, row: ContractRow, wanted?: number): Promise<VersionRow> {
  const version = wanted ?? row.latest;
  const [found] = await store.query<VersionRow>(
    'SELECT * FROM contract_versions WHERE contract = ? AND version = ?',
    [row.key, version],
  );
  if (found) return found;
  const has =
    row.latest === 0
      ? `no version yet${row.problem ? `: ${row.problem}` : ''}`
      : `versions 1 to ${row.latest}`;
  throw new PolyError('not_found', `there is no version ${version} of "${row.name}": it has ${has}.`, {
    hint: 'Leave the version out for the latest.',
    details: { reason: 'unknown_version' },
  });
}

export const documentOf = ({ format, document }: VersionRow): ContractDocument => ({
  format,
  value: JSON.parse(document),
});

export function infoOf(row: ContractRow, subscribers: number, format?: ContractFormat): ContractInfo {
  const { name, project, latest, watch, problem } = row;
  return {
    ...{ name, project, version: latest, subscribers },
    ...(format && { format }),
    ...(watch !== null && { watch }),
    ...(problem !== null && { problem }),
  };
}

interface NoticeRow {
  readonly id: number;
  readonly name: string;
  readonly project: string;
  readonly version: number;
  readonly recipient: string;
  readonly reason: ContractNotice['reason'];
  readonly diff: string | null;
  readonly breaking: number;
  readonly acknowledged_at: number | null;
  readonly created_at: number;
}

/** Who is to hear of a version, with what it changed. */
export interface Notice extends ContractNotice {
  readonly recipient: string;
}

export async function noticesOf(
  store: Store,
  where: string,
  values: readonly (string | number)[],
): Promise<readonly Notice[]> {
  const rows = await store.query<NoticeRow>(
    `SELECT n.id AS id, c.name AS name, c.project AS project, n.version AS version, n.recipient AS recipient,
      n.reason AS reason, v.diff AS diff, v.breaking AS breaking, n.acknowledged_at AS acknowledged_at,
      n.created_at AS created_at
      FROM contract_notices n JOIN contracts c ON c.key = n.contract
      JOIN contract_versions v ON v.contract = n.contract AND v.version = n.version
      WHERE ${where}`,
    values,
  );
  return rows.map((row) => ({
    event_id: row.id,
    ...{
      name: row.name,
      project: row.project,
      version: row.version,
      recipient: row.recipient,
      reason: row.reason,
    },
    from_version: row.version - 1,
    breaking: row.breaking === 1,
    diff: row.diff === null ? null : (JSON.parse(row.diff) as ContractDiff),
    acknowledged: row.acknowledged_at !== null,
    at: new Date(row.created_at).toISOString(),
  }));
}
