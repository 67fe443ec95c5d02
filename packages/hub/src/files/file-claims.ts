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
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import { Turns } from '../platform/turns.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import { type Departure, type LeaseEnd, Leases } from '../store/leases.ts';
import type { Statement, Store } from '../store/store.ts';
import { type Effort, type Glob, mostEffort, overlap, plainGlob, readGlobs } from './glob.ts';

export interface FileClaimsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Who tells that a claim has run out. */
  readonly hub: Source;
  /** Writes to who holds a claim, where they have a mailbox. */
  readonly write: (
    holder: string,
    notice: { readonly subject: string; readonly body: string },
  ) => Promise<void>;
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
const mostVariants = 200;
const mostBlocked = 1000;
/** So much effort for one file, and then others get their turn. */
const mostForOne = 1_000_000;

/** Who works on which files. A claim is granted with what it meets of others; the older one goes before. */
export class FileClaims {
  readonly #options: FileClaimsOptions;
  readonly #turns = new Turns();
  readonly #leases: Leases<Row>;
  /** What each claim says, read once. */
  #globs: ReadonlyMap<string, readonly Glob[]> = new Map();
  /** Of whom the holder of each claim has heard that they have met it. */
  #heardOf: ReadonlyMap<string, Set<string>> = new Map();

  constructor(options: FileClaimsOptions) {
    this.#options = options;
    const { clock, store, log } = options;
    this.#leases = new Leases<Row>({
      ...{ clock, store, table: 'file_claims' },
      ...{ holder: 'holder', pane: 'holder_pane', until: 'until' },
      end: (row, reason) => this.#end(row, reason),
      onError: (error) => log.error('claims on files that ran out could not be ended', { error }),
    });
  }

  /** Lets claims run out from now on; those of panes that ended meanwhile at once. */
  start(isGone: (pane: string, holder: string) => boolean): Promise<void> {
    return this.#leases.start(isGone);
  }

  leave(departure: Departure): Promise<void> {
    return this.#leases.leave(departure);
  }

  async claim(holder: Holder, params: FileClaimParams, commit: Commit): Promise<FileClaimResult> {
    const { clock, random } = this.#options;
    const root = await rootOf(holder, params.root);
    const { paths, mode = 'exclusive', ttl_s = defaultTtlS, reason } = params;
    const globs = paths.flatMap((path) => readGlobs(root, path));
    if (globs.length > mostVariants)
      throw new PolyError(
        'invalid_arguments',
        `that are ${globs.length} patterns, and ${mostVariants} are taken.`,
        {
          hint: 'Name fewer in braces, or a folder above them.',
        },
      );
    return this.#turns.take('claims', async () => {
      const others = await this.#rows();
      refuseTooMany(others, holder);
      const effort: Effort = { left: mostEffort };
      const now = clock.now();
      const row: Row = {
        ...{ seq: 0, id: `clm_${random.hex(4)}`, root, paths: JSON.stringify(paths), mode },
        ...{ holder: holder.key, holder_name: holder.participant, holder_pane: holder.pane },
        ...{ reason: reason ?? null, claimed_at: now, until: now + ttl_s * 1000 },
      };
      const met = others
        .filter((other) => !isOf(other, holder) && (mode === 'exclusive' || other.mode === 'exclusive'))
        .flatMap((other) => {
          const found = this.#overlap(other, globs, effort);
          return found ? [{ other, found }] : [];
        });
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
      this.#leases.plan();
      for (const { other, found } of met) this.#tell(other, found, row);
      return result;
    });
  }

  /** Tells who was there first, by mail and once of each who comes: who claims again and again is no more news. */
  #tell(other: Row, { meets, pattern }: ClaimOverlap, { holder, holder_name, root, reason }: Row): void {
    const { write, log } = this.#options;
    const heardOf = this.#heardOf.get(other.id);
    if (!heardOf || heardOf.has(holder)) return;
    heardOf.add(holder);
    const why = reason === null ? '' : ` (${reason})`;
    const notice = {
      subject: `${holder_name} claims files that you have claimed`,
      body: `${holder_name} has claimed ${meets} below ${root}${why}, which meets your claim ${other.id} on ${pattern}. Yours is older and goes before. Write to them, or give yours up with file_release (poly file release ${other.id}).`,
    };
    write(other.holder, notice).catch((error: unknown) =>
      log.warn('who has claimed files has not heard of another claim', { claim: other.id, error }),
    );
  }

  release(
    holder: Holder,
    { claim_id, all }: FileReleaseParams,
    commit: Commit,
  ): Promise<{ ok: true; released: string[] }> {
    return this.#turns.take('claims', async () => {
      const rows = await this.#rows();
      const meant = all ? rows.filter((row) => isOf(row, holder)) : rows.filter(({ id }) => id === claim_id);
      const [first] = meant;
      if (!all && !first)
        throw new PolyError('not_found', `there is no claim ${claim_id}.`, {
          hint: 'It may have run out: poly file list shows those there are.',
        });
      if (first && !isOf(first, holder) && !holder.isUser)
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
    const effort: Effort = { left: mostEffort };
    return rows
      .filter((row) => !within || this.#overlap(row, within, effort))
      .map((row) => claimOf(row, holder));
  }

  /** Which files somebody may not change now: others have claimed them for themselves, and before him. */
  async check(holder: Holder, { paths, root: given }: FileCheckParams): Promise<FileCheckResult> {
    const root = await rootOf(holder, given);
    const rows = await this.#rows();
    const mine = rows.filter((row) => isOf(row, holder));
    const theirs = rows.filter((row) => !isOf(row, holder) && row.mode === 'exclusive');
    const blocked: ClaimOverlap[] = [];
    let spent = 0;
    for (const path of paths.values()) {
      const effort: Effort = { left: mostForOne };
      const file = [plainGlob(path.startsWith('/') ? path : `${root}/${path}`, path)];
      const since = mine.find((row) => this.#overlap(row, file, effort))?.seq ?? Number.POSITIVE_INFINITY;
      for (const row of theirs) {
        const met = row.seq < since ? this.#overlap(row, file, effort) : undefined;
        if (met) blocked.push(met);
      }
      if (blocked.length >= mostBlocked) break;
      spent += mostForOne - effort.left + rows.length;
      if (spent < mostForOne) continue;
      await new Promise(setImmediate);
      spent = 0;
    }
    return { blocked };
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #rows(): Promise<readonly Row[]> {
    const rows = await this.#options.store.query<Row>('SELECT * FROM file_claims ORDER BY seq');
    this.#globs = new Map(rows.map((row) => [row.id, this.#globs.get(row.id) ?? globsOf(row)]));
    this.#heardOf = new Map(rows.map(({ id }) => [id, this.#heardOf.get(id) ?? new Set()]));
    return rows;
  }

  /** The first place at which a claim meets others. */
  #overlap(row: Row, globs: readonly Glob[], effort: Effort): ClaimOverlap | undefined {
    for (const one of this.#globs.get(row.id) ?? globsOf(row)) {
      const met = globs.find((other) => overlap(one, other, effort));
      if (met)
        return {
          ...{
            claim_id: row.id,
            holder: row.holder_name,
            mode: row.mode,
            pattern: one.text,
            meets: met.text,
          },
          until: new Date(row.until).toISOString(),
          ...(row.reason !== null && { reason: row.reason }),
        };
    }
    return undefined;
  }

  #end(row: Row, reason: LeaseEnd): Promise<unknown> {
    const { events, hub } = this.#options;
    const told = draft(hub, 'file:expired', { claimId: row.id, holder: row.holder_name, reason });
    return this.#turns.take('claims', () => events.append([told], [gone(row)], { onFullDisk: true }));
  }
}

const gone = ({ id }: Row): Statement => ({
  sql: 'DELETE FROM file_claims WHERE id = ?',
  values: [id],
  expect: 1,
});

const isOf = (row: Row, holder: Holder): boolean => holder.keys.includes(row.holder);

const globsOf = ({ root, paths }: Row): readonly Glob[] =>
  (JSON.parse(paths) as readonly string[]).flatMap((path) => readGlobs(root, path));

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
    mine: isOf(row, holder),
  };
}

function refuseTooMany(rows: readonly Row[], holder: Holder): void {
  const own = rows.filter((row) => isOf(row, holder)).length;
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
