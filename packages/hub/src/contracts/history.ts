import type { ContractDependent, ContractHistoryResult, ContractVersion } from '@polyphony/protocol';
import type { Store } from '../store/store.ts';
import type { VersionRow } from './contract-row.ts';

interface DependentRow {
  readonly participant: string | null;
  readonly subscribed: number;
  readonly waiting: string | null;
}

const most = 500;

/** Everybody who has subscribed, and who was told because of a task; a task keeps who did it. */
const dependentsQuery = `SELECT
    coalesce(s.participant, (SELECT max(owner_name) FROM tasks WHERE owner = one.key)) AS participant,
    s.subscriber IS NOT NULL AS subscribed,
    (SELECT group_concat(version, ' ') FROM (
      SELECT version FROM contract_notices
        WHERE recipient = one.key AND contract = ? AND acknowledged_at IS NULL ORDER BY version
    )) AS waiting
  FROM (
    SELECT subscriber AS key FROM contract_subscriptions WHERE contract = ?
    UNION SELECT recipient FROM contract_notices WHERE contract = ?
  ) AS one
  LEFT JOIN contract_subscriptions AS s ON s.contract = ? AND s.subscriber = one.key
  ORDER BY participant LIMIT ?`;

/** What became of a contract, and who has to know. */
export async function historyOf(
  store: Store,
  key: string,
): Promise<Pick<ContractHistoryResult, 'versions' | 'dependents'>> {
  const versions = await store.query<VersionRow & { readonly breaking: number }>(
    `SELECT version, note, registered_by, registered_at, breaking FROM contract_versions
      WHERE contract = ? ORDER BY version DESC LIMIT ?`,
    [key, most],
  );
  const dependents = await store.query<DependentRow>(dependentsQuery, [key, key, key, key, most]);
  return {
    versions: versions.map(
      (row): ContractVersion => ({
        ...{ version: row.version, registered_by: row.registered_by },
        registered_at: new Date(row.registered_at).toISOString(),
        breaking: row.breaking === 1,
        ...(row.note !== null && { note: row.note }),
      }),
    ),
    dependents: dependents.map(
      ({ participant, subscribed, waiting }): ContractDependent => ({
        ...(participant !== null && { participant }),
        subscribed: subscribed === 1,
        unacknowledged: waiting === null ? [] : waiting.split(' ').map(Number),
      }),
    ),
  };
}
