import type { Statement, Store, Value } from '../../store/store.ts';
import { bind, type NamedFeed } from '../feed.ts';
import type { BindingRow } from '../session-row.ts';
import type { Heard } from './story.ts';

/** An event of a coding agent that is about to be written down. */
export interface Captured {
  readonly id: string;
  /** Which coding agent. */
  readonly agent: string;
  /** The pane, or the adopted agent, that is proved to have told it. */
  readonly pane: string | null;
  /** It ran as a tool of the agent that has the pane. */
  readonly asTool: boolean;
  readonly occurredAt: number;
  readonly normalised: Heard;
}

/** A binding as it will be once what is planned is committed; one that is planned only has no id yet. */
interface Held extends Omit<BindingRow, 'id' | 'until_at' | 'ended_by' | 'vendor' | 'conversation'> {
  readonly id?: number;
  vendor: string | null;
  conversation: string | null;
  until_at: number | null;
  ended_by: BindingRow['ended_by'];
}

/** Where an event belongs, and what its conversation was fed into before, where that is another session. */
export interface Place {
  readonly session: string;
  /** Whose words it brings, where that is known. */
  readonly agent: string | null;
  /** The conversation goes on in this pane, after its own had gone. */
  readonly resumed?: boolean;
  /** Another session that this conversation was in before. */
  readonly earlier?: string;
  /** It began as a copy of what was fed so far: it gets a session of its own. */
  readonly forks?: boolean;
}

/**
 * Which session what an agent told belongs to: the one that its pane, or its conversation, fed at that moment. Keeps
 * up with conversations that change under a running agent, and says what is to be written for that.
 */
export class Ledger {
  readonly #held: Held[];
  readonly #statements: Statement[] = [];

  private constructor(rows: readonly BindingRow[]) {
    this.#held = rows.map((row) => ({ ...row }));
  }

  static async load(store: Store, captured: readonly Captured[]): Promise<Ledger> {
    const panes = [...new Set(captured.flatMap(({ pane }) => pane ?? []))];
    const conversations = [...new Set(captured.flatMap(({ normalised }) => normalised.session ?? []))];
    const among = (column: string, values: readonly Value[]): string =>
      values.length === 0
        ? ''
        : `SELECT * FROM floor_bindings WHERE ${column} IN (${values.map(() => '?').join(', ')})`;
    const parts = [among('pane', panes), among('conversation', conversations)].filter(Boolean);
    if (parts.length === 0) return new Ledger([]);
    const sql = `${parts.join(' UNION ')} ORDER BY id`;
    return new Ledger(await store.query<BindingRow>(sql, [...panes, ...conversations]));
  }

  get statements(): readonly Statement[] {
    return this.#statements;
  }

  get sessions(): readonly string[] {
    return [...new Set(this.#held.map(({ session }) => session))];
  }

  /** Where an event belongs; nothing where its agent fed no session then. */
  place(captured: Captured): Place | undefined {
    // What an agent does as the tool of another is not what the session is about.
    if (captured.asTool) return undefined;
    return captured.pane === null ? this.#byConversation(captured) : this.#byPane(captured.pane, captured);
  }

  /** Puts the pane of an event into another session from that event on. */
  fork({ pane, agent: vendor, occurredAt, normalised }: Captured, session: string): void {
    if (pane === null) return;
    const agent = this.#close(pane, occurredAt, 'forked')?.agent ?? null;
    this.#open(session, { pane, vendor, conversation: normalised.session, agent }, occurredAt);
  }

  #byPane(pane: string, captured: Captured): Place | undefined {
    const { agent, occurredAt, normalised } = captured;
    const { session: conversation, kind, reason, subagent } = normalised;
    const own = this.#held.filter((one) => one.pane === pane && one.from_at <= occurredAt);
    const current = own.findLast((one) => one.until_at === null || occurredAt < one.until_at);
    if (!current) return this.#byConversation(captured) ?? this.#takenUp(pane, captured);
    const same = current.conversation === conversation && current.vendor === agent;
    // What comes late of a conversation that was left for its fork belongs to the one that was left.
    const left = own.findLast((one) => one.ended_by === 'forked' && one.conversation === conversation);
    if (!same && left && current.until_at === null) return placeOf(left);
    const tells = kind === 'session_started' || kind === 'prompt';
    if (same || conversation === null || subagent !== undefined || !tells || current.until_at !== null)
      return placeOf(current);
    if (current.conversation === null) {
      this.#learn(current, agent, conversation);
      return placeOf(current);
    }
    if (kind === 'session_started' && reason === 'fork') return { ...placeOf(current), forks: true };
    const before = this.#held.findLast(
      (one) => one.conversation === conversation && one.vendor === agent && one.session !== current.session,
    );
    this.#close(pane, occurredAt, 'changed');
    this.#open(current.session, { pane, vendor: agent, conversation, agent: current.agent }, occurredAt);
    return { ...placeOf(current), ...(before && { earlier: before.session }) };
  }

  #byConversation({ agent, occurredAt, normalised }: Captured): Place | undefined {
    const fed = this.#held.findLast(
      (one) =>
        one.pane === null &&
        one.conversation === normalised.session &&
        one.vendor === agent &&
        one.from_at <= occurredAt &&
        (one.until_at === null || occurredAt < one.until_at),
    );
    return fed && placeOf(fed);
  }

  /** A conversation whose pane has gone is taken up in another: the session goes on with it. */
  #takenUp(pane: string, { agent, occurredAt, normalised }: Captured): Place | undefined {
    const { session: conversation, subagent } = normalised;
    if (conversation === null || subagent !== undefined) return undefined;
    const last = this.#held.findLast(
      (one) => one.conversation === conversation && one.vendor === agent && one.from_at <= occurredAt,
    );
    if (last?.ended_by !== 'gone') return undefined;
    // Somebody has joined or left with this pane since.
    if (this.#held.some((one) => one.pane === pane && one.from_at > (last.until_at ?? 0))) return undefined;
    this.#open(last.session, { pane, vendor: agent, conversation, agent: last.agent }, occurredAt);
    return { ...placeOf(last), resumed: true };
  }

  #learn(held: Held, vendor: string, conversation: string): void {
    held.vendor = vendor;
    held.conversation = conversation;
    this.#statements.push({
      sql: 'UPDATE floor_bindings SET vendor = ?, conversation = ? WHERE pane = ? AND until_at IS NULL',
      values: [vendor, conversation, held.pane],
      expect: 1,
    });
  }

  #close(pane: string, at: number, why: 'changed' | 'forked'): Held | undefined {
    const open = this.#held.find((one) => one.pane === pane && one.until_at === null);
    if (!open) return undefined;
    open.until_at = Math.round(at);
    open.ended_by = why;
    this.#statements.push({
      sql: `UPDATE floor_bindings SET until_at = ?, ended_by = ?
        WHERE pane = ? AND session = ? AND until_at IS NULL`,
      values: [open.until_at, why, pane, open.session],
      expect: 1,
    });
    return open;
  }

  #open(session: string, feed: NamedFeed, at: number): void {
    this.#held.push({ session, ...feed, from_at: Math.round(at), until_at: null, ended_by: null });
    this.#statements.push(bind(session, feed, at));
  }
}

const placeOf = ({ session, agent }: Held): Place => ({ session, agent });
