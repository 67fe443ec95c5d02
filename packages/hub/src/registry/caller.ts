import { type Participant, type Scope, scopes } from '@polyphony/protocol';

/** Who asks, as proved by a credential and never as said in a body. */
export interface Caller {
  readonly participant: Participant;
  readonly scopes: ReadonlySet<Scope>;
  /** The pane whose credential was shown. */
  readonly pane?: string;
  /** Digest of that credential, which tells the pane from others that had its id before, or have it after; of an agent without a pane, its id. */
  readonly birth?: string;
  /** The agent it has registered as, and how often that had changed hands by then. */
  readonly agent?: { readonly id: string; readonly generation: number };
  /** The name of a person whom the user has invited. */
  readonly person?: string;
  /** What that pane descends from, or itself, and of an invited person that person: what is shared out goes by this, so that nobody gets more by starting panes. */
  readonly family?: string;
}

/** Whether a person asks, and neither a program in a pane nor an agent that has registered. */
export const isPerson = ({ pane, agent }: Caller): boolean => pane === undefined && agent === undefined;

/** Whether it is the user: the person this hub belongs to. */
export const isUser = (caller: Caller): boolean => isPerson(caller) && caller.person === undefined;

/** How a refusal names somebody. */
export const nameOf = ({ pane, participant }: Caller): string => pane ?? participant;

/** Who shares what a caller may use up, in words. */
export const sharersWith = ({ pane, participant }: Caller): string =>
  pane === undefined ? participant : `${pane} and the panes of its family`;

export const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** What a program in a pane may ask for; on panes only on its own and those it made. */
export const paneScopes: ReadonlySet<Scope> = new Set<Scope>([
  'pane:read',
  'pane:write',
  'pane:drive',
  'pane:spawn',
  'agent:write',
  'mail:read',
  'mail:write',
  'task:read',
  'task:write',
  'contract:read',
  'contract:write',
  'file:read',
  'file:write',
  'floor:read',
  'floor:write',
  'events:read',
  'events:emit',
  'extensions:run',
]);

/** What a person may ask for whom the user has invited; on panes only on those that feed a session. */
export const personScopes: ReadonlySet<Scope> = new Set<Scope>([
  'pane:read',
  'pane:drive',
  'mail:read',
  'mail:write',
  'mail:watch',
  'task:read',
  'task:write',
  'contract:read',
  'contract:write',
  'file:read',
  'floor:read',
  'floor:write',
  'approval:read',
  'approval:write',
  'events:read',
]);

/** What it may ask the user for, call by call. */
export const askableScopes: ReadonlySet<Scope> = new Set<Scope>(['extensions:write']);
