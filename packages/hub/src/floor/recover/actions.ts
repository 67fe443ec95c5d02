import { type FloorRecovered, floorRecover, PolyError, type RecoveredSession } from '@polyphony/protocol';
import type { Holders } from '../../registry/holder.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../store/store.ts';
import type { ProjectBook } from '../project-book.ts';
import type { SessionRow } from '../session-row.ts';
import type { Sessions } from '../sessions.ts';
import type { Recovery } from './recovery.ts';

export interface RecoverActionsOptions {
  readonly registry: Registry;
  readonly holders: Holders;
  readonly store: Store;
  readonly book: ProjectBook;
  readonly sessions: Sessions;
  readonly recovery: Recovery;
  /** Tries again what could not be taken in. */
  readonly revive: (dryRun: boolean) => Promise<FloorRecovered['journal']>;
}

export function registerRecoverActions(options: RecoverActionsOptions): void {
  const { registry, holders, store, book, sessions, recovery, revive } = options;
  registry.register('floor', floorRecover, async (params, { caller, signal }) => {
    const { session, pane, dry_run: dryRun = false, project, team } = params;
    if (session !== undefined && pane !== undefined)
      throw new PolyError('invalid_arguments', 'session and pane were both given.', {
        hint: 'Name the session, or the pane that has fed it.',
      });
    const named =
      project === undefined && team === undefined
        ? undefined
        : holders.projectOf(holders.of(caller), { project, team });
    const chosen =
      session === undefined
        ? await among(store, pane, named === undefined ? undefined : book.keyOf(named))
        : [(await sessions.find(session, named)).id];
    const journal = await revive(dryRun);
    const found: RecoveredSession[] = [];
    for (const id of chosen) {
      signal.throwIfAborted();
      const [row] = await store.query<SessionRow>('SELECT * FROM floor_sessions WHERE id = ?', [id]);
      if (row) found.push(await recovery.session(row, dryRun));
    }
    const missing = found.reduce((sum, one) => sum + one.from_record + one.from_transcripts, 0);
    return {
      ...{ dry_run: dryRun, journal, looked_at: found.length, sessions: found.filter(isWorthTelling) },
      restored: dryRun ? 0 : missing,
    };
  });
}

/** Those of a project or of all, or those that a pane has fed. */
async function among(
  store: Store,
  pane: string | undefined,
  project: string | undefined,
): Promise<readonly string[]> {
  const where = [
    ...(project === undefined ? [] : ['project = ?']),
    ...(pane === undefined ? [] : ['id IN (SELECT session FROM floor_bindings WHERE pane = ?)']),
  ];
  const rows = await store.query<{ readonly id: string }>(
    `SELECT id FROM floor_sessions WHERE ${['1 = 1', ...where].join(' AND ')} ORDER BY created_at, id`,
    [project, pane].filter((one) => one !== undefined),
  );
  if (pane !== undefined && rows.length === 0)
    throw new PolyError('not_found', `no session was fed by a pane "${pane}".`, {
      hint: 'poly floor sessions shows the sessions; poly recover --all looks at all of them.',
    });
  return rows.map(({ id }) => id);
}

const isWorthTelling = ({ from_record, from_transcripts, transcripts }: RecoveredSession): boolean =>
  from_record + from_transcripts > 0 || transcripts.some(({ problem }) => problem !== undefined);
