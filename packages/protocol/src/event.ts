import type { AgentReason, AgentStatus, Authority, DeliveryState } from './agent.ts';
import type { Approval, Decision } from './approval.ts';
import type { CaptureKind } from './capture.ts';
import type { ContractChange } from './contract-change.ts';
import type { ErrorInfo } from './error.ts';
import type { ClaimMode } from './file-claim.ts';
import type { AnnotationKind } from './floor-annotation.ts';

import type { Participant } from './id.ts';
import type { MemberState } from './named-agent.ts';
import type { TimelineKind } from './timeline-kind.ts';

/** A fact in the log. */
export interface PolyEvent<Payload = unknown> {
  /** Orders all events of a hub; never reused. */
  readonly seq: number;
  readonly event: string;
  readonly payload: Payload;
  /** Who caused it, as the hub knows it. */
  readonly source: Participant;
  /** The pane that caused it, when one did. */
  readonly pane?: string;
  /** When it happened, in milliseconds since 1970; `seq` alone orders. */
  readonly at: number;
}

/** Who holds, or held, a task, and by which claim. */
export interface TaskHolding {
  readonly taskId: string;
  readonly project: string;
  readonly owner: string;
  readonly fence: number;
}

/** Which session, by its id, and by the key of its project. */
export interface SessionPlace {
  readonly sessionId: string;
  readonly projectKey: string;
}

/** Who has the seat of a session from then on, or had it until then, and who had it before. */
interface Seating extends SessionPlace {
  readonly driver: string;
  readonly fence: number;
  readonly before?: string;
}

export interface AnnotationTold {
  readonly annotationId: string;
  readonly kind: AnnotationKind;
  readonly entryId?: string;
}

/** What the hub itself tells. Anybody may emit any other name. */
export interface BuiltInEvents {
  readonly 'action:start': { readonly actionName: string; readonly params: unknown };
  readonly 'action:success': {
    readonly actionName: string;
    readonly params: unknown;
    readonly result: unknown;
  };
  readonly 'action:error': {
    readonly actionName: string;
    readonly params: unknown;
    readonly errorInfo: ErrorInfo;
  };
  readonly 'handler:error': { readonly source: string; readonly event: string; readonly error: string };
  readonly 'pane:created': { readonly paneId: string };
  readonly 'pane:exited': {
    readonly paneId: string;
    readonly exitCode: number | null;
    readonly exitSignal: string | null;
    readonly notice?: string;
  };
  readonly 'pane:activated': { readonly paneId: string };
  /** Its record and its output are gone. */
  readonly 'pane:removed': { readonly paneId: string };
  readonly 'session:started': Record<string, never>;
  readonly 'session:stopped': Record<string, never>;
  readonly 'session:attached': Record<string, never>;
  readonly 'session:detached': Record<string, never>;
  readonly 'server:started': Record<string, never>;
  readonly 'server:shutdown': Record<string, never>;
  readonly 'agent:created': { readonly paneId: string };
  /** An agent that somebody else has started is watched from now on. */
  readonly 'agent:adopted': { readonly paneId: string };
  /** It is no longer watched, and lives on if it ran. */
  readonly 'agent:released': { readonly paneId: string };
  readonly 'agent:state': {
    readonly paneId: string;
    readonly status: AgentStatus;
    readonly before?: AgentStatus;
    readonly reason?: AgentReason;
    readonly evidence?: string;
    readonly authority?: Authority;
    /** Somebody should look, and nobody has it before them. */
    readonly attention?: true | undefined;
  };
  /** An event of a coding agent's own hooks is in the record; without an id it is only known that one is missing. */
  readonly 'agent:captured': {
    readonly captureId: string | null;
    readonly agent: string;
    /** As the agent calls it. */
    readonly event: string;
    readonly kind: CaptureKind;
    readonly sessionId: string | null;
    readonly paneId?: string;
  };
  /** Who is whom from now on; never a secret. */
  readonly 'mail:registered': {
    readonly agentId: string;
    readonly name: string;
    readonly project: string;
    readonly how: 'new' | 'again' | 'taken-over';
  };
  readonly 'mail:renamed': {
    readonly agentId: string;
    readonly name: string;
    readonly before: string;
    readonly project: string;
  };
  readonly 'mail:unregistered': { readonly agentId: string; readonly name: string; readonly project: string };
  /** A message is in the inboxes of these; what it says is for them alone. */
  readonly 'mail:sent': {
    readonly messageId: string;
    readonly eventId: number;
    readonly project: string;
    readonly from: string;
    readonly recipients: readonly string[];
    /** Those for whom nothing is tried: how it is with them is known from the beginning. */
    readonly settled: readonly string[];
    readonly needReply: boolean;
  };
  /** Somebody has read up to here. */
  readonly 'mail:read': { readonly recipient: string; readonly upTo: number };
  /** How far messages have got with one recipient: each step, in order. */
  readonly 'mail:delivery': {
    readonly recipient: string;
    readonly messages: readonly string[];
    readonly state: DeliveryState;
    readonly door?: string | undefined;
    readonly reason?: string | undefined;
  };
  /** What retention forgot. */
  readonly 'mail:forgotten': { readonly messages: number; readonly unread: number };
  readonly 'task:added': {
    readonly taskId: string;
    readonly title: string;
    readonly project: string;
    readonly dependsOn: readonly string[];
  };
  readonly 'task:claimed': TaskHolding & { readonly leaseUntil: string };
  readonly 'task:released': TaskHolding;
  /** Its claim ran out, or who held it is gone: it can be claimed again. */
  readonly 'task:expired': TaskHolding & { readonly reason: 'lease' | 'gone' };
  readonly 'task:reassigned': TaskHolding & { readonly from: string | null; readonly leaseUntil: string };
  readonly 'task:depends': { readonly taskId: string; readonly dependsOn: readonly string[] };
  readonly 'task:completed': TaskHolding;
  /** It is built on an older version of a contract: it cannot be completed before that is acknowledged. */
  readonly 'task:stale': {
    readonly taskId: string;
    readonly project: string;
    readonly contract: string;
    readonly builtOn: number;
    readonly version: number;
  };
  /** There is a new version; of many changes the first are told here, and all by contract:diff. */
  readonly 'contract:changed': {
    readonly name: string;
    readonly project: string;
    readonly version: number;
    readonly from: number;
    readonly breaking: boolean;
    readonly changes: readonly ContractChange[];
    readonly changesInAll: number;
    /** Who is to acknowledge it. */
    readonly dependents: readonly string[];
  };
  readonly 'contract:acknowledged': {
    readonly name: string;
    readonly project: string;
    readonly version: number;
    readonly tasks: readonly string[];
  };
  /** A file that is watched cannot be read as a contract, or is gone; told once. */
  readonly 'contract:trouble': {
    readonly name: string;
    readonly project: string;
    readonly path: string;
    readonly problem: string;
  };
  readonly 'contract:mended': { readonly name: string; readonly project: string; readonly path: string };
  readonly 'file:claimed': {
    readonly claimId: string;
    readonly holder: string;
    readonly root: string;
    readonly paths: readonly string[];
    readonly mode: ClaimMode;
    readonly until: string;
  };
  /** A new claim meets an older one of somebody else. */
  readonly 'file:conflict': {
    readonly claimId: string;
    readonly holder: string;
    readonly meets: string;
    readonly other: { readonly claimId: string; readonly holder: string; readonly pattern: string };
  };
  readonly 'file:released': { readonly claimId: string; readonly holder: string };
  readonly 'file:expired': {
    readonly claimId: string;
    readonly holder: string;
    readonly reason: 'lease' | 'gone';
  };
  /** What exactly would be done may be secret: approval:list shows it, to the user alone. */
  readonly 'approval:requested': Pick<
    Approval,
    'id' | 'kind' | 'action' | 'paneId' | 'decider' | 'reason' | 'expiresAt'
  >;
  readonly 'approval:resolved': { readonly id: string; readonly decision: Decision };
  readonly 'approval:expired': { readonly id: string };
  readonly 'approval:withdrawn': { readonly id: string; readonly reason: string };
  readonly 'person:invited': { readonly participant: string };
  /** Somebody who was invited has opened the page. */
  readonly 'person:came': { readonly participant: string };
  readonly 'person:removed': { readonly participant: string };
  readonly 'project:created': { readonly projectKey: string; readonly name: string };
  readonly 'project:renamed': { readonly projectKey: string; readonly name: string; readonly before: string };
  readonly 'project:tagged': { readonly projectKey: string; readonly tags: readonly string[] };
  readonly 'project:archived': { readonly projectKey: string; readonly archived: boolean };
  readonly 'project:deleted': { readonly projectKey: string };
  readonly 'project:retention': { readonly projectKey: string; readonly days: number | null };
  readonly 'floor:archived': SessionPlace & { readonly archived: boolean };
  readonly 'floor:deleted': SessionPlace;
  /** A session is new; one that was forked says from which. */
  readonly 'floor:opened': SessionPlace & { readonly slug: string; readonly forkedFrom?: string };
  /** What an agent does goes into a session from now on. */
  readonly 'floor:joined': SessionPlace & { readonly pane?: string; readonly agent?: string };
  readonly 'floor:left': SessionPlace & { readonly pane?: string; readonly reason: string };
  /** Its label, agent or driver is another. */
  readonly 'floor:changed': SessionPlace;
  readonly 'floor:annotated': SessionPlace & AnnotationTold;
  readonly 'floor:unannotated': SessionPlace & AnnotationTold;
  /** Somebody has the seat of a session, and may type there. */
  readonly 'floor:claimed': Seating & { readonly leaseUntil: string };
  readonly 'floor:handed-over': Seating & { readonly leaseUntil: string };
  /** Its driver has left the seat open. */
  readonly 'floor:released': Seating;
  /** The seat is open, because its driver did nothing for too long, or is gone. */
  readonly 'floor:expired': Seating & { readonly reason: 'lease' | 'gone' };
  /** A named agent is new, is known otherwise, or has no longer its name; never a secret. */
  readonly 'floor:agent-added': { readonly name: string };
  readonly 'floor:agent-changed': { readonly name: string };
  readonly 'floor:agent-removed': { readonly name: string };
  /** A named agent is a member of a project, with a session there; or no longer. */
  readonly 'floor:agent-joined': SessionPlace & { readonly name: string; readonly how: string };
  readonly 'floor:agent-left': SessionPlace & { readonly name: string };
  /** How it stands with a named agent in a project. */
  readonly 'floor:agent-state': SessionPlace & {
    readonly name: string;
    readonly state: MemberState;
    readonly reason?: string;
    readonly nextAt?: string;
  };
  /** It has used up what it may say; told once, until it is heard again. */
  readonly 'floor:agent-throttled': {
    readonly name: string;
    readonly projectKey: string;
    readonly until: string;
  };
  readonly 'floor:knowledge-changed': { readonly path: string; readonly projectKey?: string };
  /** What is new in a timeline, without its words. */
  readonly 'floor:recorded': SessionPlace & {
    readonly entries: readonly {
      readonly entryId: string;
      readonly kind: TimelineKind;
      readonly sender: string;
    }[];
    /** It happened long ago and was missing. */
    readonly late?: true;
  };
}

export type BuiltInEventName = keyof BuiltInEvents;

/** Nouns whose events and actions are the hub's own. */
export const reservedNouns = [
  'action',
  'agent',
  'approval',
  'contract',
  'extensions',
  'file',
  'floor',
  'handler',
  'mail',
  'pane',
  'person',
  'project',
  'server',
  'session',
  'shell',
  'task',
  'workspace',
] as const;

const longestName = 128;
const eventName = /^[A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** Why nobody but the hub may emit this, or undefined when anybody may. */
export function refusedEventName(name: string): string | undefined {
  if (name.length > longestName || !eventName.test(name)) {
    return `"${name.slice(0, longestName)}" is no event's name: use at most ${longestName} letters, digits, ".", "_", "-" and ":" between words.`;
  }
  const noun = name.split(':', 1)[0];
  if (name.includes(':') && reservedNouns.some((reserved) => reserved === noun)) {
    return `events of "${noun}" are told by the hub alone.`;
  }
  return undefined;
}

/** Which events somebody wants: exact names, `prefix:*` and `*`. */
export class EventFilter {
  readonly #all: boolean;
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  readonly patterns: readonly string[];

  constructor(include: string) {
    this.patterns = include
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    this.#all = this.patterns.includes('*');
    this.#prefixes = this.patterns.filter((part) => part.endsWith(':*')).map((part) => part.slice(0, -1));
    this.#names = new Set(this.patterns);
  }

  get empty(): boolean {
    return this.patterns.length === 0;
  }

  matches(name: string): boolean {
    return this.#all || this.#names.has(name) || this.#prefixes.some((prefix) => name.startsWith(prefix));
  }
}
