import {
  type AdoptedAgentInfo,
  type AgentExplanation,
  type AgentInfo,
  type AgentReason,
  type AgentStatus,
  type Authority,
  agentStatuses,
  type BuiltInEvents,
  type Meta,
  type PaneScreen,
  type PaneStatus,
  reasonText,
} from '@polyphony/protocol';
import type { Source } from '../../events/event-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { Turns } from '../../platform/turns.ts';
import type { ScreenRules } from '../screens/screen-rules.ts';
import type { VendorName } from '../vendors/vendor.ts';
import { recogniseVendor } from '../vendors/vendors.ts';
import { type Decision, decide } from './decide.ts';
import { nativeSource } from './native-source.ts';
import type { Signal } from './signal.ts';
import { WatchedAgent, type WatchedPane } from './watched-agent.ts';

/** A pane, as far as the state of an agent depends on it. */
export interface StatePane {
  readonly id: string;
  readonly title: string;
  readonly argv: readonly string[];
  readonly pid: number;
  readonly cwd: string;
  readonly createdAt: number;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly meta: Meta;
  readonly status: PaneStatus;
}

/** What the states of agents need of the rest of the hub. */
export interface AgentStatesOptions {
  /** Hears of each pane that is new or has changed. */
  readonly onPane: (listener: (pane: StatePane) => void) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly hub: Source;
  readonly rules: ScreenRules;
  /** The command line that its process has, whatever it would be started with again. */
  readonly argvOf: (pane: StatePane) => readonly string[];
  readonly find: (paneId: string) => StatePane | undefined;
  readonly screen: (paneId: string) => Promise<PaneScreen>;
  /** Comes round each time the pane has printed something. */
  readonly stirs: (paneId: string, signal: AbortSignal) => AsyncIterable<unknown>;
  /** Keeps notes with a pane, in one step with the event that tells of them. */
  readonly note: (paneId: string, set: Meta, told?: StateTold) => Promise<unknown>;
  /** What its hooks told last; asked when the hub begins to watch it. */
  readonly lastHeard: (pane: StatePane) => Promise<Heard | undefined>;
  /** Whether somebody has it before them now. */
  readonly isLookedAt: (paneId: string) => boolean;
  /** Of one that runs in no pane of ours, where it does and what can be known of it, by those who tell of it now too. */
  readonly adoptedInfo: (paneId: string, telling: readonly Authority[]) => AdoptedAgentInfo | undefined;
  /** What nobody tells of this kind of agent. */
  readonly gapsOf: (vendor: string) => readonly string[];
}

/** What somebody says that an agent does. */
interface SaidState {
  readonly status: AgentStatus;
  readonly reason?: AgentReason | undefined;
  readonly error?: string | undefined;
}

/** An event that tells what an agent does now. */
export interface StateTold {
  readonly from: Source;
  readonly state: BuiltInEvents['agent:state'];
}

/** What a hook told: what the agent does from then on, if it said so, and which conversation it is in. */
export interface Heard {
  readonly at: number;
  readonly sessionId: string | null;
  readonly state: {
    readonly status: AgentStatus;
    readonly reason?: AgentReason | undefined;
    readonly evidence: string;
  } | null;
}

/** One agent that is watched, and what is believed of it. */
interface Entry {
  readonly agent: WatchedAgent;
  readonly bornAt: number;
  status: AgentStatus | undefined;
  /** What it waits for, in words. */
  reason: string;
  since: number;
  decision?: Decision;
  /** It moves because it has just been started: nobody has asked it for anything. Not known until it moves or rests. */
  boots?: boolean;
}

/** What every agent is doing, who says so, and since when; tells whenever that changes. */
export class AgentStates {
  readonly #options: AgentStatesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #turns = new Turns();

  constructor(options: AgentStatesOptions) {
    this.#options = options;
    options.onPane((pane) => this.meet(pane));
  }

  /** Looks at a pane that is new, has changed, or was found again. */
  meet(pane: StatePane): void {
    if (pane.meta['agent.runtime'] === undefined) return;
    const entry = this.#entries.get(pane.id);
    if (pane.status === 'exited') this.#end(pane);
    else if (entry?.bornAt !== pane.createdAt) this.#watch(pane);
  }

  #watch(pane: StatePane): void {
    const paneId = pane.id;
    this.forget(paneId);
    const { clock, screen, rules, find, stirs, lastHeard, log } = this.#options;
    const vendor = vendorOf(pane);
    const watched: WatchedPane = {
      vendor,
      pid: pane.pid,
      startedAt: pane.createdAt,
      screen: () => screen(paneId),
      read: (shown) => rules.readScreen(vendor, shown, find(paneId)?.meta['agent.version']),
      stirs: (signal: AbortSignal) => stirs(paneId, signal),
      native: nativeSource({ ...pane, vendor, startedAt: pane.createdAt, argv: this.#options.argvOf(pane) }),
    };
    const entry: Entry = {
      agent: new WatchedAgent(watched, clock, (decision) => this.#believe(paneId, entry, decision)),
      bornAt: pane.createdAt,
      status: statusIn(pane.meta),
      reason: String(pane.meta['agent.reason'] ?? ''),
      since: Date.parse(String(pane.meta['agent.lastEventAt'])) || clock.now(),
    };
    this.#entries.set(paneId, entry);
    // Of a program that nobody can read, what it said before the hub was started is all that is known.
    if (watched.vendor === 'generic' && entry.status !== undefined && toldStatuses.has(entry.status)) {
      const status = entry.status === 'done' ? 'idle' : entry.status;
      const { since: at } = entry;
      void entry.agent.hear({ from: 'protocol', status, evidence: `it said ${status}`, at, seen: at });
    }
    lastHeard(pane).then(
      (heard) => this.#entries.get(paneId) === entry && heard && this.hear(paneId, heard),
      (error: unknown) => log.warn('what an agent told before cannot be read', { paneId, error }),
    );
  }

  /** A hook of the agent in this pane told something. */
  hear(paneId: string, { at, sessionId, state }: Heard): void {
    const agent = this.#entries.get(paneId)?.agent;
    // Codex 0.166.0 tells that a conversation has ended a minute after /clear has begun another.
    if (state?.status === 'gone' && this.#isInAnother(paneId, sessionId)) return;
    if (sessionId !== null) agent?.meet(sessionId);
    if (state) void agent?.hear({ from: 'hooks', ...state, at, seen: at });
    this.#noteSession(paneId, sessionId);
  }

  /** Somebody, mostly the agent itself, says what it is doing; answers, once that is noted, whether it is watched. */
  async tell(paneId: string, { status, reason, error }: SaidState): Promise<boolean> {
    const entry = this.#entries.get(paneId);
    if (!entry) return false;
    const at = this.#options.clock.now();
    const evidence = `it said ${status}${error ? `: ${error.slice(0, 200)}` : ''}`;
    await entry.agent.hear({ from: 'protocol', status, reason, evidence, at, seen: at });
    await this.#turns.take(paneId, async () => undefined);
    return true;
  }

  /** Somebody has looked at it: what was done is then idle. */
  see(paneId: string): void {
    const entry = this.#entries.get(paneId);
    if (entry?.status === 'done') this.#change(paneId, entry, 'idle');
  }

  describe(pane: StatePane): AgentInfo {
    const { id, title, meta, status, exitCode, exitSignal } = pane;
    const telling = this.#entries.get(id)?.agent.signals.map(({ from }) => from) ?? [];
    const adopted = this.#options.adoptedInfo(id, telling);
    const vendor = String(meta['agent.runtime'] ?? vendorOf(pane));
    const sessionId = meta['agent.sessionId'];
    const known = {
      ...{ id, vendor, title, ...(adopted && { adopted }) },
      ...(typeof sessionId === 'string' && { sessionId }),
    };
    const noted = meta['agent.lastEventAt'];
    const then = typeof noted === 'string' && { since: noted };
    if (status === 'exited') return { ...known, status: 'gone', ...then, exitCode, exitSignal };
    const entry = this.#entries.get(id);
    if (!entry?.decision) return { ...known, status: statusIn(meta) ?? 'unknown', ...then };
    const { reason, evidence, from } = entry.decision.signal;
    return {
      ...known,
      status: entry.status ?? 'unknown',
      since: new Date(entry.since).toISOString(),
      ...(reason && { reason }),
      evidence,
      authority: from,
    };
  }

  explain(pane: StatePane): AgentExplanation {
    const entry = this.#entries.get(pane.id);
    const now = this.#options.clock.now();
    const info = this.describe(pane);
    const decider = entry?.decision?.signal.from;
    return {
      ...info,
      rule:
        entry?.decision?.rule ??
        (pane.status === 'exited' ? 'by its process, which has ended' : 'by nobody yet'),
      signals: (entry?.agent.signals ?? []).map(({ from, status, reason, evidence, at }) => ({
        ...{ authority: from, status, ...(reason && { reason }), evidence },
        ...{ ageMs: Math.max(0, now - at), decides: from === decider },
      })),
      gaps: this.#options.gapsOf(vendorOf(pane)),
    };
  }

  /** When it last printed something; nothing where nobody has followed that. */
  drawnAt(paneId: string): number | undefined {
    return this.#entries.get(paneId)?.agent.drawnAt;
  }

  /** What is known of an agent without its screen. */
  told(paneId: string): Signal | undefined {
    const signals = this.#entries.get(paneId)?.agent.signals ?? [];
    const others = signals.filter(({ from }) => from !== 'screen');
    return decide(others, this.#options.clock.now())?.signal;
  }

  /** Whether its hooks have told anything. */
  isHeard(paneId: string): boolean {
    return this.#entries.get(paneId)?.agent.signals.some(({ from }) => from === 'hooks') ?? false;
  }

  #end(pane: StatePane): void {
    this.forget(pane.id);
    const before = statusIn(pane.meta);
    if (before === 'gone') return;
    const state = {
      ...{ paneId: pane.id, status: 'gone' as const, ...(before && { before }) },
      evidence: 'its program has ended',
    };
    this.#note(pane.id, noteOf('gone', this.#options.clock.now()), { from: this.#options.hub, state });
  }

  /** Its record is gone, or somebody else's program takes its place. */
  forget(paneId: string): void {
    this.#entries.get(paneId)?.agent.close();
    this.#entries.delete(paneId);
  }

  close(): void {
    for (const paneId of [...this.#entries.keys()]) this.forget(paneId);
  }

  #believe(paneId: string, entry: Entry, decision: Decision): void {
    this.#noteSession(paneId, entry.agent.sessionId);
    const { status, reason, from } = decision.signal;
    entry.decision = decision;
    // Whoever else tells of work tells of a turn.
    if (status === 'running' && from !== 'screen') entry.boots = false;
    const shown = status === 'idle' ? this.#atRest(paneId, entry) : status;
    // More of why it waits may be known a moment after that it does.
    const sameReason = !reason || entry.reason.startsWith(reasonText(reason));
    if (shown !== entry.status || !sameReason) this.#change(paneId, entry, shown);
  }

  /** Kept, so that its conversation can be taken up again. */
  #noteSession(paneId: string, sessionId: string | null): void {
    if (sessionId !== null && this.#notedSession(paneId) !== sessionId)
      this.#note(paneId, { 'agent.sessionId': sessionId });
  }

  #notedSession(paneId: string): unknown {
    return this.#options.find(paneId)?.meta['agent.sessionId'];
  }

  #isInAnother(paneId: string, sessionId: string | null): boolean {
    const known = this.#notedSession(paneId);
    return sessionId !== null && typeof known === 'string' && known !== sessionId;
  }

  /** What came to rest while nobody looked is done, until somebody does. */
  #atRest(paneId: string, { status, boots }: Entry): AgentStatus {
    const ended = status === 'running' && !boots;
    const unseen = status === 'done' || (ended && !this.#options.isLookedAt(paneId));
    return unseen ? 'done' : 'idle';
  }

  #change(paneId: string, entry: Entry, status: AgentStatus): void {
    const before = entry.status;
    const { reason, evidence, from: authority } = entry.decision?.signal ?? {};
    if (status !== before) entry.since = this.#options.clock.now();
    if (status === 'running') entry.boots = this.#isBooting(paneId, entry);
    else if (status === 'idle' || status === 'done') entry.boots = false;
    entry.status = status;
    entry.reason = reason ? reasonText(reason) : '';
    const state = {
      ...{ paneId, status, ...(before && { before }), ...(reason && { reason }) },
      ...(evidence !== undefined && { evidence }),
      ...(authority && { authority }),
      ...(status !== before &&
        needsSomebody.has(status) &&
        !this.#options.isLookedAt(paneId) && { attention: true as const }),
    };
    this.#note(paneId, noteOf(status, entry.since, reason), { from: this.#options.hub, state });
  }

  /** Codex 0.166.0 shows work while it starts. */
  #isBooting(paneId: string, { status: before, decision, boots }: Entry): boolean {
    const begunWith = this.#options.find(paneId)?.meta['agent.once'];
    // One that has rested before is asked for something, although its screen could not be read in between.
    const first = boots ?? before === 'starting';
    return first && decision?.signal.from === 'screen' && begunWith === undefined;
  }

  /** What is believed is believed at once; it is written down and told in its turn. */
  #note(paneId: string, set: Meta, told?: StateTold): void {
    const { note, find, log } = this.#options;
    this.#turns
      .take(paneId, async () => find(paneId) && (await note(paneId, set, told)))
      .catch((error: unknown) => log.warn('what an agent does could not be noted', { paneId, error }));
  }
}

/** What only an agent itself says, and not the fact that it was started. */
const toldStatuses: ReadonlySet<AgentStatus> = new Set(['idle', 'running', 'blocked', 'done', 'error']);

const needsSomebody: ReadonlySet<AgentStatus> = new Set(['blocked', 'done', 'error']);

/** The notes of a pane that say what its agent does. */
export function noteOf(status: AgentStatus, at: number, reason?: AgentReason): Meta {
  return {
    'agent.status': status,
    'agent.reason': reason ? reasonText(reason) : null,
    'agent.lastEventAt': new Date(at).toISOString(),
  };
}

const statusIn = (meta: Meta): AgentStatus | undefined =>
  agentStatuses.find((status) => status === meta['agent.status']);

const vendorOf = ({ argv }: Pick<StatePane, 'argv'>): VendorName => recogniseVendor(argv).name;
