import { floorClaim, floorDigest, floorHandoff, type OwnSessionChoice, PolyError } from '@polyphony/protocol';
import type { Ask, Asker } from '../../registry/ask.ts';
import type { Caller } from '../../registry/caller.ts';
import type { Holders } from '../../registry/holder.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Sessions } from '../sessions.ts';
import { type SeatRow, seatInWords } from './seat-row.ts';
import type { Consent, Seats } from './seats.ts';

const owner = 'floor';

export interface SeatActionsOptions {
  readonly registry: Registry;
  readonly sessions: Sessions;
  readonly seats: Seats;
  readonly holders: Holders;
  readonly ask: Ask;
}

export function registerSeatActions(options: SeatActionsOptions): void {
  const { registry, sessions, seats, holders } = options;
  registry.register(owner, floorClaim, async (params, context) => {
    const asker = holders.of(context.caller);
    const session = await ownSession(options, context.caller, params);
    const consent = params.takeover ? consentOf(options, context) : undefined;
    return seats.claim(asker, session, { consent }, context.commit);
  });
  registry.register(owner, floorDigest, async (params, { caller }) => {
    const session = await ownSession(options, caller, params);
    return { session_id: session, digest: await seats.digest(session, holders.of(caller)) };
  });
  registry.register(owner, floorHandoff, async (params, { caller, commit }) => {
    const asker = holders.of(caller);
    const session = await ownSession(options, caller, params);
    const { to, fence } = params;
    const { project } = await sessions.find(session, undefined);
    const heir = to === undefined ? undefined : holders.anyone(project, to);
    return seats.handOff(asker, session, { to: heir, fence }, commit);
  });
}

/** The id of the session that is named, or else of that which the caller's own pane feeds. */
export async function ownSession(
  { sessions, holders }: Pick<SeatActionsOptions, 'sessions' | 'holders'>,
  caller: Caller,
  { session, project, team }: OwnSessionChoice,
): Promise<string> {
  const holder = holders.of(caller);
  if (session !== undefined) {
    const named = project === undefined && team === undefined ? undefined : { project, team };
    return (await sessions.find(session, named && holders.projectOf(holder, named))).id;
  }
  const own = holder.pane === null ? undefined : (await sessions.status(holder, {})).session;
  if (own) return own.session_id;
  const why = holder.pane === null ? 'you are in no pane' : 'your pane feeds none';
  throw new PolyError('invalid_arguments', `which session is meant is not clear: ${why}.`, {
    hint: 'Name one; poly floor sessions shows them.',
  });
}

/** People take the seat of an agent without asking; everybody else's is asked for, of whoever has it. */
function consentOf({ ask, holders }: SeatActionsOptions, asker: Asker): Consent {
  return async (row: SeatRow, changed) => {
    const { participant } = holders.of(asker.caller);
    const isOfAgent = row.driver?.startsWith('agent:') ?? false;
    if (isOfAgent && !participant.startsWith('agent:')) return;
    const where = `${holders.shownAs(row.project)}/${row.slug}`;
    const { driver } = row;
    await ask(
      {
        ...{ kind: 'seat', action: floorClaim.name },
        // Nobody but the user can answer for an agent.
        ...(!isOfAgent && driver !== null && { decider: driver }),
        reason: `${participant} asks for the seat of ${where}; ${seatInWords(row, holders.shownAs(row.project))}`,
        refusal: `${participant} may not have the seat of ${where}`,
        holds: () => !changed.aborted,
      },
      { ...asker, signal: AbortSignal.any([asker.signal, changed]) },
    );
  };
}
