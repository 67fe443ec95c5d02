import { type Participant, participantOf } from '@polyphony/protocol';
import { type Caller, paneScopes } from '../registry/caller.ts';

/** Everything the hub knows about an agent that has registered. */
export interface AgentRecord {
  readonly id: string;
  /** As it was first written; compared by its key. */
  readonly project: string;
  readonly projectKey: string;
  readonly name: string;
  /** What it was called before, the last first. */
  readonly formerNames?: readonly string[] | undefined;
  readonly displayName?: string | undefined;
  readonly role?: string | undefined;
  readonly client?: string | undefined;
  readonly model?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly directory?: string | undefined;
  /** The folder it may have files read in: that of its pane, or what the user said who let it register. */
  readonly reach?: string | undefined;
  /** The pane it runs in, with the digest of that pane's credential, which proves it. */
  readonly pane: { readonly id: string; readonly birth: string } | null;
  readonly secretHash: string;
  /** How often it has changed hands: connections from before a change no longer speak for it. */
  readonly generation: number;
  readonly registeredAt: number;
  readonly seenAt: number;
  /** When it left its project. */
  readonly leftAt?: number | undefined;
  /** Who took it from whom, so that the one before can be told. */
  readonly takenOver?: {
    readonly by: Participant;
    readonly at: number;
    /** The pane that had it. */
    readonly birth?: string | undefined;
  };
}

export const participantOfAgent = ({ name }: Pick<AgentRecord, 'name'>): Participant =>
  participantOf('agent', name);

/** Whoever shows the secret of an agent, or has registered: it may do what a pane may, with panes that it makes. */
export function callerOf(record: AgentRecord, by?: Caller): Caller {
  const { id, generation } = record;
  const inPane = by?.pane !== undefined;
  return {
    ...(inPane ? by : { birth: id, family: id }),
    participant: participantOfAgent(record),
    scopes: paneScopes,
    agent: { id, generation },
  };
}
