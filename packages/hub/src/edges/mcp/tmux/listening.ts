import type * as Tmux from '@polyphony/tmux';
import type {
  ConnectionOptions,
  EventStream,
  OutputTape,
  PaneId,
  PaneRow,
  SessionId,
  TmuxEvent,
  TmuxEventType,
  WatchScope,
} from '@polyphony/tmux';

/** How long what a session prints is kept after somebody last cared. */
const tapeMs = 5 * 60_000;
const mostEvents = 1024;
/** Of how many panes that have gone since it is known where their output is. */
const mostPanes = 200;

export interface Told {
  readonly seq: number;
  readonly event: TmuxEvent;
}

interface Server {
  readonly tmux: typeof Tmux;
  readonly connection: ConnectionOptions;
}

/** What a tmux server says unasked, kept for those who come a little later. */
export class Listening {
  readonly #server: Server;
  readonly #tapes = new Map<SessionId, { readonly tape: Promise<OutputTape>; timer?: NodeJS.Timeout }>();
  readonly #recorded = new Map<PaneId, OutputTape>();
  #ring: Promise<EventRing> | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Records what the session of a pane prints, from now on if it was not recorded yet. */
  async tape({ sessionId, paneId }: PaneRow): Promise<OutputTape> {
    const tape = await this.#tapeOf(sessionId);
    this.#recorded.delete(paneId);
    this.#recorded.set(paneId, tape);
    const [oldest] = this.#recorded.keys();
    if (this.#recorded.size > mostPanes && oldest !== undefined) this.#recorded.delete(oldest);
    return tape;
  }

  /** Where the last words of a pane are that has gone since. */
  recorded(paneId: PaneId): OutputTape | undefined {
    return this.#recorded.get(paneId);
  }

  #tapeOf(sessionId: SessionId): Promise<OutputTape> {
    const known = this.#tapes.get(sessionId) ?? { tape: this.#openTape(sessionId) };
    this.#tapes.set(sessionId, known);
    clearTimeout(known.timer);
    known.timer = setTimeout(() => void this.#closeTape(sessionId), tapeMs).unref();
    return known.tape;
  }

  /** The latest events of the server, collected from the first call on. */
  events(): Promise<EventRing> {
    this.#ring ??= this.#openRing();
    return this.#ring;
  }

  /** Has the ring tell the formats of one session until this is closed: tmux tells a client of its own session only. */
  async watch(session: SessionId, watches: readonly Watch[]): Promise<{ close(): Promise<void> }> {
    const ring = await this.events();
    const { tmux, connection } = this.#server;
    const events = await tmux.Events.open(connection, { session, output: false });
    void ring.follow(events.subscribe({ types: ['subscription-changed'] }));
    try {
      for (const { name, format, scope } of watches) await events.watch(name, format, scope);
      return events;
    } catch (error) {
      await events.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const ring = this.#ring;
    await Promise.all([...this.#tapes.keys()].map((session) => this.#closeTape(session)));
    await ring?.then((open) => open.close()).catch(() => undefined); // One that never opened is closed.
  }

  async #openTape(session: SessionId): Promise<OutputTape> {
    const forget = (): void => {
      clearTimeout(this.#tapes.get(session)?.timer);
      this.#tapes.delete(session);
    };
    try {
      const { tmux, connection } = this.#server;
      const tape = await tmux.OutputTape.open({ connection }, session);
      void tape.ended.then(() => {
        forget();
        setTimeout(() => this.#forgetPanes(tape), tapeMs).unref();
      });
      return tape;
    } catch (error) {
      forget();
      throw error;
    }
  }

  async #closeTape(session: SessionId): Promise<void> {
    const known = this.#tapes.get(session);
    this.#tapes.delete(session);
    clearTimeout(known?.timer);
    const tape = await known?.tape.catch(() => undefined); // One that never opened is closed; whoever asked for it was told.
    this.#forgetPanes(tape);
    await tape?.close();
  }

  #forgetPanes(tape: OutputTape | undefined): void {
    for (const [paneId, own] of this.#recorded) if (own === tape) this.#recorded.delete(paneId);
  }

  async #openRing(): Promise<EventRing> {
    try {
      const { tmux, connection } = this.#server;
      const events = await tmux.Events.open(connection, { output: false });
      return new EventRing(events, () => {
        this.#ring = undefined;
      });
    } catch (error) {
      this.#ring = undefined;
      throw error;
    }
  }
}

/** A format that is told whenever its value changes. */
export interface Watch {
  readonly name: string;
  readonly format: string;
  readonly scope: WatchScope;
}

interface EventConnection {
  subscribe(): EventStream;
  close(): Promise<void>;
}

/** The latest events in their order, each with a number. */
export class EventRing {
  readonly #connection: EventConnection;
  /** Further than any ring before it has come, so that a number of theirs is known to be old. */
  #next: number = Date.now() * 1000;
  #told: Told[] = [];
  #over = false;
  readonly #waiting = new Set<() => void>();

  constructor(connection: EventConnection, onEnd: () => void) {
    this.#connection = connection;
    void this.follow(connection.subscribe()).then(() => {
      this.#over = true;
      this.#wake();
      onEnd();
    });
  }

  /** The number the next event will have. */
  get next(): number {
    return this.#next;
  }

  /** The number of the oldest that is left. */
  get first(): number {
    return this.#told[0]?.seq ?? this.#next;
  }

  since(seq: number): readonly Told[] {
    return this.#told.filter((one) => one.seq >= seq);
  }

  /** Whether the connection was lost, and is not there again. */
  get isLost(): boolean {
    const news = this.#told.findLast(({ event }) => event.type === 'disconnected' || isReconnected(event));
    return news?.event.type === 'disconnected';
  }

  /** Settles when something was told, the ring has ended, or nobody waits. */
  async change(signal: AbortSignal): Promise<void> {
    if (this.#over || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', resolve as () => void, { once: true });
    await promise;
    signal.removeEventListener('abort', resolve as () => void);
    this.#waiting.delete(resolve);
  }

  get over(): boolean {
    return this.#over;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Numbers what comes on a stream as well; settles when that has ended. */
  async follow(stream: EventStream): Promise<void> {
    for await (const event of stream) {
      if (quiet.has(event.type)) continue;
      this.#told.push({ seq: this.#next++, event });
      if (this.#told.length > mostEvents) this.#told.shift();
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

const isReconnected = (event: TmuxEvent): boolean => event.type === 'gap' && event.reason === 'reconnected';

/** Of our own connection, which is nobody's business. */
const quiet: ReadonlySet<TmuxEventType> = new Set(['connected', 'continue', 'pause']);
