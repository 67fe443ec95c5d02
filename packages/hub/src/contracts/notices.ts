import type {
  ContractDiff,
  ContractNotice,
  ContractPendingParams,
  ContractPendingResult,
} from '@polyphony/protocol';
import type { Log } from '../platform/log.ts';
import type { Holder } from '../registry/holder.ts';
import type { Statement, Store } from '../store/store.ts';

/** Who is to hear of a version, with what it changed. */
export interface Notice extends ContractNotice {
  readonly recipient: string;
}

export interface NoticesOptions {
  readonly store: Store;
  readonly log: Log;
  /** Writes to whoever is to hear of a version, in one step with the note that it was written. */
  readonly write: (notice: Notice, written: Statement) => Promise<void>;
}

/** Who is to hear of which versions, and has not acknowledged them. */
export class Notices {
  readonly #options: NoticesOptions;
  #telling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  async pending(
    holder: Holder,
    { since_event_id: since, limit = 100 }: ContractPendingParams,
  ): Promise<ContractPendingResult> {
    const which = since === undefined ? 'n.acknowledged_at IS NULL' : 'n.id > ?';
    const found = await noticesOf(
      this.#options.store,
      `n.recipient IN (${marks(holder)}) AND ${which} ORDER BY n.id LIMIT ?`,
      [...holder.keys, ...(since === undefined ? [] : [since]), limit + 1],
    );
    const events = found.slice(0, limit).map(({ recipient: _, ...notice }) => notice);
    return { events, has_more: found.length > limit, last_event_id: events.at(-1)?.event_id ?? since ?? 0 };
  }

  /** Notes that somebody knows what a contract says up to a version: one statement for each notice that waited. */
  async acknowledged(
    holder: Holder,
    contract: string,
    version: number,
    now: number,
  ): Promise<readonly Statement[]> {
    const waiting = await noticesOf(
      this.#options.store,
      `n.contract = ? AND n.version <= ? AND n.acknowledged_at IS NULL AND n.recipient IN (${marks(holder)})`,
      [contract, version, ...holder.keys],
    );
    return waiting.map(({ event_id }) => ({
      sql: 'UPDATE contract_notices SET acknowledged_at = ? WHERE id = ?',
      values: [now, event_id],
    }));
  }

  /** Writes to everybody who is to hear of a version and was not written to. */
  tellAll(): void {
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

  close(): Promise<void> {
    this.#closed = true;
    return this.#telling;
  }
}

const marks = ({ keys }: Holder): string => keys.map(() => '?').join(', ');

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

async function noticesOf(
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
