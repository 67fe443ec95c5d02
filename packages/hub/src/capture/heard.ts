import type { AgentReason, AgentStatus } from '@polyphony/protocol';
import type { Store } from '../store/store.ts';
import type { StateRule } from './adapters/adapter.ts';
import { type Normalised, normalise, parsePayload } from './normalise.ts';

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
  const evidence = `hook: ${event}${tool === undefined ? '' : ` of ${tool}`}`;
  const reason = reasonOf(state, normalised);
  return { at, sessionId: session, state: { status: state.status, evidence, ...(reason && { reason }) } };
}

/** Events that lie between two that tell what an agent does are few. */
const lookBack = 40;

/** What the hooks in a pane told last since a moment, newest first where they say what the agent does. */
export async function lastHeard(store: Store, pane: string, since: number): Promise<Heard | undefined> {
  const sql = `SELECT agent, occurred_at AS at, raw FROM captures
    WHERE pane = ? AND occurred_at >= ? AND as_tool = 0 ORDER BY seq DESC LIMIT ${lookBack}`;
  const rows = await store.query<{ readonly agent: string; readonly at: number; readonly raw: Uint8Array }>(
    sql,
    [pane, Math.round(since)],
  );
  const heard = rows.map(({ agent, at, raw }) => {
    const { normalised, state } = normalise(agent, parsePayload(raw));
    return heardOf(at, normalised, state);
  });
  return heard.find(({ state }) => state !== null);
}

function reasonOf(
  { blockedOn }: StateRule,
  { tool, input, text, error }: Normalised,
): AgentReason | undefined {
  if (blockedOn === undefined) return undefined;
  const said = text ?? error;
  if (blockedOn === 'question') return { kind: blockedOn, ...questionIn(input) };
  return {
    kind: blockedOn,
    ...(tool !== undefined && { tool }),
    ...(input !== undefined && { input }),
    ...(said !== undefined && { text: said }),
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
