import { createHash } from 'node:crypto';
import type { RecoveredSession, RecoveredTranscript } from '@polyphony/protocol';
import type { EventLog, Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { isConflict } from '../../store/errors.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { AgentIn } from '../feed.ts';
import type { BindingRow, SessionRow } from '../session-row.ts';
import type { CaptureStory } from '../timeline/capture-story.ts';
import type { Captured } from '../timeline/ledger.ts';
import type { Recorder } from '../timeline/recorder.ts';
import { told } from '../timeline/story.ts';
import { driverThen } from './driver-then.ts';
import { knownOf } from './known.ts';
import { type Like, marksOf, pair } from './likeness.ts';
import type { KeptConversation, Transcripts } from './transcripts.ts';
import { untoldOf } from './untold.ts';

export interface RecoveryOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly story: CaptureStory;
  readonly recorder: Recorder;
  readonly hub: Source;
  readonly agentIn: AgentIn;
  readonly shownAs: (project: string) => string;
  readonly transcripts: Transcripts;
  /** Does something while nothing that hooks tell is taken in; what they have told is in the record by then. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  /** What is written for an event that the coding agent itself had kept. */
  readonly insertKept: (captured: Captured, raw: Uint8Array) => Statement;
  /** How old something must be that no hook has told. */
  readonly graceMs?: number;
}

interface Missing extends Captured {
  readonly raw?: Uint8Array;
  readonly reconstructed: boolean;
}

interface Item extends Like {
  readonly id: string;
}

/** So many are written in one commit. */
const atOnce = 100;
const defaultGraceMs = 10_000;
const dayMs = 86_400_000;
const mostTries = 50;

/**
 * Finds what is missing in timelines, and writes it where it belongs. What was written is known by its id and by what it
 * says, so that nobody writes it again: not this, not another who does the same, and no hook that comes late.
 */
export class Recovery {
  readonly #options: RecoveryOptions;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  async session(session: SessionRow, dryRun: boolean): Promise<RecoveredSession> {
    const { store, alone, shownAs } = this.#options;
    const bindings = await store.query<BindingRow>(
      'SELECT * FROM floor_bindings WHERE session = ? ORDER BY id',
      [session.id],
    );
    const fromRecord = await alone(async () => {
      const untold = await untoldOf(store, session, bindings);
      if (!dryRun) await this.#write(session, bindings, untold);
      return untold.length;
    });
    const transcripts: RecoveredTranscript[] = [];
    for (const conversation of this.#conversations(bindings))
      transcripts.push(await this.#fromTranscript(session, bindings, conversation, dryRun));
    const missing = transcripts.reduce((sum, one) => sum + one.missing, 0);
    if (!dryRun && fromRecord + missing > 0) await this.#tell(session, fromRecord, missing);
    return {
      ...{ session_id: session.id, slug: session.slug, project: shownAs(session.project) },
      ...{ from_record: fromRecord, from_transcripts: missing, transcripts },
    };
  }

  /** What fed a session; also that of an agent in a pane of which no hook has told anything. */
  #conversations(bindings: readonly BindingRow[]): readonly KeptConversation[] {
    const found = new Map<string, KeptConversation>();
    for (const binding of bindings) {
      const { pane } = binding;
      const { vendor, conversation } = this.#feedOf(binding);
      if (vendor && conversation) found.set(`${vendor} ${conversation}`, { vendor, conversation, pane });
    }
    return [...found.values()];
  }

  #feedOf({ pane, vendor, conversation, until_at }: BindingRow): {
    readonly vendor?: string | null | undefined;
    readonly conversation?: string | null | undefined;
  } {
    if (conversation !== null || pane === null || until_at !== null) return { vendor, conversation };
    return this.#options.agentIn(pane) ?? {};
  }

  async #fromTranscript(
    session: SessionRow,
    bindings: readonly BindingRow[],
    of: KeptConversation,
    dryRun: boolean,
  ): Promise<RecoveredTranscript> {
    const { store, transcripts, alone } = this.#options;
    const { vendor, conversation } = of;
    const { path, problem: refused } = await transcripts.find(of);
    const none = { vendor, conversation, ...(path !== undefined && { path }), events: 0, missing: 0 };
    if (path === undefined || refused !== undefined)
      return { ...none, ...(refused !== undefined && { problem: refused }) };
    const spans = bindings.filter((one) => {
      const feed = this.#feedOf(one);
      return feed.vendor === vendor && feed.conversation === conversation;
    });
    const since = await this.#keptSince(session);
    const until = this.#options.clock.now() - (this.#options.graceMs ?? defaultGraceMs);
    const items: Item[] = [];
    let trouble: string | undefined;
    for await (const { events, problem } of transcripts.read(of, path)) {
      trouble ??= problem;
      for (const { id, at, heard } of events)
        if (at >= since && at <= until && spans.some((span) => isWithin(span, at)))
          items.push({ id, at, marks: marksOf(told(vendor, heard)) });
    }
    return alone(async () => {
      const known = pair(items, await knownOf(store, vendor, conversation));
      const missing = items.filter((item) => !known.has(item));
      const result = { ...none, events: items.length, missing: missing.length };
      const wanted = new Set(missing.map(({ id }) => id));
      if (wanted.size > 0 && !dryRun)
        for await (const { events } of transcripts.read(of, path, wanted))
          await this.#write(
            session,
            spans,
            events.map(
              ({ id, at, heard, raw }): Missing => ({
                ...{ id: captureId(of, id), agent: vendor, pane: null, asTool: false, occurredAt: at },
                ...{ normalised: heard, raw: raw ?? new Uint8Array(), reconstructed: true },
              }),
            ),
          );
      return { ...result, ...(trouble !== undefined && { problem: trouble }) };
    });
  }

  /** Each lot is one commit: what was killed in between goes on where it was. */
  async #write(
    session: SessionRow,
    bindings: readonly BindingRow[],
    missing: readonly Missing[],
  ): Promise<void> {
    const { store } = this.#options;
    const driverAt = await driverThen(store, session);
    const into = ({ occurredAt }: Captured) => {
      const fed = bindings.findLast((one) => isWithin(one, occurredAt));
      return { id: session.id, agent: fed?.agent ?? session.agent, driver: driverAt(occurredAt) };
    };
    for (const [reconstructed, group] of Map.groupBy(missing, (one) => one.reconstructed))
      for (let first = 0; first < group.length; first += atOnce)
        await this.#commit(group.slice(first, first + atOnce), { late: true, reconstructed, into });
  }

  async #commit(lot: readonly Missing[], how: Parameters<CaptureStory['write']>[1]): Promise<void> {
    const { story, events, insertKept } = this.#options;
    const kept = lot.flatMap((one) => (one.raw ? [insertKept(one, one.raw)] : []));
    for (let tries = 0; ; tries++) {
      const { statements, drafts } = await story.write(lot, { ...how, tries });
      // The session was deleted meanwhile.
      if (statements.length === 0) return;
      try {
        await events.append(drafts, [...kept, ...statements]);
        return;
      } catch (error) {
        if (!isConflict(error) || tries >= mostTries) throw error;
      }
    }
  }

  /** One line for whoever follows, however much it was. */
  async #tell(session: SessionRow, fromRecord: number, fromTranscripts: number): Promise<void> {
    const { recorder, events, hub } = this.#options;
    const where = [
      ...(fromRecord > 0 ? [`${fromRecord} from the record`] : []),
      ...(fromTranscripts > 0 ? [`${fromTranscripts} from the transcript of the agent`] : []),
    ];
    const text = `What was missing was filled in: ${where.join(', ')}.`;
    const data = { recovered: fromRecord + fromTranscripts };
    const { statements, drafts } = recorder.write(hub, [
      { session, kind: 'notice', sender: hub.participant, text, data },
    ]);
    try {
      await events.append(drafts, [...statements, recount(session)]);
    } catch (error) {
      // The session was deleted meanwhile.
      if (!isConflict(error)) throw error;
    }
  }

  /** What its project no longer keeps does not come back. */
  async #keptSince({ project }: SessionRow): Promise<number> {
    const [row] = await this.#options.store.query<{ readonly days: number | null }>(
      'SELECT retention_days AS days FROM projects WHERE key = ?',
      [project],
    );
    return row?.days == null ? 0 : this.#options.clock.now() - row.days * dayMs;
  }
}

/** What a session counts is wrong where something of it was lost. */
const recount = ({ id }: SessionRow): Statement => ({
  sql: `UPDATE floor_sessions SET entries = (SELECT count(*) FROM timeline WHERE session = floor_sessions.id),
    prompts = (SELECT count(*) FROM timeline WHERE session = floor_sessions.id AND kind = 'prompt') WHERE id = ?`,
  values: [id],
});

const isWithin = ({ from_at, until_at }: BindingRow, at: number): boolean =>
  from_at <= at && (until_at === null || at < until_at);

/** The same for the same event, whoever reads it again. */
const captureId = ({ vendor, conversation }: KeptConversation, id: string): string =>
  `tr-${createHash('sha256').update([vendor, conversation, id].join('\n')).digest('hex').slice(0, 32)}`;
