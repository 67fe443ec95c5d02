import {
  type FloorAdvised,
  type FloorAdviseParams,
  floorAdvise,
  floorInject,
  PolyError,
} from '@polyphony/protocol';
import type { Dispatch } from '../../registry/dispatch.ts';
import type { Holder, Holders } from '../../registry/holder.ts';
import type { Commit, Registry } from '../../registry/registry.ts';
import type { Store } from '../../store/store.ts';
import type { Sessions } from '../sessions.ts';
import type { Recorder } from '../timeline/recorder.ts';
import { ownSession } from './actions.ts';
import type { SeatMap } from './seat-map.ts';
import { readSeat, type SeatRow } from './seat-row.ts';

/** Whom something is said to: a session, an agent or a person, by what delivery knows them by. */
interface Party {
  readonly key: string;
  readonly name: string;
}

/** Writes a message of advice to somebody, and answers how delivery knows it. */
export type WriteAdvice = (
  from: Holder,
  to: Party,
  words: { readonly project: string; readonly text: string },
  commit: Commit,
) => Promise<{ readonly message_id: string; readonly event_id: number }>;

export interface AdviceOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly holders: Holders;
  readonly map: SeatMap;
  readonly recorder: Recorder;
  readonly write: WriteAdvice;
  readonly dispatch: Dispatch;
}

const named = /^@([A-Za-z0-9][A-Za-z0-9._:-]{0,79})[,:]?\s+(?=\S)/;

/** What is said to sessions by others than their driver, marked as theirs; and by the driver, as the driver's own words. */
export function registerAdviceActions(options: AdviceOptions): void {
  const { registry, store, holders, map, dispatch } = options;
  registry.register('floor', floorAdvise, async (params, { caller, commit }) => {
    const from = holders.of(caller);
    const meant = named.exec(params.text);
    const row =
      meant && params.session === undefined
        ? undefined
        : await readSeat(store, await ownSession(options, caller, params));
    if (meant) return adviseNamed(options, from, row, params, meant, commit);
    if (!row) throw new PolyError('internal', 'nobody is meant.');
    const to = params.to === 'driver' ? driverOf(row) : { key: row.id, name: row.slug };
    return advise(options, { from, to, row, project: row.project, text: params.text }, commit);
  });
  registry.register('floor', floorInject, async ({ text, ...choice }, context) => {
    const session = await ownSession(options, context.caller, choice);
    const paneId = map.paneOf(session);
    if (paneId === undefined)
      throw new PolyError('unavailable', 'no pane of this hub feeds that session: nothing can be typed.', {
        hint: 'Say it as advice, which waits for its agent: poly advise SESSION TEXT',
      });
    // The door of messages asks whether the seat is the caller's.
    const delivery = (await dispatch(
      'agent:message',
      { paneId, text },
      { ...context, idempotencyKey: undefined },
    )) as {
      readonly state: 'written';
      readonly door: string;
    };
    return { ...delivery, session_id: session };
  });
}

/** For one who is named: into the session that an agent feeds, else into its mailbox. */
function adviseNamed(
  options: AdviceOptions,
  from: Holder,
  row: SeatRow | undefined,
  { text, project, team }: FloorAdviseParams,
  [given, name = '']: RegExpExecArray,
  commit: Commit,
): Promise<FloorAdvised> {
  const { holders, map } = options;
  const choice = project === undefined && team === undefined ? undefined : { project, team };
  const place = row?.project ?? (choice ? holders.projectOf(from, choice) : from.project);
  const who = holders.anyone(place, name);
  const fed = who.pane === null ? undefined : map.in(who.pane);
  const to = fed ? { key: fed.id, name: fed.slug } : { key: who.key, name: who.participant };
  const at = fed ?? row;
  const where = at?.project ?? place ?? who.project ?? 'default';
  return advise(options, { from, to, row: at, project: where, text: text.slice(given.length) }, commit);
}

async function advise(
  { recorder, write, holders }: AdviceOptions,
  said: {
    readonly from: Holder;
    readonly to: Party;
    readonly row: SeatRow | undefined;
    readonly project: string;
    readonly text: string;
  },
  commit: Commit,
): Promise<FloorAdvised> {
  const { from, to, row, project, text } = said;
  if (to.key === from.key)
    throw new PolyError('invalid_arguments', 'that would be said to yourself.', {
      hint: 'You drive: type it, or poly action floor:inject.',
    });
  let advised: FloorAdvised | undefined;
  const sent = await write(from, to, { project: holders.shownAs(project), text }, async (step) => {
    const { message_id, event_id } = step.result as { message_id: string; event_id: number };
    advised = {
      ...{ message_id, event_id, from: from.participant, to: row && to.key === row.id ? row.slug : to.name },
      ...(row && { session_id: row.id }),
      state: 'queued',
    };
    const entry = row && {
      ...{ session: row, kind: 'advice' as const, sender: from.participant, text },
      data: { message_id, to: to.key === row.id ? 'agent' : to.name },
    };
    const written = recorder.write(from.source, entry ? [entry] : []);
    return commit({
      ...step,
      statements: [...(step.statements ?? []), ...written.statements],
      drafts: [...(step.drafts ?? []), ...written.drafts],
      result: advised,
    });
  });
  if (!advised) throw new PolyError('internal', `${sent.message_id} was not written.`);
  return advised;
}

function driverOf({ driver, driver_key, slug }: SeatRow): Party {
  if (driver !== null) return { key: driver_key ?? driver, name: driver };
  throw new PolyError('conflict', `nobody drives ${slug}.`, {
    hint: 'Say it to its agent: leave out to.',
    details: { reason: 'seat_open' },
  });
}
