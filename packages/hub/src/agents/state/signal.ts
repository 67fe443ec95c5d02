import type { AgentReason, AgentStatus, Authority } from '@polyphony/protocol';

/** What one source tells of an agent. */
export interface Signal {
  readonly from: Authority;
  readonly status: AgentStatus;
  /** What it waits for. */
  readonly reason?: AgentReason | undefined;
  /** The words that tell it, and where they stand. */
  readonly evidence: string;
  /** Since when it says so. */
  readonly at: number;
  /** What it said until then, and since when, where it can be looked at again. */
  readonly before?: { readonly status: AgentStatus; readonly at: number } | undefined;
  /** When it was last seen to say so. An event is seen once; a screen as often as somebody looks. */
  readonly seen: number;
  /** It would tell at once if it were otherwise, and so is never old. */
  readonly lasting?: boolean | undefined;
}

/** At rest an agent does nothing by itself, and its screen looks the same whichever of these it is. */
export function isAtRest({ status, reason }: Pick<Signal, 'status' | 'reason'>): boolean {
  return (
    status === 'idle' || status === 'done' || status === 'error' || (status === 'blocked' && isLimit(reason))
  );
}

const isLimit = (reason: AgentReason | undefined): boolean => reason?.kind === 'rate limit';

/** It works, or it waits for somebody: to take it for idle would be the worst mistake. */
export function isBusy(signal: Pick<Signal, 'status' | 'reason'>): boolean {
  return signal.status === 'running' || (signal.status === 'blocked' && !isLimit(signal.reason));
}
