import { setTimeout as pause } from 'node:timers/promises';
import type { AgentStatus, Authority, PaneScreen } from '@polyphony/protocol';
import type { Clock } from '../../platform/clock.ts';
import type { Reading } from '../read-screen.ts';
import type { VendorName } from '../vendors/vendor.ts';
import { vendors } from '../vendors/vendors.ts';
import { type Decision, decide, nextLook } from './decide.ts';
import type { NativeSource, NativeState } from './native-state.ts';
import { openConversation } from './open-conversation.ts';
import { SessionFile } from './session-file.ts';
import { isAtRest, type Signal } from './signal.ts';

/** The pane of an agent, as watching it needs it. */
export interface WatchedPane {
  readonly vendor: VendorName;
  readonly pid: number;
  readonly startedAt: number;
  screen(): Promise<PaneScreen>;
  read(screen: PaneScreen): Reading;
  /** Comes round each time it has printed something, until the signal, its end or the end of the host. */
  stirs(signal: AbortSignal): AsyncIterable<unknown>;
  /** Its own protocol, where it has one. */
  readonly native?: NativeSource | undefined;
}

/** A frame is drawn in several pieces: so long they may gather. */
const gatherMs = 40;
/** An agent that works draws all the time; so often its screen is read. */
const lookEveryMs = 200;
/** What a screen must go on saying before it is believed: between two frames it can look like this by accident. */
const confirmMs: Partial<Readonly<Record<AgentStatus, number>>> = { idle: 150, unknown: 1_000 };
/** So long an agent of which nothing is known is starting. */
const startMs = 30_000;
const retryMs = 1_000;
/** So often it is looked for the file of its conversation, while it does something: that takes a while to find. */
const conversationMs = 2_000;

/** Follows one agent: gathers what the sources tell, and weighs it whenever one of them tells something new. */
export class WatchedAgent {
  readonly #pane: WatchedPane;
  readonly #clock: Clock;
  readonly #onDecision: (decision: Decision) => void;
  readonly #signals = new Map<Authority, Signal>();
  readonly #stop = new AbortController();
  readonly #sessionFile: SessionFile | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #looking = false;
  /** Whoever waits for the next look. */
  readonly #waiting: (() => void)[] = [];
  #lastLook = 0;
  #conversation: string | null = null;
  /** Which one its session file or the file it holds open told last. */
  #found: string | null = null;
  #conversationAt = 0;
  /** When it last printed something. */
  #drawn = 0;
  /** What the screen says that is not believed yet. */
  #doubtful: { readonly reading: Reading; readonly at: number } | undefined;

  constructor(pane: WatchedPane, clock: Clock, onDecision: (decision: Decision) => void) {
    this.#pane = pane;
    this.#clock = clock;
    this.#onDecision = onDecision;
    this.#sessionFile = SessionFile.of(pane.vendor, pane.pid);
    void this.#follow();
    void pane.native?.(this.#stop.signal, (state) => this.#hearNative(state));
  }

  /** What every source tells now. */
  get signals(): readonly Signal[] {
    return [...this.#signals.values()];
  }

  /** When it last printed something, as far as it was followed. */
  get drawnAt(): number | undefined {
    return this.#drawn || undefined;
  }

  /** Which conversation it is in, as far as anybody has told. */
  get sessionId(): string | null {
    return this.#conversation;
  }

  /** A hook told which conversation it is in; its files may tell of the one before for a while. */
  meet(conversation: string): void {
    this.#conversation = conversation;
  }

  /** Takes what an event tells, unless a newer one of that source was there before; settles when that was weighed. */
  async hear(signal: Signal): Promise<void> {
    const before = this.#signals.get(signal.from);
    if (before && before.at > signal.at) return;
    this.#signals.set(signal.from, signal);
    this.#lookAt(0);
    // That it rests is believed once its screen was looked at since.
    if (isAtRest(signal) && this.#pane.vendor !== 'generic') await this.#looked();
    else this.#weigh();
  }

  /** What its own protocol tells holds until that tells otherwise, or ends. */
  #hearNative(state: NativeState | undefined): void {
    if (this.#stop.signal.aborted) return;
    const before = this.#signals.get('protocol');
    if (!state) {
      if (before?.lasting && this.#signals.delete('protocol')) this.#lookAt(0);
      return;
    }
    const { sessionId, ...told } = state;
    this.#conversation = sessionId;
    const now = this.#clock.now();
    const at = before?.lasting && before.status === told.status ? before.at : now;
    this.#signals.set('protocol', { from: 'protocol', ...told, at, seen: now, lasting: true });
    this.#lookAt(0);
    if (!isAtRest(told)) this.#weigh();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Settles after a look that begins from now on. */
  #looked(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#stop.signal.aborted) resolve();
    else this.#waiting.push(resolve);
    return promise;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#lookAt(0);
      try {
        for await (const _ of this.#pane.stirs(signal)) {
          this.#drawn = this.#clock.now();
          this.#lookAt(this.#drawn + gatherMs);
        }
      } catch {
        // The host is away, or the pane has just ended: the next round tells.
      }
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
    }
  }

  /** Looks at that time at the latest, and not more often than is of use. */
  #lookAt(time: number, everyMs: number = lookEveryMs): void {
    if (this.#stop.signal.aborted) return;
    const at = Math.max(time, this.#lastLook + everyMs, this.#clock.now());
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.#look();
    }, at - this.#clock.now());
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#looking) {
      this.#lookAt(0);
      return;
    }
    this.#looking = true;
    const waiting = this.#waiting.splice(0);
    try {
      const { vendor } = this.#pane;
      const [screen, told] = await Promise.all([
        vendor === 'generic' ? undefined : this.#pane.screen().catch(() => undefined), // It may be ending.
        this.#sessionFile?.read(),
      ]);
      if (this.#stop.signal.aborted) return;
      this.#lastLook = this.#clock.now();
      if (told) this.#keep({ from: 'session file', ...told });
      else this.#signals.delete('session file');
      this.#findConversation();
      if (screen) this.#see(this.#pane.read(screen));
      this.#weigh();
    } finally {
      this.#looking = false;
      for (const resolve of waiting) resolve();
    }
  }

  /** It opens the file some time after its start, and another one when its conversation is another. */
  #findConversation(): void {
    const { vendor, pid } = this.#pane;
    const named = this.#sessionFile?.sessionId ?? null;
    if (named !== null) this.#find(named);
    if (vendors[vendor].openFile === undefined) return;
    const due = this.#conversationAt + conversationMs;
    if (this.#lastLook < due) this.#lookAt(due);
    else {
      this.#conversationAt = this.#lastLook;
      this.#find(openConversation(vendor, pid) ?? this.#found);
    }
  }

  /** What a file has told before is no news. */
  #find(conversation: string | null): void {
    if (conversation !== this.#found) this.#conversation = conversation;
    this.#found = conversation;
  }

  #see(reading: Reading): void {
    const now = this.#clock.now();
    const before = this.#signals.get('screen');
    const same = before && before.status === reading.status && before.reason?.kind === reading.blockedOn;
    const wait = same || this.#isTold(reading, before) ? 0 : (confirmMs[reading.status] ?? 0);
    if (this.#doubtful?.reading.status !== reading.status) this.#doubtful = { reading, at: now };
    const since = this.#doubtful.at;
    if (now < since + wait) {
      this.#lookAt(since + wait, wait);
      return;
    }
    this.#doubtful = undefined;
    this.#keep({ from: 'screen', ...signalOf(reading) }, since);
  }

  /** Whether somebody else has told of the rest that a screen shows, since that showed otherwise. */
  #isTold(reading: Reading, before: Signal | undefined): boolean {
    return (
      isAtRest(reading) &&
      this.signals.some(
        (signal) => signal.from !== 'screen' && isAtRest(signal) && signal.at >= (before?.at ?? 0),
      )
    );
  }

  /** Keeps what a source says that can be looked at again: since when, and when it was last seen. */
  #keep(told: Omit<Signal, 'at' | 'seen'>, since = this.#clock.now()): void {
    const now = this.#clock.now();
    const before = this.#signals.get(told.from);
    const same = before && before.status === told.status && before.reason?.kind === told.reason?.kind;
    // One that works draws all the time: a picture of work that stands still tells of the past.
    const seen = told.status === 'running' && told.from === 'screen' ? this.#drawn || since : now;
    this.#signals.set(told.from, {
      ...told,
      at: same ? before.at : since,
      before: same ? before.before : before && { status: before.status, at: before.at },
      seen: same ? Math.max(before.seen, seen) : seen,
    });
  }

  #weigh(): void {
    if (this.#stop.signal.aborted) return;
    const now = this.#clock.now();
    const again = nextLook(this.signals, now);
    if (again !== undefined) this.#lookAt(again);
    this.#onDecision(decide(this.signals, now) ?? this.#nothingKnown(now));
  }

  #nothingKnown(now: number): Decision {
    const { startedAt } = this.#pane;
    const young = now < startedAt + startMs;
    if (young) this.#lookAt(startedAt + startMs);
    const evidence = young ? 'it has just been started' : 'it runs, and nothing tells what it does';
    const status = young ? 'starting' : 'unknown';
    return {
      signal: { from: 'process', status, evidence, at: young ? startedAt : startedAt + startMs, seen: now },
      rule: 'by its process alone: nothing tells what it does',
    };
  }
}

function signalOf({ status, blockedOn, evidence }: Reading): Omit<Signal, 'from' | 'at' | 'seen'> {
  const kind = blockedOn ?? 'dialog';
  return { status, evidence, ...(status === 'blocked' && { reason: { kind } }) };
}
