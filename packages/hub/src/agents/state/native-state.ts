import type { AgentReason, AgentStatus } from '@polyphony/protocol';

/** What an agent's own protocol tells. */
export interface NativeState {
  readonly status: AgentStatus;
  readonly reason?: AgentReason | undefined;
  readonly evidence: string;
  readonly sessionId: string;
}

/** Follows an agent by its own protocol until the signal; tells undefined where that tells nothing any more. */
export type NativeSource = (
  signal: AbortSignal,
  tell: (state: NativeState | undefined) => void,
) => Promise<void>;
