import type { AgentReason, AgentStatus } from '@polyphony/protocol';
import type { Store } from '../store/store.ts';
import type { StateRule } from './adapters/adapter.ts';
import { type Normalised, normalise, parsePayload } from './normalise.ts';
import { resetTime } from './reset-time.ts';

/** What an event tells of an agent: what it does from then on, if it says so, and which conversation it is in. */
export interface Heard {
  readonly at: number;
  readonly sessionId: string | null;
  readonly state: {
    readonly status: AgentStatus;
    readonly reason?: AgentReason;
    readonly evidence: string;
  } | null;
}

export function heardOf(at: number, normalised: Normalised, state: StateRule | null): Heard {
  const { event, session, tool } = normalised;
  if (!state) return { at, sessionId: session, state: null };
  const failure = state.status === 'error' ? (normalised.text ?? normalised.error) : undefined;
  const evidence = `hook: ${event}${tool === undefined ? '' : ` of ${tool}`}${failure ? `: ${failure.slice(0, mostFailure)}` : ''}`;
  const reason = reasonOf(at, state, normalised);
  return { at, sessionId: session, state: { status: state.status, evidence, ...(reason && { reason }) } };
}

const mostFailure = 200;

/** Events that lie between two that tell what an agent does are few. */
const lookBack = 40;

/**
 * What the hooks in a pane told last since a moment, newest first where they say what the agent does. Of an agent that
 * was adopted since, also what they told of its conversation before.
 */
export async function lastHeard(
  store: Store,
  pane: string,
  since: number,
  session: string | null = null,
): Promise<Heard | undefined> {
  const columns = 'SELECT seq, agent, occurred_at AS at, raw FROM captures';
  const sql = `SELECT * FROM (${columns} WHERE pane = ? AND occurred_at >= ? AND as_tool = 0 AND origin <> 'transcript'
      ORDER BY seq DESC LIMIT ${lookBack})
    UNION ALL SELECT * FROM (${columns} WHERE session = ? AND pane IS NULL AND occurred_at >= ? AND as_tool = 0 AND origin <> 'transcript'
      ORDER BY seq DESC LIMIT ${lookBack}) ORDER BY seq DESC LIMIT ${lookBack}`;
  const from = Math.round(since);
  const rows = await store.query<{ readonly agent: string; readonly at: number; readonly raw: Uint8Array }>(
    sql,
    [pane, from, session, from],
  );
  const heard = rows.map(({ agent, at, raw }) => {
    const { normalised, state } = normalise(agent, parsePayload(raw));
    return heardOf(at, normalised, state);
  });
  return heard.find(({ state }) => state !== null);
}

/** An agent in no pane of ours, as far as its hooks can be known for its own. */
interface Stranger {
  readonly agent: string;
  /** When it was started. */
  readonly since: number;
  readonly sessionId: string | null;
  /** How the variables of its tmux pane begin, as hooks write them down. */
  readonly tmux: string | null;
}

/** So many of the newest events are looked through. */
const newest = 10_000;

/** What hooks told of an agent before anybody here knew it: whether anything, and of which conversation. */
export async function heardBefore(
  store: Store,
  { agent, since, sessionId, tmux }: Stranger,
): Promise<{ readonly heard: boolean; readonly sessionId: string | null }> {
  const sql = `SELECT DISTINCT session FROM captures WHERE seq > (SELECT coalesce(max(seq), 0) FROM captures) - ${newest}
    AND pane IS NULL AND agent = ? AND occurred_at >= ? AND session IS NOT NULL AND origin <> 'transcript'
    AND (session = ? OR (? = '' AND substr(tmux, 1, length(?)) = ?)) LIMIT 2`;
  const place = sessionId === null ? tmux : null;
  const values = [agent, Math.round(since), sessionId, place === null ? '-' : '', place ?? '', place ?? ''];
  const rows = await store.query<{ readonly session: string }>(sql, values);
  // Two conversations in one terminal may be one after the other, or one inside the other: nobody can tell which it is in.
  if (rows.length !== 1) return { heard: false, sessionId };
  return { heard: true, sessionId: rows[0]?.session ?? null };
}

function reasonOf(
  at: number,
  { blockedOn }: StateRule,
  { tool, input, text, error }: Normalised,
): AgentReason | undefined {
  if (blockedOn === undefined) return undefined;
  const said = text ?? error;
  const resetsAt = blockedOn === 'rate limit' ? resetTime(said ?? '', at) : undefined;
  if (blockedOn === 'question') return { kind: blockedOn, ...questionIn(input) };
  return {
    kind: blockedOn,
    ...(tool !== undefined && { tool }),
    ...(input !== undefined && { input }),
    ...(said !== undefined && { text: said }),
    ...(resetsAt !== undefined && { resetsAt }),
  };
}

interface Question {
  readonly question?: unknown;
  readonly options?: readonly { readonly label?: unknown }[];
}

/** The first question of a list, in the form that Claude Code and OpenCode share; of any other nothing. */
function questionIn(input: string | undefined): Partial<AgentReason> {
  try {
    const parsed = JSON.parse(input ?? '') as
      | { readonly questions?: readonly Question[] }
      | readonly Question[];
    const [first] = Array.isArray(parsed)
      ? (parsed as readonly Question[])
      : ((parsed as { questions?: readonly Question[] }).questions ?? []);
    const options = first?.options?.map(({ label }) => String(label));
    return {
      ...(first?.question !== undefined && { text: String(first.question) }),
      ...(options && { options }),
    };
  } catch {
    return {}; // Cut short, or of a form nobody knows.
  }
}
