import type { AgentStatus, CaptureKind } from '@polyphony/protocol';

/** What an event tells of what the agent does from then on. */
export interface StateRule {
  readonly status: AgentStatus;
  readonly blockedOn?: 'permission' | 'question' | 'plan' | 'rate limit';
}

/** Where in an event stands what. A place is a field's name, with dots for what lies deeper. */
export interface Places {
  /** The words: a prompt, an answer, a notice. */
  readonly text?: string;
  readonly tool?: string;
  readonly input?: string;
  readonly result?: string;
  readonly call?: string;
  readonly error?: string;
  /** Why it happened: `startup`, `clear`, `prompt_input_exit`. */
  readonly reason?: string;
}

/** Where an event inside a sub-agent says which it is. */
interface SubagentPlaces {
  readonly id: string;
  /** What kind of sub-agent it is, by the name its agent has for that. */
  readonly type: string;
  /** Where a sub-agent has a conversation of its own: that of the agent above it, which only its events have. */
  readonly above?: string;
}

/** What one event of an agent means. */
interface Rule extends Places {
  readonly kind: CaptureKind;
  /** It is the deed of the person before the agent, as a prompt always is. */
  readonly by?: 'user';
  readonly state?: StateRule;
  /** Applied instead where a field has one of these values, or a value that matches. */
  readonly where?: readonly {
    readonly field: string;
    readonly is: RegExp;
    readonly kind?: CaptureKind;
    readonly by?: 'user';
    readonly state: StateRule | null;
  }[];
}

/** Everything capture knows about the hooks of one agent, as data. */
export interface Adapter {
  readonly session: string;
  readonly turn?: string;
  readonly subagent?: SubagentPlaces;
  readonly cwd: string;
  /** The events it has under their own names; one that is not here is kept as `other`. */
  readonly events: Readonly<Record<string, Rule>>;
  /** What no hook tells, and the agent itself has kept. */
  readonly kept?: Readonly<Record<string, Rule>>;
  /** What looks like a prompt and is none: no person wrote it. */
  readonly notByAPerson?: RegExp;
  /** What its hooks do not tell, and where it is seen instead. */
  readonly gaps: readonly string[];
}
