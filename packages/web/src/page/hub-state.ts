import {
  type AgentInfo,
  type Approval,
  type BuiltInEvents,
  type Client,
  createClient,
  type ErrorInfo,
  type PaneInfo,
  PolyError,
  type PolyEvent,
} from '@polyphony/protocol';
import { followEvents } from './follow-events.ts';
import { PaneSocket } from './pane-socket.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

/** What the page knows of the hub; a new value whenever something changes. */
export interface Snapshot {
  readonly connection: Connection;
  /** Whether the list has been read at all. */
  readonly known: boolean;
  readonly panes: readonly PaneInfo[];
  readonly approvals: readonly Approval[];
  /** Agents that run in no pane of the hub. */
  readonly adopted: readonly AgentInfo[];
  /** Who looks at it, and whether the hub is theirs; nobody until the hub has said it. */
  readonly you: string | undefined;
  readonly owner: boolean;
  /** The last thing that went wrong, until it is read. */
  readonly trouble: ErrorInfo | undefined;
}

const nouns = [
  'pane',
  'agent',
  'approval',
  'mail',
  'task',
  'contract',
  'project',
  'floor',
  'person',
] as const;
/** What events are about. */
export type Noun = (typeof nouns)[number];
/** Those whose events change the list. */
const listed: ReadonlySet<string> = new Set<Noun>(['pane', 'agent', 'approval']);
const include = nouns.map((noun) => `${noun}:*`).join(',');
const lookEveryMs = 3_000;

/** The hub as the page sees it: the list, the terminals and what waits for the user, kept true across its restarts. */
export class HubState {
  readonly client: Client;
  readonly socket: PaneSocket;
  readonly #listeners = new Set<() => void>();
  readonly #paneListeners = new Set<(paneId: string) => void>();
  readonly #newsListeners = new Set<(noun: Noun | undefined, event?: PolyEvent) => void>();
  readonly #end = new AbortController();
  #snapshot: Snapshot = {
    connection: 'connecting',
    known: false,
    panes: [],
    approvals: [],
    adopted: [],
    you: undefined,
    owner: false,
    trouble: undefined,
  };
  #eventsUp = false;
  #socketUp = false;
  #refreshing = false;
  #stale = false;

  constructor(token: string) {
    this.client = createClient({ token, transport: send });
    this.socket = new PaneSocket({
      client: this.client,
      onState: (open) => {
        this.#socketUp = open;
        this.#setConnection();
      },
      onChange: (paneId) => {
        this.refresh();
        for (const listener of this.#paneListeners) listener(paneId);
      },
      onError: (error) => this.report(error),
    });
    void followEvents({
      token,
      include,
      signal: this.#end.signal,
      onOpen: () => {
        this.#eventsUp = true;
        this.#setConnection();
        this.refresh();
        this.#tell(undefined);
      },
      onEvent: (event) => this.#hear(event),
      onLost: () => {
        this.#eventsUp = false;
        this.#setConnection();
      },
      onRefused: () => {
        this.socket.close();
        this.#set({ connection: 'refused' });
      },
    });
    // The list need not wait for the stream, which reads it once more.
    this.refresh();
    this.#lookNowAndThen();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): Snapshot => this.#snapshot;

  onPaneChange(listener: (paneId: string) => void): () => void {
    this.#paneListeners.add(listener);
    return () => this.#paneListeners.delete(listener);
  }

  /** Listens for events of some nouns, and, without an event, for the hub being back after anything may have happened. */
  onNews(wanted: readonly Noun[], listener: (event?: PolyEvent) => void): () => void {
    const hear = (noun: Noun | undefined, event?: PolyEvent): void => {
      if (noun === undefined || wanted.includes(noun)) listener(event);
    };
    this.#newsListeners.add(hear);
    return () => this.#newsListeners.delete(hear);
  }

  /** Settles when the hub is back. */
  isBack(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.onNews([], () => resolve());
    return promise.finally(stop);
  }

  #tell(noun: Noun | undefined, event?: PolyEvent): void {
    for (const listener of this.#newsListeners) listener(noun, event);
  }

  /** Reads the list anew; many wishes at once become one more reading. */
  refresh(): void {
    this.#stale = true;
    if (!this.#refreshing) void this.#refresh();
  }

  async #refresh(): Promise<void> {
    this.#refreshing = true;
    try {
      while (this.#stale) {
        this.#stale = false;
        const [panes, { approvals }, agents] = await Promise.all([
          this.client.call('pane:list', {}),
          this.#approvals(),
          this.client.call('agent:list', {}),
          this.#askWho(),
        ]);
        const adopted = agents.filter((agent) => agent.adopted);
        const before = this.#snapshot;
        if (
          !before.known ||
          JSON.stringify([panes, approvals, adopted]) !==
            JSON.stringify([before.panes, before.approvals, before.adopted])
        )
          this.#set({ known: true, panes, approvals, adopted });
      }
    } catch {
      // The hub is away: whoever finds it again reads the list anew.
    } finally {
      this.#refreshing = false;
    }
  }

  /** It stays the same as long as the page has its key. */
  async #askWho(): Promise<void> {
    if (this.#snapshot.you !== undefined) return;
    const { you, owner } = await this.client.call('floor:status', {});
    this.#set({ you, owner });
  }

  /** Whoever was invited into the room has nothing to approve. */
  async #approvals(): Promise<{ readonly approvals: readonly Approval[] }> {
    try {
      return await this.client.call('approval:list', {});
    } catch (error) {
      if (error instanceof PolyError && error.code === 'forbidden') return { approvals: [] };
      throw error;
    }
  }

  /** What was removed is known without asking; of everything else the list tells. */
  #hear(told: PolyEvent): void {
    const { event, payload } = told;
    const noun = nouns.find((one) => event.startsWith(`${one}:`));
    this.#tell(noun, told);
    if (!listed.has(noun ?? '')) return;
    if (event !== 'pane:removed') {
      this.refresh();
      return;
    }
    const { paneId } = payload as BuiltInEvents['pane:removed'];
    this.#set({ panes: this.#snapshot.panes.filter(({ id }) => id !== paneId) });
    // A list that was asked for before may still have it.
    if (this.#refreshing) this.#stale = true;
  }

  /** Does something for the user, who is told when it fails; answers whether it was done. */
  async attempt(work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      this.report(undefined);
      return true;
    } catch (error) {
      this.report(
        error instanceof PolyError ? error.info : { code: 'unreachable', message: 'the hub did not answer.' },
      );
      return false;
    }
  }

  report(trouble: ErrorInfo | undefined): void {
    this.#set({ trouble });
  }

  /** No event tells how much a pane prints, or that an agent is gone whose connection ended: asked now and then, while somebody looks. */
  #lookNowAndThen(): void {
    const looking = setInterval(() => {
      if (document.visibilityState !== 'visible' || this.#snapshot.connection !== 'live') return;
      this.refresh();
      this.#tell('agent');
    }, lookEveryMs);
    this.#end.signal.addEventListener('abort', () => clearInterval(looking));
  }

  #setConnection(): void {
    if (this.#snapshot.connection === 'refused') return;
    const isLive = this.#eventsUp && this.#socketUp;
    const { connection, trouble } = this.#snapshot;
    this.#set({
      connection: isLive ? 'live' : connection === 'connecting' ? 'connecting' : 'lost',
      // That the hub is away is no longer true.
      ...(isLive && trouble?.code === 'unreachable' && { trouble: undefined }),
    });
  }

  #set(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const send: Parameters<typeof createClient>[0]['transport'] = async ({ method, path, headers, body }) => {
  const response = await fetch(path, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, body: await response.text() };
};
