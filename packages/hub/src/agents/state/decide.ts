import { type AgentReason, authorities } from '@polyphony/protocol';
import { isAtRest, isBusy, type Signal } from './signal.ts';

/** A screen is drawn, and a session file written, so much after what they tell of. */
const settleMs = 300;
/** So long an agent may show nothing of what an event told. */
const patienceMs = 2_000;
/** A question that has not gone by then was not answered: somebody may wait for nothing else. */
const questionMs = 1_000;

export interface Decision {
  readonly signal: Signal;
  /** Why this one is believed, to be read behind "known". */
  readonly rule: string;
}

/**
 * Whom to believe. The highest source that tells anything, unless a lower one tells something else that is newer:
 * no hook tells of Esc, a screen does. Undefined when nobody tells anything.
 */
export function decide(signals: readonly Signal[], now: number): Decision | undefined {
  const telling = authorities
    .map((authority) => signals.find(({ from, status }) => from === authority && status !== 'unknown'))
    .filter((signal) => signal !== undefined);
  const [highest, ...lower] = telling;
  if (!highest) return undefined;
  let decision: Decision = { signal: highest, rule: whyHighest(highest, lower) };
  for (const signal of lower) {
    const rule = whyOverruled(decision.signal, signal, now);
    if (rule !== undefined) decision = { signal, rule };
  }
  const reason = fullestReason(decision.signal, telling);
  return reason ? { ...decision, signal: { ...decision.signal, reason } } : decision;
}

function whyHighest({ from, status }: Signal, lower: readonly Signal[]): string {
  if (lower.length === 0) return `by its ${from} alone`;
  const others = lower.filter((signal) => signal.status !== status);
  if (others.length === 0) return `by its ${from}, and by its ${namesOf(lower)} too`;
  return `by its ${from}, believed before its ${namesOf(others)}`;
}

const namesOf = (signals: readonly Signal[]): string => signals.map(({ from }) => from).join(' and its ');

/** One source may know that it waits, and another for what. */
function fullestReason({ status, reason }: Signal, telling: readonly Signal[]): AgentReason | undefined {
  if (status !== 'blocked' || (reason && Object.keys(reason).length > 1)) return reason;
  const known = telling.flatMap((signal) => (signal.status === status && signal.reason) || []);
  const same = known.filter(({ kind }) => reason === undefined || kind === reason.kind);
  return same.find((one) => Object.keys(one).length > 1) ?? same[0];
}

/** Why a lower source is believed before a higher one; undefined when it is not. */
function whyOverruled(higher: Signal, lower: Signal, now: number): string | undefined {
  const { from } = higher;
  const by = `by its ${lower.from}, showing`;
  // What has ended does nothing any more.
  if (lower.status === higher.status || from === 'process') return undefined;
  // It works on, and its screen may show nothing of it.
  if (higher.lasting && isBusy(higher) && isAtRest(lower)) return undefined;
  if (isAtRest(higher) && isAtRest(lower))
    return higher.status === 'idle' && lower.status === 'error' && lower.seen > higher.at
      ? `${by} that it has failed, of which its ${from} told nothing`
      : undefined;
  if (isAtRest(higher) && isBusy(lower)) {
    if (lower.seen > higher.at) return `${by} it since its ${from} told that it rests`;
    // Not yet redrawn: it may be a moment behind, or just begin the next turn.
    return now < higher.at + patienceMs ? `${by} no rest yet, though its ${from} told of it` : undefined;
  }
  if (hasGone(higher, lower)) return `${by} that what its ${from} told of has gone`;
  // A question or a failure that came up since cannot be of the time before; anything else may be drawn late.
  const lag = lower.status === 'blocked' || lower.status === 'error' ? 0 : settleMs;
  if (lower.at > higher.at + lag) return `${by} something new since its ${from} told otherwise`;
  const wait = lower.status === 'blocked' ? questionMs : patienceMs;
  return lower.seen > higher.at + wait ? `${by} it still, long after its ${from} told otherwise` : undefined;
}

/** Whether the question that a source tells of was shown by a lower one, which shows something else since. */
function hasGone(higher: Signal, { at, before }: Signal): boolean {
  const isShown = before?.status === 'blocked' && before.at > higher.at - settleMs;
  return higher.status === 'blocked' && isShown && at > higher.at;
}

/** When to look again, because what is believed now may not hold for long; undefined when nothing contradicts it. */
export function nextLook(signals: readonly Signal[], now: number): number | undefined {
  const told = signals.filter(({ status }) => status !== 'unknown');
  if (told.every(({ status }) => status === told[0]?.status)) return undefined;
  const latest = Math.max(...told.map(({ at }) => at));
  return [latest + settleMs, latest + questionMs, latest + patienceMs]
    .map((at) => at + 20)
    .find((at) => at > now);
}
