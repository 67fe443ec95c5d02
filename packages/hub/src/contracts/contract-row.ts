import { type ContractFormat, type ContractInfo, foldName, PolyError } from '@polyphony/protocol';
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

export async function listContracts(
  store: Store,
  project: string | undefined,
): Promise<readonly ContractInfo[]> {
  const rows = await store.query<ContractRow & { readonly format?: ContractFormat; readonly count: number }>(
    `SELECT c.*, v.format AS format,
      (SELECT count(*) FROM contract_subscriptions s WHERE s.contract = c.key) AS count
      FROM contracts c LEFT JOIN contract_versions v ON v.contract = c.key AND v.version = c.latest
      WHERE ${project === undefined ? '1 = 1' : 'c.project_key = ?'} ORDER BY c.project_key, c.name LIMIT 1000`,
    project === undefined ? [] : [foldName(project)],
  );
  return rows.map((row) => infoOf(row, row.count, row.format ?? undefined));
}
