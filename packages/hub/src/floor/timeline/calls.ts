import type { TimelineKind } from '@polyphony/protocol';
import type { Store } from '../../store/store.ts';
import type { Captured } from './ledger.ts';
import { told } from './story.ts';

/** A tool that was begun, and what became of it so far. */
interface Call {
  readonly call: string;
  readonly tool: string;
  readonly input: string;
  /** As its entry says it. */
  readonly text: string;
  asked: boolean;
  settled: boolean;
  ended: boolean;
}

interface CallRow {
  readonly session: string;
  readonly call: string;
  readonly kind: TimelineKind;
  readonly text: string;
  readonly data: string;
}

export interface Outcome {
  readonly kind: 'approved' | 'rejected';
  readonly call: string;
  readonly text: string;
}

/** What asks for or ends a tool. */
const namesTool: ReadonlySet<string> = new Set(['tool_ended', 'tool_failed', 'asked', 'allowed', 'refused']);
/** That, and what else tells what became of one. */
const aboutTools: ReadonlySet<string> = new Set([
  ...namesTool,
  ...['tool_started', 'prompt', 'turn_ended', 'turn_failed', 'interrupted'],
]);
/** What comes when no tool of the turn before is waited for any more. */
const endsTurn: ReadonlySet<TimelineKind> = new Set(['prompt', 'answer', 'failure', 'interrupt']);
/** So far back a tool may have begun that ends now. */
const lookBack = 200;

/**
 * Which tool an event is about, also of agents that have no id for it, and what the user must have answered: a tool
 * that was asked for and has ended was approved, one that has not when its turn ends or the next begins was not.
 */
export class Calls {
  readonly #calls = new Map<string, Call[]>();

  static async load(
    store: Store,
    sessions: readonly string[],
    captured: readonly Captured[],
  ): Promise<Calls> {
    const calls = new Calls();
    if (!captured.some(({ normalised }) => aboutTools.has(normalised.kind))) return calls;
    for (const session of sessions) {
      const rows = await store.query<CallRow>(
        `SELECT session, call, kind, text, data FROM (
          SELECT seq, session, call, kind, text, data FROM timeline WHERE session = ? ORDER BY seq DESC LIMIT ${lookBack}
        ) AS newest WHERE call IS NOT NULL ORDER BY seq`,
        [session],
      );
      for (const row of rows) calls.#know(row);
    }
    return calls;
  }

  #know({ session, call, kind, text, data }: CallRow): void {
    const known = this.#in(session);
    if (kind === 'tool') {
      const { tool = '', input = '' } = JSON.parse(data) as {
        readonly tool?: string;
        readonly input?: string;
      };
      known.push({ ...{ call, tool, input, text }, asked: false, settled: false, ended: false });
      return;
    }
    const one = known.findLast((found) => found.call === call);
    if (one) note(one, kind);
  }

  /** What the tool of an event is known by; nothing where it is about none. */
  of(session: string, { id, agent, normalised }: Captured): string | undefined {
    const { kind, tool = '', input = '', call } = normalised;
    const known = this.#in(session);
    if (kind === 'tool_started') {
      const name = call ?? id;
      const { text } = told(agent, normalised);
      known.push({ ...{ call: name, tool, input, text }, asked: false, settled: false, ended: false });
      return name;
    }
    if (!namesTool.has(kind)) return undefined;
    const open = known.filter((one) => !one.ended);
    const found =
      open.findLast((one) => one.call === call) ??
      (call === undefined
        ? (open.findLast((one) => one.tool === tool && (input === '' || one.input === input)) ??
          open.findLast((one) => one.tool === tool) ??
          (kind === 'asked' ? onlyOne(open) : undefined))
        : undefined);
    return found?.call ?? call;
  }

  /** What must have been answered before this, as far as nobody has told it. */
  settle(
    session: string,
    { normalised }: Captured,
    call: string | undefined,
    kind: TimelineKind,
  ): readonly Outcome[] {
    const known = this.#in(session);
    // With what a sub-agent did the turn of its agent is not over.
    const isOver = endsTurn.has(kind) && normalised.subagent === undefined;
    const outcomes = known.flatMap((one): readonly Outcome[] => {
      if (!one.asked || one.settled || one.ended) return [];
      const { text } = one;
      if (kind === 'tool_result' && one.call === call) return [{ kind: 'approved', call: one.call, text }];
      return isOver ? [{ kind: 'rejected', call: one.call, text }] : [];
    });
    for (const outcome of outcomes)
      for (const one of known) if (one.call === outcome.call) note(one, outcome.kind);
    const about = known.findLast((one) => one.call === call);
    if (about) note(about, kind);
    return outcomes;
  }

  #in(session: string): Call[] {
    const known = this.#calls.get(session) ?? [];
    this.#calls.set(session, known);
    return known;
  }
}

/** Gemini 0.61.0 names in its question what is done, and not the tool that does it. */
const onlyOne = ([first, ...others]: readonly Call[]): Call | undefined =>
  others.length === 0 ? first : undefined;

function note(call: Call, kind: TimelineKind): void {
  if (kind === 'asked') call.asked = true;
  if (kind === 'approved' || kind === 'rejected') call.settled = true;
  if (kind === 'tool_result') call.ended = true;
}
