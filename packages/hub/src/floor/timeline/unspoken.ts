import { setTimeout } from 'node:timers/promises';
import type { BuiltInEvents } from '@polyphony/protocol';
import type { EventLog, Source } from '../../events/event-log.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import { openBinding } from '../feed.ts';
import type { SessionRow } from '../session-row.ts';
import type { NewEntry, Recorder } from './recorder.ts';

export interface UnspokenOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly recorder: Recorder;
  readonly log: Log;
  readonly hub: Source;
  /** Whether the hooks of the agent in a pane tell of Esc themselves, however late. */
  readonly tellsOfEsc: (paneId: string) => boolean;
  /** How long a hook may take that tells after all how a turn ended. */
  readonly graceMs?: number;
}

type State = BuiltInEvents['agent:state'];

type Ending = Pick<NewEntry, 'kind' | 'text' | 'call'>;

/** An agent that was seen to come to rest. */
interface Seen {
  readonly pane: string;
  readonly status: State['status'];
  readonly before: State['before'];
  readonly at: number;
  readonly evidence: string;
}

const defaultGraceMs = 3_000;
const interrupted: Ending = { kind: 'interrupt', text: 'The turn was interrupted.' };
/** What stands in a place of the screen, without the sign before it. */
const wordsOf = (evidence: string): string => evidence.replace(/^[a-z ]+: [^\p{L}\p{N}{["]*/u, '');
/** What is told of a turn is not further back than this. */
const newest = 'SELECT * FROM timeline WHERE session = ? ORDER BY seq DESC LIMIT 500';

/**
 * What no hook tells: Esc in the midst of a turn, No at a question, and of some agents that a turn has failed. Where an
 * agent is known to rest, and no hook has told by then how its turn ended, somebody has ended it. One that works again
 * with nothing new to do has not ended: for a moment its screen looked so.
 */
export class Unspoken {
  readonly #options: UnspokenOptions;
  readonly #ended = new AbortController();
  /** When the agent in a pane was last seen to have failed. */
  readonly #failedAt = new Map<string, number>();
  /** When it was last seen to work. */
  readonly #workedAt = new Map<string, number>();
  readonly #unlisten: () => void;

  constructor(options: UnspokenOptions) {
    this.#options = options;
    this.#unlisten = options.events.listen((batch) => {
      for (const { event, payload, at } of batch)
        if (event === 'agent:state') void this.hear(payload as State, at);
    });
  }

  /** Settles once it is known whether there was something to write down. */
  async hear({ paneId, status, before, authority, evidence = '' }: State, at: number): Promise<void> {
    if (status === 'running') this.#workedAt.set(paneId, at);
    // What an agent says itself of its turns comes another way than its hooks, and perhaps before them.
    if (authority === 'protocol') return;
    if (status === 'error') this.#failedAt.set(paneId, at);
    const rests = status === 'idle' || status === 'done';
    const wasBusy = before === 'running' || before === 'blocked';
    if (status !== 'error' && !(rests && wasBusy)) return;
    if (rests && before === 'running' && this.#options.tellsOfEsc(paneId)) return;
    const { graceMs = defaultGraceMs, log } = this.#options;
    try {
      await setTimeout(graceMs, undefined, { signal: this.#ended.signal, ref: false });
      // That a turn has failed may be seen only after it has ended.
      if (rests && (this.#failedAt.get(paneId) ?? 0) > at) return;
      await this.#write({ pane: paneId, status, before, at, evidence });
    } catch (error) {
      if (!this.#ended.signal.aborted)
        log.warn('how a turn ended could not be written down', { paneId, error });
    }
  }

  close(): void {
    this.#unlisten();
    this.#ended.abort();
  }

  async #write({ pane, status, before, at, evidence }: Seen): Promise<void> {
    const { store, events, recorder, hub } = this.#options;
    const open = await openBinding(store, { pane, vendor: null, conversation: null });
    if (!open) return;
    const [session] = await store.query<SessionRow>('SELECT * FROM floor_sessions WHERE id = ?', [
      open.session,
    ]);
    if (!session) return;
    const person = session.driver?.startsWith('agent:') === false ? session.driver : hub.participant;
    const told =
      status === 'error'
        ? await this.#unended(session.id, at, { kind: 'failure', text: wordsOf(evidence) })
        : before === 'blocked'
          ? await this.#rejected(session.id)
          : await this.#unended(session.id, at, interrupted, (this.#workedAt.get(pane) ?? 0) > at);
    if (!told) return;
    const entry: NewEntry = {
      ...{ session, ...told, occurredAt: at, data: { inferred: true, evidence } },
      sender: told.kind === 'failure' ? (open.agent ?? session.agent ?? person) : person,
    };
    const { statements, drafts } = recorder.write(hub, [entry]);
    await events.append(drafts, statements);
  }

  /** The last question that nobody is known to have answered. */
  async #rejected(session: string): Promise<Ending | undefined> {
    const [asked] = await this.#options.store.query<{ readonly text: string; readonly call: string | null }>(
      `SELECT text, call FROM (${newest}) AS asked WHERE kind = 'asked' AND NOT EXISTS (
        SELECT 1 FROM timeline later WHERE later.session = asked.session AND later.seq > asked.seq
          AND later.kind IN ('approved', 'rejected', 'tool_result', 'answer', 'failure', 'interrupt'))
        ORDER BY seq DESC LIMIT 1`,
      [session],
    );
    return asked && { kind: 'rejected', text: asked.text, ...(asked.call !== null && { call: asked.call }) };
  }

  /**
   * How the turn ended that ran at that moment, where nothing tells it: before the next began, if one has by now. Where
   * the agent works again, only if one has.
   */
  async #unended(session: string, at: number, told: Ending, worksAgain = false): Promise<Ending | undefined> {
    const [row] = await this.#options.store.query<{
      readonly begun: number | null;
      readonly more: number;
      readonly over: number;
    }>(
      `WITH newest AS (${newest}), begun AS (SELECT max(seq) AS seq FROM newest
          WHERE kind = 'prompt' AND occurred_at <= ?)
        SELECT begun.seq AS begun, (SELECT count(*) FROM newest
          WHERE kind = 'prompt' AND newest.seq > begun.seq) AS more, (SELECT count(*) FROM newest WHERE newest.seq > begun.seq
          AND newest.seq < coalesce((SELECT min(later.seq) FROM newest later
            WHERE later.kind = 'prompt' AND later.seq > begun.seq), newest.seq + 1)
          AND (kind IN ('failure', 'interrupt', 'session_end') OR json_extract(data, '$.turn_over') = 1)) AS over
        FROM begun`,
      [session, at],
    );
    if (!row || row.begun === null || row.over > 0) return undefined;
    return worksAgain && row.more === 0 ? undefined : told;
  }
}
