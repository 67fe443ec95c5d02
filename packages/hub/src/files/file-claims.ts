import { realpath } from 'node:fs/promises';
import {
  type ClaimMode,
  type ClaimOverlap,
  type FileCheckParams,
  type FileCheckResult,
  type FileClaim,
  type FileClaimParams,
  type FileClaimResult,
  type FileListParams,
  type FileReleaseParams,
  PolyError,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { DueTimer } from '../platform/due-timer.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import { Turns } from '../platform/turns.ts';
import type { Holder } from '../registry/holder.ts';
import type { Step } from '../registry/registry.ts';
import type { Committed, Statement, Store } from '../store/store.ts';
import { type Glob, overlap, plainGlob, readGlobs } from './glob.ts';

type Commit = (step: Step) => Promise<Committed>;

export interface FileClaimsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Who tells that a claim has run out. */
  readonly hub: Source;
}

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly root: string;
  readonly paths: string;
  readonly mode: ClaimMode;
  readonly holder: string;
  readonly holder_name: string;
  readonly holder_pane: string | null;
  readonly reason: string | null;
  readonly claimed_at: number;
  readonly until: number;
}

const defaultTtlS = 3600;
const mostOfOne = 100;
const mostInAll = 1000;

/** Who works on which files. A claim is granted with what it meets of others; the older one goes before. */
export class FileClaims {
  readonly #options: FileClaimsOptions;
  readonly #turns = new Turns();
  readonly #timer: DueTimer;

  constructor(options: FileClaimsOptions) {
    this.#options = options;
    const { clock, store, log } = options;
    this.#timer = new DueTimer({
      clock,
      next: async () => {
        const [row] = await store.query<{ readonly next: number | null }>(
          'SELECT min(until) AS next FROM file_claims',
        );
        return row?.next ?? null;
      },
      due: () => this.#expire('lease', ({ until }) => until <= clock.now()),
      onError: (error) => log.error('claims on files that ran out could not be ended', { error }),
    });
  }

  /** Lets claims run out from now on; those of panes that ended meanwhile at once. */
  async start(isGone: (pane: string, holder: string) => boolean): Promise<void> {
    await this.#expire(
      'gone',
      ({ holder_pane, holder }) => holder_pane !== null && isGone(holder_pane, holder),
    );
    this.#timer.plan();
  }

  leave({
    pane,
    key,
  }: {
    readonly pane?: string | undefined;
    readonly key?: string | undefined;
  }): Promise<void> {
    return this.#expire('gone', (row) =>
      pane === undefined ? row.holder === key : row.holder_pane === pane,
    );
  }

  async claim(holder: Holder, params: FileClaimParams, commit: Commit): Promise<FileClaimResult> {
    const { clock, random } = this.#options;
    const root = await rootOf(holder, params.root);
    const { paths, mode = 'exclusive', ttl_s = defaultTtlS, reason } = params;
    const globs = paths.flatMap((path) => readGlobs(root, path));
    return this.#turns.take('claims', async () => {
      const others = await this.#rows();
      refuseTooMany(others, holder);
      const now = clock.now();
      const row: Row = {
        ...{ seq: 0, id: `clm_${random.hex(4)}`, root, paths: JSON.stringify(paths), mode },
        ...{ holder: holder.key, holder_name: holder.participant, holder_pane: holder.pane },
        ...{ reason: reason ?? null, claimed_at: now, until: now + ttl_s * 1000 },
      };
      const met = others
        .filter(
          (other) =>
            !holder.keys.includes(other.holder) && (mode === 'exclusive' || other.mode === 'exclusive'),
        )
        .flatMap((other) =>
          overlapsOf(other, globs)
            .slice(0, 1)
            .map((found) => ({ other, found })),
        );
      const result: FileClaimResult = { ...claimOf(row, holder), conflicts: met.map(({ found }) => found) };
      const kept: Statement = {
        sql: `INSERT INTO file_claims (id, root, paths, mode, holder, holder_name, holder_pane, reason, claimed_at, until)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        values: [
          row.id,
          root,
          row.paths,
          mode,
          row.holder,
          row.holder_name,
          row.holder_pane,
          row.reason,
          now,
          row.until,
        ],
      };
      const told = { claimId: row.id, holder: row.holder_name, root, paths, mode };
      await commit({
        statements: [kept],
        drafts: [
          draft(holder.source, 'file:claimed', { ...told, until: result.until }),
          ...met.map(({ other, found }) =>
            draft(holder.source, 'file:conflict', {
              ...{ claimId: row.id, holder: row.holder_name, meets: found.meets },
              other: { claimId: other.id, holder: other.holder_name, pattern: found.pattern },
            }),
          ),
        ],
        result,
      });
      this.#timer.plan();
      return result;
    });
  }

  release(
    holder: Holder,
    { claim_id, all }: FileReleaseParams,
    commit: Commit,
  ): Promise<{ ok: true; released: string[] }> {
    return this.#turns.take('claims', async () => {
      const rows = await this.#rows();
      const isMine = (row: Row): boolean => holder.keys.includes(row.holder);
      const meant = all ? rows.filter(isMine) : rows.filter(({ id }) => id === claim_id);
      const [first] = meant;
      if (!all && !first)
        throw new PolyError('not_found', `there is no claim ${claim_id}.`, {
          hint: 'It may have run out: poly file list shows those there are.',
        });
      if (first && !isMine(first) && !holder.isUser)
        throw new PolyError('not_owner', `${first.holder_name} holds ${first.id}, and not you.`, {
          hint: `Ask ${first.holder_name}, or your user.`,
          details: { owner: first.holder_name },
        });
      const result = { ok: true as const, released: meant.map(({ id }) => id) };
      await commit({
        statements: meant.map(gone),
        drafts: meant.map((row) =>
          draft(holder.source, 'file:released', { claimId: row.id, holder: row.holder_name }),
        ),
        result,
      });
      return result;
    });
  }

  async list(holder: Holder, { root }: FileListParams): Promise<readonly FileClaim[]> {
    const within = root === undefined ? undefined : readGlobs(await realRoot(root), '.');
    const rows = await this.#rows();
    return rows
      .filter((row) => !within || overlapsOf(row, within).length > 0)
      .map((row) => claimOf(row, holder));
  }

  /** Which files somebody may not change now: others have claimed them for themselves, and before him. */
  async check(holder: Holder, { paths, root: given }: FileCheckParams): Promise<FileCheckResult> {
    const root = await rootOf(holder, given);
    const rows = await this.#rows();
    const mine = rows.filter((row) => holder.keys.includes(row.holder));
    const theirs = rows.filter((row) => !holder.keys.includes(row.holder) && row.mode === 'exclusive');
    const blocked: ClaimOverlap[] = [];
    for (const [i, path] of paths.entries()) {
      if (i % 100 === 99) await new Promise(setImmediate);
      const file = [plainGlob(path.startsWith('/') ? path : `${root}/${path}`, path)];
      const since = mine.find((row) => overlapsOf(row, file).length > 0)?.seq ?? Number.POSITIVE_INFINITY;
      for (const row of theirs) if (row.seq < since) blocked.push(...overlapsOf(row, file).slice(0, 1));
    }
    return { blocked };
  }

  close(): Promise<void> {
    return this.#timer.close();
  }

  #rows(): Promise<readonly Row[]> {
    return this.#options.store.query<Row>('SELECT * FROM file_claims ORDER BY seq');
  }

  async #expire(reason: 'lease' | 'gone', ends: (row: Row) => boolean): Promise<void> {
    await this.#turns.take('claims', async () => {
      const rows = (await this.#rows()).filter(ends);
      if (rows.length === 0) return;
      const told = rows.map((row) =>
        draft(this.#options.hub, 'file:expired', { claimId: row.id, holder: row.holder_name, reason }),
      );
      await this.#options.events.append(told, rows.map(gone), { onFullDisk: true });
    });
  }
}

const gone = ({ id }: Row): Statement => ({ sql: 'DELETE FROM file_claims WHERE id = ?', values: [id] });

/** The first place at which each pattern of a claim meets others. */
function overlapsOf(row: Row, globs: readonly Glob[]): readonly ClaimOverlap[] {
  const own = (JSON.parse(row.paths) as readonly string[]).flatMap((path) => readGlobs(row.root, path));
  return own.flatMap((one) => {
    const met = globs.find((other) => overlap(one, other));
    if (!met) return [];
    return {
      ...{ claim_id: row.id, holder: row.holder_name, mode: row.mode, pattern: one.text, meets: met.text },
      until: new Date(row.until).toISOString(),
      ...(row.reason !== null && { reason: row.reason }),
    };
  });
}

function claimOf(row: Row, holder: Holder): FileClaim {
  return {
    ...{
      claim_id: row.id,
      root: row.root,
      paths: JSON.parse(row.paths),
      mode: row.mode,
      holder: row.holder_name,
    },
    ...(row.reason !== null && { reason: row.reason }),
    claimed_at: new Date(row.claimed_at).toISOString(),
    until: new Date(row.until).toISOString(),
    mine: holder.keys.includes(row.holder),
  };
}

function refuseTooMany(rows: readonly Row[], holder: Holder): void {
  const own = rows.filter((row) => holder.keys.includes(row.holder)).length;
  if (own < mostOfOne && rows.length < mostInAll) return;
  const whose = own < mostOfOne ? 'there are' : 'you hold';
  throw new PolyError(
    'too_many_requests',
    `${whose} ${own < mostOfOne ? rows.length : own} claims on files already.`,
    {
      hint: 'Release some first, or claim a folder instead of its files.',
    },
  );
}

async function rootOf(holder: Holder, given: string | undefined): Promise<string> {
  const root = given ?? holder.folder;
  if (root !== undefined) return realRoot(root);
  throw new PolyError('invalid_arguments', 'it is not known which folder you work in.', {
    hint: 'Name it as root, with an absolute path.',
  });
}

/** The same folder by whatever name; one that is not there is taken by its word. */
const realRoot = (root: string): Promise<string> =>
  realpath(root).catch(() => root.replace(/\/+$/, '') || '/');
