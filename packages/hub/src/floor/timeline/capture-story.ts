import { type Draft, draft, type Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { Statement, Store } from '../../store/store.ts';
import { insertSession, type SessionRow } from '../session-row.ts';
import type { SetBack } from '../set-back.ts';
import { drawSlug } from '../slug.ts';
import { Calls } from './calls.ts';
import { type Captured, Ledger, type Place } from './ledger.ts';
import { linksIn } from './links.ts';
import type { NewEntry, Recorded, Recorder } from './recorder.ts';
import { speakerOf } from './speaker.ts';
import { told } from './story.ts';

export interface CaptureStoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly setBack: SetBack;
  /** Who causes what the hub itself tells. */
  readonly hub: Source;
  /** Whether a prompt is one that the hub has typed, and no person. */
  readonly isOurs: (prompt: string) => boolean;
}

export interface StoryOptions {
  /** How often it was tried before. */
  readonly tries?: number;
  /** It is told long after it happened: nothing follows from it for what has happened since. */
  readonly late?: boolean;
  /** It was not told by a hook, but by what the coding agent itself had kept. */
  readonly reconstructed?: boolean;
  /** The session each belongs to, where that is known and no binding says it. */
  readonly into?: (captured: Captured) => Into;
}

/** A session, with whose words the agent's are and who drove it, where that is not as it is now. */
type Into = Pick<SessionRow, 'id' | 'agent'> & { readonly driver?: string | null };

/**
 * Says what is written into timelines for events of coding agents, in the very commit that takes them in. What it read
 * before may have changed by then: the commit fails with `conflict`, and is tried again.
 */
export class CaptureStory {
  readonly #options: CaptureStoryOptions;

  constructor(options: CaptureStoryOptions) {
    this.#options = options;
  }

  async write(
    captured: readonly Captured[],
    { tries = 0, late = false, reconstructed = false, into }: StoryOptions = {},
  ): Promise<Recorded> {
    const { store, hub, recorder, setBack } = this.#options;
    if (!late) await setBack.look(captured.map(({ occurredAt }) => occurredAt));
    const ledger = await Ledger.load(store, into ? [] : captured);
    const known = into ? [...new Set(captured.map((one) => into(one).id))] : ledger.sessions;
    if (known.length === 0) return { statements: [], drafts: [] };
    const sessions = await sessionsById(store, known);
    const calls = await Calls.load(store, known, captured);
    const entries: NewEntry[] = [];
    const statements: Statement[] = [];
    const drafts: Draft[] = [];
    for (const one of captured) {
      const given = into?.(one);
      const place: Place | undefined = given ? { session: given.id, agent: given.agent } : ledger.place(one);
      const before = place && sessions.get(place.session);
      if (!place || !before) continue;
      let session = given?.driver === undefined ? before : { ...before, driver: given.driver };
      if (place.forks) {
        session = this.#fork(before, one, tries);
        sessions.set(session.id, session);
        ledger.fork(one, session.id);
        statements.push(insertSession(session));
        drafts.push(
          draft(hub, 'floor:opened', { ...placeOf(session), slug: session.slug, forkedFrom: before.id }),
        );
      }
      if (session.agent === null) {
        session = { ...session, agent: place.agent ?? `agent:${one.agent}` };
        sessions.set(session.id, session);
        statements.push(setAgent(session));
        drafts.push(draft(hub, 'floor:changed', placeOf(session)));
      }
      if (place.earlier !== undefined) statements.push(setResumed(session, place.earlier));
      const [main, settled] = this.#entriesOf(one, session, place, calls);
      entries.push(...(late ? [] : settled), { ...main, late, reconstructed });
    }
    const written = recorder.write(hub, entries);
    // Sessions, then what feeds them, then what they tell.
    return {
      statements: [...statements, ...ledger.statements, ...written.statements],
      drafts: [...drafts, ...written.drafts],
    };
  }

  /** Prompts and answers to questions are the person's who drives, everything else is the agent's or its sub-agent's. */
  senderOf(captured: Captured, session: Pick<SessionRow, 'agent' | 'driver'>): string {
    return this.#isByAPerson(captured)
      ? this.#personOf(session)
      : speakerOf(session.agent ?? `agent:${captured.agent}`, captured.normalised);
  }

  /** Not what the hub itself has typed. */
  #isByAPerson({ normalised: { kind, by, text = '' } }: Captured): boolean {
    return by === 'user' && !(kind === 'prompt' && this.#options.isOurs(text));
  }

  #entriesOf(
    captured: Captured,
    session: SessionRow,
    { earlier, resumed, agent: speaker }: Place,
    calls: Calls,
  ): readonly [main: NewEntry, settled: readonly NewEntry[]] {
    const { id, agent, occurredAt, normalised } = captured;
    const { text, data, ...story } = told(agent, normalised);
    const kind = this.#isByAPerson(captured) || story.kind !== 'prompt' ? story.kind : 'notice';
    const call = calls.of(session.id, captured);
    const main: NewEntry = {
      ...{ session, kind, text, occurredAt, capture: id, call },
      sender: this.senderOf(captured, { ...session, agent: speaker ?? session.agent }),
      data: {
        ...data,
        ...(earlier !== undefined && { earlier_session: earlier }),
        ...(resumed && { taken_up: true }),
      },
      links: linksIn(normalised, text),
    };
    const outcome = calls.settle(session.id, captured, call, kind);
    const settled = outcome.map(
      ({ kind, call, text }): NewEntry => ({
        ...{ session, kind, text, occurredAt, call, data: { inferred: true } },
        sender: this.#personOf(session),
      }),
    );
    return [main, settled];
  }

  /** Whose words a prompt is: the driver's, or of the person this hub belongs to. */
  #personOf({ driver }: Pick<SessionRow, 'driver'>): string {
    return driver !== null && !driver.startsWith('agent:') ? driver : this.#options.hub.participant;
  }

  #fork(from: SessionRow, { occurredAt }: Captured, tries: number): SessionRow {
    const { random, clock } = this.#options;
    const slug = drawSlug(random, tries);
    return {
      ...from,
      ...{ id: `ses_${random.hex(8)}`, slug, slug_key: slug, forked_from: from.id, resumed_from: null },
      ...{ fence: 1, lease_until: from.lease_until, prompts: 0, entries: 0, archived_at: null },
      ...{ active_at: Math.round(occurredAt), created_at: clock.now() },
      created_by: from.agent ?? from.created_by,
    };
  }
}

const placeOf = ({ id, project }: SessionRow) => ({ sessionId: id, projectKey: project });

const setAgent = ({ id, agent }: SessionRow): Statement => ({
  sql: 'UPDATE floor_sessions SET agent = ? WHERE id = ? AND agent IS NULL',
  values: [agent, id],
});

const setResumed = ({ id }: SessionRow, earlier: string): Statement => ({
  sql: 'UPDATE floor_sessions SET resumed_from = ? WHERE id = ? AND resumed_from IS NULL',
  values: [earlier, id],
});

async function sessionsById(store: Store, ids: readonly string[]): Promise<Map<string, SessionRow>> {
  const rows = await store.query<SessionRow>(
    `SELECT * FROM floor_sessions WHERE id IN (${ids.map(() => '?').join(', ')})`,
    ids,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
