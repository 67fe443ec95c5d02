import { type FloorRecordParams, PolyError, type TimelineEntry } from '@polyphony/protocol';
import { draft } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { Holder } from '../../registry/holder.ts';
import type { Commit } from '../../registry/registry.ts';
import { isConflict } from '../../store/errors.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { SessionRow } from '../session-row.ts';
import type { CaptureStory } from './capture-story.ts';
import { type EntryRow, entriesOf } from './entry-row.ts';
import type { Captured } from './ledger.ts';
import type { Recorder } from './recorder.ts';

/** Reads an event as if a capture hook had told it: what it says, and what is kept of it. */
export type ReadEvent = (event: {
  readonly id: string;
  readonly vendor: string;
  readonly payload: unknown;
  readonly occurredAt: number;
  readonly pane: string | null;
}) => { readonly captured: Captured; readonly insert: Statement };

export interface RecordsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly story: CaptureStory;
  readonly readEvent: ReadEvent;
}

/** What is put into a timeline by somebody's own word. */
export class Records {
  readonly #options: RecordsOptions;

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /** An event of a coding agent; who sent it is who must have, whatever is claimed. */
  async event(
    asker: Holder,
    session: SessionRow,
    params: FloorRecordParams,
    commit: Commit,
  ): Promise<TimelineEntry> {
    const { clock, random, readEvent, story } = this.#options;
    const feed = await this.#feedOf(asker, session);
    if (!asker.isUser && !feed)
      throw new PolyError('forbidden', `${asker.participant} does not feed the session "${session.slug}".`, {
        hint: 'Join it first: poly join PROJECT --session SESSION',
      });
    const agent = feed?.agent ?? session.agent;
    const { payload, vendor = 'claude', event_id, at } = params;
    const id = `by-${session.id}-${event_id ?? random.hex(8)}`;
    const known = await this.#entryOf('capture', id);
    if (known) return known;
    // Nothing is told before it happens: what stood in the future would be the newest for ever. Pages begin with 1970.
    const now = clock.now();
    const occurredAt = at === undefined ? now : Math.min(now, Math.max(0, Date.parse(at)));
    const { captured, insert } = readEvent({ id, vendor, payload, occurredAt, pane: asker.pane });
    const sender = story.senderOf(captured, { ...session, agent });
    if (params.sender !== undefined && params.sender !== sender)
      throw new PolyError('forbidden', `this is by ${sender}, and not by "${params.sender}".`, {
        hint: 'Leave sender out: prompts are of the person who drives, everything else is of the agent.',
      });
    for (let tries = 0; ; tries++) {
      const written = await story.write([captured], { tries, into: () => ({ id: session.id, agent }) });
      const { event, kind, session: conversation } = captured.normalised;
      const told = draft(asker.source, 'agent:captured', {
        ...{ captureId: id, agent: vendor, event, kind, sessionId: conversation },
        ...(asker.pane !== null && { paneId: asker.pane }),
      });
      try {
        await commit({
          ...{ statements: [insert, ...written.statements], drafts: [told, ...written.drafts] },
          result: undefined,
        });
        return (await this.#entryOf('capture', id)) as TimelineEntry;
      } catch (error) {
        // Somebody else may have handed over the same at the same time.
        const same = await this.#entryOf('capture', id);
        if (same) return same;
        if (!isConflict(error)) throw error;
      }
    }
  }

  /** Something that somebody says to all who follow a session. */
  async reply(asker: Holder, session: SessionRow, message: string, commit: Commit): Promise<TimelineEntry> {
    const { recorder } = this.#options;
    const feed = await this.#feedOf(asker, session);
    const sender = (feed && (feed.agent ?? session.agent)) ?? asker.participant;
    const { statements, drafts, ids } = recorder.write(asker.source, [
      { session, kind: 'reply', sender, text: message },
    ]);
    await commit({ statements, drafts, result: undefined });
    return (await this.#entryOf('id', ids[0] ?? '')) as TimelineEntry;
  }

  /** What somebody brings into a session from the pane they are in; nothing where they do not. */
  async #feedOf(
    { pane }: Holder,
    { id }: SessionRow,
  ): Promise<{ readonly agent: string | null } | undefined> {
    const [feed] = await this.#options.store.query<{ readonly agent: string | null }>(
      'SELECT agent FROM floor_bindings WHERE session = ? AND pane = ? AND until_at IS NULL',
      [id, pane],
    );
    return feed;
  }

  async #entryOf(column: 'id' | 'capture', value: string): Promise<TimelineEntry | undefined> {
    const { store } = this.#options;
    const rows = await store.query<EntryRow>(`SELECT * FROM timeline WHERE ${column} = ?`, [value]);
    const [entry] = await entriesOf(store, rows);
    return entry;
  }
}
