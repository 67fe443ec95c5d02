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
  /** How long a hook may take that tells after all how a turn ended. */
  readonly graceMs?: number;
}

type State = BuiltInEvents['agent:state'];

const defaultGraceMs = 1_500;
/** What is told of a turn is not further back than this. */
const newest = 'SELECT * FROM timeline WHERE session = ? ORDER BY seq DESC LIMIT 500';

/**
 * What no hook tells: Esc in the midst of a turn, and No at a question. The session file and the screen of the agent
 * show that it rests; where no hook has told by then how the turn ended, somebody has ended it.
 */
export class Unspoken {
  readonly #options: UnspokenOptions;
  readonly #ended = new AbortController();
  readonly #unlisten: () => void;

  constructor(options: UnspokenOptions) {
    this.#options = options;
    this.#unlisten = options.events.listen((batch) => {
      for (const { event, payload, at } of batch)
        if (event === 'agent:state') void this.hear(payload as State, at);
    });
  }

  /** Settles once it is known whether there was something to write down. */
  async hear({ paneId, status, before, authority, evidence }: State, at: number): Promise<void> {
    const rests = status === 'idle' || status === 'done';
    const isSeen = authority === 'session file' || authority === 'screen';
    if (!rests || !isSeen || (before !== 'running' && before !== 'blocked')) return;
    const { graceMs = defaultGraceMs, log } = this.#options;
    try {
      await setTimeout(graceMs, undefined, { signal: this.#ended.signal, ref: false });
      await this.#write(paneId, before, at, evidence ?? '');
    } catch (error) {
      if (!this.#ended.signal.aborted)
        log.warn('how a turn ended could not be written down', { paneId, error });
    }
  }

  close(): void {
    this.#unlisten();
    this.#ended.abort();
  }

  async #write(pane: string, before: 'running' | 'blocked', at: number, evidence: string): Promise<void> {
    const { store, events, recorder, hub } = this.#options;
    const open = await openBinding(store, { pane, vendor: null, conversation: null });
    if (!open) return;
    const [session] = await store.query<SessionRow>('SELECT * FROM floor_sessions WHERE id = ?', [
      open.session,
    ]);
    if (!session) return;
    const told =
      before === 'blocked' ? await this.#rejected(session.id) : await this.#interrupted(session.id);
    if (!told) return;
    const entry: NewEntry = {
      ...{ session, ...told, occurredAt: at, data: { inferred: true, evidence } },
      sender: session.driver?.startsWith('agent:') === false ? session.driver : hub.participant,
    };
    const { statements, drafts } = recorder.write(hub, [entry]);
    await events.append(drafts, statements);
  }

  /** The last question that nobody is known to have answered. */
  async #rejected(session: string): Promise<Pick<NewEntry, 'kind' | 'text' | 'call'> | undefined> {
    const [asked] = await this.#options.store.query<{ readonly text: string; readonly call: string | null }>(
      `SELECT text, call FROM (${newest}) AS asked WHERE kind = 'asked' AND NOT EXISTS (
        SELECT 1 FROM timeline later WHERE later.session = asked.session AND later.seq > asked.seq
          AND later.kind IN ('approved', 'rejected', 'tool_result', 'answer', 'failure', 'interrupt'))
        ORDER BY seq DESC LIMIT 1`,
      [session],
    );
    return asked && { kind: 'rejected', text: asked.text, ...(asked.call !== null && { call: asked.call }) };
  }

  /** A turn that was begun and of which nothing tells how it ended. */
  async #interrupted(session: string): Promise<Pick<NewEntry, 'kind' | 'text'> | undefined> {
    const [row] = await this.#options.store.query<{ readonly begun: number; readonly over: number }>(
      `SELECT coalesce(max(CASE WHEN kind = 'prompt' THEN seq END), 0) AS begun,
        coalesce(max(CASE WHEN kind IN ('failure', 'interrupt', 'session_end')
          OR json_extract(data, '$.turn_over') = 1 THEN seq END), 0) AS over FROM (${newest}) AS newest`,
      [session],
    );
    return row && row.begun > row.over ? { kind: 'interrupt', text: 'The turn was interrupted.' } : undefined;
  }
}
